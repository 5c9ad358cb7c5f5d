"""Generated data in place of the crystallography case base of Gopal and Ioerger, whose data are not public.

Two cases match when their hidden patterns agree after the best rotation, which is expensive to compute.
The features describe each pattern independently of its rotation, and many of them are misleading.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Bunch

from whynear.utils.checks import Seed, generator, whole

N_POINTS = 64
N_HARMONICS = 10
CASES_PER_SHAPE = 50
VARIATION = 0.25  # of a case around its shape, relative to each harmonic
_BLOCK = 8192  # rows worked on at a time: a few MB


def make_casebase(n_cases: int = 50_000, n_features: int = 76, random_state: Seed = None) -> Bunch:
    r"""Make a case base with cheap, partly misleading features and an expensive true similarity.

    Parameters
    ----------
    n_cases : int, default=50_000
        Number of cases, at least 2; about 50 share each underlying shape.
    n_features : int, default=76
        Number of features, at least 4: about a fifth relevant, a fifth redundant, the rest noise.
    random_state : int, Generator, RandomState or None, default=None
        The same seed gives the same data.

    Returns
    -------
    Bunch
        ``X`` (DataFrame), ``y`` (the shape each case was drawn from), ``feature_names``, ``target_names``,
        ``kind`` ("relevant", "redundant" or "noise" per feature), ``scale`` (the factor each feature was
        multiplied by), ``patterns`` (n x 64, float32, mean 0 and norm 1), and ``similarity(i, others)``:
        the true similarities, in [-1, 1], of case ``i`` to the cases with the indices ``others``.

    Notes
    -----
    A pattern is :math:`p(t) = \sum_k \mathrm{Re}(c_k e^{ikt})` at 64 points around a circle. The
    coefficients vary around those of the shape, then the pattern is rotated at random. The true similarity
    is the best correlation over all rotations,
    :math:`\max_s \sum_t p(t)\,q(t+s) / (\|p\| \|q\|)`, by FFT: O(m 64 log 64) for m cases.

    Relevant features are the amplitudes :math:`|c_k|` and the real and imaginary parts of
    :math:`c_1 c_k \bar c_{k+1}` (no rotation changes them), standardised. Redundant ones mix three relevant
    ones with some noise. Of the noise features about half are pure noise, half a relevant one with strong noise.
    Last, scale: every fourth relevant and redundant feature is multiplied by a factor down to 1e-3, and two thirds
    of the noise by factors from 1e-3 to 1e3, so that plain distances depend mostly on noise.

    References
    ----------
    Gopal, Ioerger: Distance metric learning through optimization of ranking.

    Examples
    --------
    >>> base = make_casebase(500, random_state=0)
    >>> base.X.shape
    (500, 76)
    >>> round(float(base.similarity(3, [3])[0]), 6)
    1.0
    """
    n = whole("n_cases", n_cases, 2)
    d = whole("n_features", n_features, 4)
    rng = generator(random_state)

    shape = rng.permutation(np.arange(n) % max(1, round(n / CASES_PER_SHAPE)))
    coefficients = _coefficients(shape, rng)
    patterns = _patterns(coefficients, rng)
    relevant = _invariants(coefficients)[:, : max(d // 5, 1)]

    # shuffled, so that the kind of a column does not follow from its place
    n_relevant, n_redundant = relevant.shape[1], max(d // 5, 1)
    n_noise = d - n_relevant - n_redundant
    kind = rng.permutation(np.repeat(["relevant", "redundant", "noise"], [n_relevant, n_redundant, n_noise]))
    scale = _scales(kind, rng)
    X = np.empty((n, d))
    X[:, kind == "relevant"] = relevant
    for j in np.flatnonzero(kind != "relevant"):
        X[:, j] = _mixture(relevant, kind[j], rng)
    X *= scale

    names = [f"f{j}" for j in range(d)]
    return Bunch(
        X=pd.DataFrame(X, columns=names, copy=False),
        y=shape.astype(np.int64),
        feature_names=names,
        target_names=[f"shape_{s}" for s in range(int(shape.max()) + 1)],
        kind=kind,
        scale=scale,
        patterns=patterns,
        similarity=RotationSimilarity(patterns),
    )


@dataclass(frozen=True, eq=False)
class RotationSimilarity:
    r"""The best correlation of two patterns over all rotations of one of them.

    Parameters
    ----------
    patterns : ndarray of shape (n, 64)
        One pattern per row, mean 0 and norm 1.
    """

    patterns: NDArray[np.float32]

    def __call__(self, i: int, others: ArrayLike) -> NDArray[np.float64]:
        """Return the similarity of case ``i`` to each of the cases ``others`` (indices), in [-1, 1]."""
        n, length = self.patterns.shape
        i = whole("i", i, 0)
        index = np.asarray(others)
        if index.size == 0:
            index = index.astype(np.int64)
        if index.ndim != 1 or not np.issubdtype(index.dtype, np.integer):
            raise ValueError(
                f"others must be one row of case indices, got shape {index.shape} of {index.dtype} instead."
            )
        if i >= n or (index.size and (index.min() < 0 or index.max() >= n)):
            raise ValueError(f"i and others must be case indices from 0 to {n - 1}, got one outside instead.")
        mine = np.conj(np.fft.rfft(self.patterns[i]))
        best = np.empty(len(index))
        for start in range(0, len(index), _BLOCK):
            rows = slice(start, start + _BLOCK)
            spectrum = np.fft.rfft(self.patterns[index[rows]], axis=1)
            best[rows] = np.fft.irfft(spectrum * mine, n=length, axis=1).max(axis=1)
        return np.clip(best, -1.0, 1.0)


def _coefficients(shape: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.complex64]:
    """Return the complex harmonics c_1..c_K of every case: those of its shape, varied in proportion to their size."""
    n, n_shapes = len(shape), int(shape.max()) + 1
    decay = np.arange(1, N_HARMONICS + 1) ** -0.5
    shapes = decay * _complex_normal((n_shapes, N_HARMONICS), rng)
    varied = shapes[shape] + VARIATION * decay * _complex_normal((n, N_HARMONICS), rng)
    varied /= np.linalg.norm(varied, axis=1, keepdims=True)
    return varied.astype(np.complex64)


def _complex_normal(size: tuple[int, int], rng: np.random.Generator) -> NDArray[np.complex128]:
    return rng.standard_normal(size) + 1j * rng.standard_normal(size)


def _patterns(coefficients: NDArray[np.complex64], rng: np.random.Generator) -> NDArray[np.float32]:
    """Return the patterns, each rotated by a random number of points; mean 0, norm 1."""
    n, k = coefficients.shape
    turn = rng.integers(0, N_POINTS, size=(n,))
    steps = np.exp(2j * np.pi * np.arange(N_POINTS) / N_POINTS).astype(np.complex64)
    patterns = np.empty((n, N_POINTS), dtype=np.float32)
    for start in range(0, n, _BLOCK):
        rows = slice(start, start + _BLOCK)
        spectrum = np.zeros((len(coefficients[rows]), N_POINTS // 2 + 1), dtype=np.complex64)
        rotation = steps[np.outer(turn[rows], np.arange(1, k + 1)) % N_POINTS]
        spectrum[:, 1 : k + 1] = coefficients[rows] * rotation
        block = np.fft.irfft(spectrum, n=N_POINTS, axis=1)
        patterns[rows] = block / np.linalg.norm(block, axis=1, keepdims=True)
    patterns.setflags(write=False)
    return patterns


def _invariants(c: NDArray[np.complex64]) -> NDArray[np.float32]:
    """Return standardised features that no rotation changes: |c_k|, and c_1 c_k conj(c_{k+1}), real and imaginary.

    The most informative come first: amplitudes and triple products alternate, low harmonics before high ones.
    """
    triple = c[:, :1] * c[:, :-1] * np.conj(c[:, 1:])
    columns = []
    for k in range(c.shape[1] - 1):
        columns += [np.abs(c[:, k]), triple[:, k].real, triple[:, k].imag]
    out = np.column_stack(columns)
    out -= out.mean(axis=0)
    spread = out.std(axis=0)
    out /= np.where(spread > 0, spread, 1)
    return out.astype(np.float32)


def _mixture(relevant: NDArray[np.float32], kind: str, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return one redundant or noisy feature of about unit variance."""
    own = rng.standard_normal(len(relevant))
    if kind == "redundant":
        chosen = rng.choice(relevant.shape[1], size=min(3, relevant.shape[1]), replace=False)
        weights = rng.standard_normal(len(chosen))
        return relevant[:, chosen] @ (weights / np.linalg.norm(weights)) + 0.3 * own
    has_signal = rng.integers(2)
    return has_signal * 0.3 * relevant[:, rng.integers(relevant.shape[1])] + own


def _scales(kind: NDArray[np.str_], rng: np.random.Generator) -> NDArray[np.float64]:
    scale = np.ones(len(kind))
    useful = np.flatnonzero(kind != "noise")[::4]
    useless = np.flatnonzero(kind == "noise")
    useless = rng.permutation(useless)[: -(-2 * len(useless) // 3)]
    scale[useful] = 10.0 ** rng.permutation(np.linspace(-3, 0, len(useful), endpoint=False))
    scale[useless] = 10.0 ** np.linspace(3, -3, len(useless))
    return scale
