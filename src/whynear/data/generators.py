"""Made-up tables in which it is known what decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Bunch

from whynear.utils.checks import Seed, choice, generator, number, whole

SPREAD = 0.2  # standard deviation of a cluster; corners are 2 apart, so the classes do not touch


def make_xor(n_samples: int = 200, noise: float = 0.1, random_state: Seed = None) -> Bunch:
    r"""Make four clusters in two classes, with copies of one coordinate and two useless features.

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows, at least 4; the four clusters have equal sizes up to one row.
    noise : float, default=0.1
        Standard deviation of the noise by which each of x1, x2, x3 differs from the coordinate they copy.
    random_state : int, Generator, RandomState or None, default=None
        The same seed gives the same data.

    Returns
    -------
    Bunch
        ``X`` (DataFrame x1..x6), ``y`` (0 or 1), ``feature_names``, ``target_names``, and the truth:
        ``strength`` ("weak" for x1..x3, "strong" for x4, "irrelevant" for x5 and x6), ``groups``
        (features that can replace each other) and ``hidden`` (the two coordinates).

    Notes
    -----
    With corners :math:`s, t = \pm 1` and :math:`\varepsilon` standard normal, independent everywhere:
    :math:`a = s + 0.2\varepsilon`, :math:`b = t + 0.2\varepsilon`, :math:`x_{1,2,3} = a + noise\,\varepsilon`,
    :math:`x_4 = b`, :math:`x_5 = x_6 = \varepsilon`; the class is 1 where :math:`s \neq t`.

    References
    ----------
    Schulz, Mokbel, Biehl, Hammer: Inferring feature relevances from metric learning.

    Examples
    --------
    >>> data = make_xor(random_state=0)
    >>> data.X.shape, data.strength.tolist()
    ((200, 6), ['weak', 'weak', 'weak', 'strong', 'irrelevant', 'irrelevant'])
    """
    n = whole("n_samples", n_samples, 4, "one row per cluster")
    noise = number("noise", noise)
    rng = generator(random_state)

    cluster = rng.permutation(np.arange(n) % 4)
    corners = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])[cluster]
    hidden = corners + SPREAD * rng.standard_normal((n, 2))
    copies = hidden[:, :1] + noise * rng.standard_normal((n, 3))
    useless = rng.standard_normal((n, 1))

    names = [f"x{i}" for i in range(1, 7)]
    return Bunch(
        X=pd.DataFrame(np.hstack([copies, hidden[:, 1:], useless, useless]), columns=names),
        y=(corners[:, 0] != corners[:, 1]).astype(np.int64),
        feature_names=names,
        target_names=["same", "different"],
        strength=np.array(["weak", "weak", "weak", "strong", "irrelevant", "irrelevant"]),
        groups=[["x1", "x2", "x3"]],
        hidden=hidden,
    )


LEAST_HIDDEN = {"linear": 1, "xor": 2}  # hidden coordinates needed, by target


def make_relevance(
    n_samples: int = 200,
    n_strong: int = 1,
    n_weak_groups: int = 1,
    group_size: int = 3,
    n_irrelevant: int = 4,
    *,
    target: Literal["linear", "xor"] = "linear",
    noise: float = 0.05,
    random_state: Seed = None,
) -> Bunch:
    r"""Make two classes from hidden coordinates, each in one feature (strong) or in several copies (weak).

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows, at least 4; the classes have equal sizes up to one row.
    n_strong : int, default=1
        Hidden coordinates that appear as a single feature, which no other can replace.
    n_weak_groups : int, default=1
        Hidden coordinates that appear only as ``group_size`` noisy copies, which can replace each other.
    group_size : int, default=3
        Copies in each weak group, at least 2.
    n_irrelevant : int, default=4
        Features of pure noise.
    target : {"linear", "xor"}, default="linear"
        "linear": the sum of all hidden coordinates, split at its median. "xor": the parity of the signs of
        *all* hidden coordinates, so at least two are needed; with two it is the xor problem of `make_xor`.
    noise : float, default=0.05
        Standard deviation of the difference between a copy and its coordinate; 0 makes exact copies.
    random_state : int, Generator, RandomState or None, default=None
        The same seed gives the same data.

    Returns
    -------
    Bunch
        ``X`` (DataFrame with names such as strong_0, weak_0_1, noise_3), ``y``, ``feature_names``,
        ``target_names``, and the truth: ``strength`` per feature, ``groups`` (names of the features that
        copy the same coordinate) and ``hidden`` (n x h; the strong coordinates first).

    Notes
    -----
    Linear: :math:`h \sim N(0, I)` and the class is 1 for the larger half of :math:`\sum_j h_j`. Xor:
    :math:`h_j = s_j + 0.2\varepsilon` at corners :math:`s_j = \pm 1`, and the class is 1 where
    :math:`\prod_j s_j = -1`. A strong feature is :math:`h_j` itself, a copy is
    :math:`h_j + noise\,\varepsilon`.

    Examples
    --------
    >>> data = make_relevance(n_irrelevant=1, random_state=0)
    >>> data.feature_names
    ['strong_0', 'weak_0_0', 'weak_0_1', 'weak_0_2', 'noise_0']
    >>> data.groups
    [['weak_0_0', 'weak_0_1', 'weak_0_2']]
    """
    n = whole("n_samples", n_samples, 4)
    n_strong = whole("n_strong", n_strong, 0)
    n_groups = whole("n_weak_groups", n_weak_groups, 0)
    size = whole("group_size", group_size, 2, "a lone copy could not be replaced")
    n_irrelevant = whole("n_irrelevant", n_irrelevant, 0)
    noise = number("noise", noise)
    h = n_strong + n_groups
    least = LEAST_HIDDEN[choice("target", target, LEAST_HIDDEN)]
    if h < least:
        raise ValueError(
            f"target={target!r} must have at least {least} hidden coordinates, got n_strong={n_strong} plus "
            f"n_weak_groups={n_groups} instead. Raise one of them."
        )
    rng = generator(random_state)

    if target == "xor":
        hidden, y = _parity(n, h, rng)
    else:
        hidden, y = rng.standard_normal((n, h)), np.zeros(n, dtype=np.int64)
        y[np.argsort(hidden.sum(axis=1), kind="stable")[n // 2 :]] = 1
    copied = np.repeat(hidden[:, n_strong:], size, axis=1)
    copies = copied + noise * rng.standard_normal(copied.shape)
    useless = rng.standard_normal((n, n_irrelevant))

    groups = [[f"weak_{g}_{i}" for i in range(size)] for g in range(n_groups)]
    names = [f"strong_{i}" for i in range(n_strong)]
    names += [name for group in groups for name in group]
    names += [f"noise_{i}" for i in range(n_irrelevant)]
    kinds = ["strong"] * n_strong + ["weak"] * (n_groups * size) + ["irrelevant"] * n_irrelevant
    return Bunch(
        X=pd.DataFrame(np.hstack([hidden[:, :n_strong], copies, useless]), columns=names),
        y=y,
        feature_names=names,
        target_names=["low", "high"] if target == "linear" else ["even", "odd"],
        strength=np.array(kinds),
        groups=groups,
        hidden=hidden,
    )


def _parity(n: int, h: int, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return corners with random signs and their classes; the (balanced) class determines the last sign."""
    order = rng.permutation(n)
    odd, rest = order % 2, order // 2
    if 2 ** (h - 1) <= n // 2:
        minus = (rest[:, None] % 2 ** (h - 1)) >> np.arange(h - 1) & 1  # every corner equally often
    else:
        minus = rng.integers(0, 2, size=(n, h - 1))
    last = (odd + minus.sum(axis=1)) % 2
    corners = 1.0 - 2.0 * np.column_stack([minus, last])
    return corners + SPREAD * rng.standard_normal((n, h)), odd.astype(np.int64)


HALF_LENGTH = 3.0
CORE_RADIUS = 0.4
SHELL_RADII = (0.5, 0.8)
_BALL = float(np.hypot(HALF_LENGTH, SHELL_RADII[1]))  # a ball around each centre holds the whole cylinder
_AROUND = 2 * np.pi * np.arange(5) / 5
# neighbours on the pentagon are 2.1 radii apart, so no two cylinders can touch in any direction
CENTERS: NDArray[np.float64] = (
    2.1 * _BALL / (2 * np.sin(np.pi / 5)) * np.column_stack([np.cos(_AROUND), np.sin(_AROUND), 0 * _AROUND])
)
_DIRECTIONS = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [1, -1, 0]], dtype=float)
AXES: NDArray[np.float64] = _DIRECTIONS / np.linalg.norm(_DIRECTIONS, axis=1, keepdims=True)


def make_licorice(n_samples: int = 1000, random_state: Seed = None) -> Bunch:
    r"""Make points inside and around five distinct cylinders of different orientation in space.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows, at least 10. Cylinders, and the classes within each, have equal sizes up to one row.
    random_state : int, Generator, RandomState or None, default=None
        The same seed gives the same data.

    Returns
    -------
    Bunch
        ``X`` (DataFrame x, y, z), ``y`` (0 inside, 1 outside), ``feature_names``, ``target_names``, and the
        truth: ``cylinder`` (index per row), ``axes`` and ``centers`` (5 x 3), ``half_length``,
        ``core_radius``, ``shell_radii``.

    Notes
    -----
    A point of cylinder j is :math:`c_j + t\,u_j + r\,v`, with t uniform on the length, v a uniform unit
    vector orthogonal to the axis :math:`u_j`, and r uniform by area on [0, core] (inside) or on the shell
    (outside). Only the two directions across the axis matter, and they differ from cylinder to cylinder:
    three axes are the coordinate axes (a local diagonal metric can ignore them exactly), two are oblique.

    References
    ----------
    Goepfert, Wersing, Hammer: Interpretable locally adaptive nearest neighbors.

    Examples
    --------
    >>> data = make_licorice(100, random_state=0)
    >>> data.X.shape, data.axes.shape, data.target_names
    ((100, 3), (5, 3), ['inside', 'outside'])
    """
    n = whole("n_samples", n_samples, 10, "one row inside and one outside each of five cylinders")
    rng = generator(random_state)

    order = rng.permutation(n)
    cylinder, y = order % 5, (order // 5) % 2
    low = np.where(y == 1, SHELL_RADII[0], 0.0)
    high = np.where(y == 1, SHELL_RADII[1], CORE_RADIUS)
    radius = np.sqrt(rng.uniform(low**2, high**2))
    angle = rng.uniform(0, 2 * np.pi, n)
    along = rng.uniform(-HALF_LENGTH, HALF_LENGTH, n)

    least = np.eye(3)[np.abs(AXES).argmin(axis=1)]
    first = np.cross(AXES, least)  # of two unit vectors orthogonal to each axis and to each other
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    second = np.cross(AXES, first)
    across = np.cos(angle)[:, None] * first[cylinder] + np.sin(angle)[:, None] * second[cylinder]
    points = CENTERS[cylinder] + along[:, None] * AXES[cylinder] + radius[:, None] * across
    return Bunch(
        X=pd.DataFrame(points, columns=["x", "y", "z"]),
        y=y.astype(np.int64),
        feature_names=["x", "y", "z"],
        target_names=["inside", "outside"],
        cylinder=cylinder.astype(np.int64),
        axes=AXES.copy(),
        centers=CENTERS.copy(),
        half_length=HALF_LENGTH,
        core_radius=CORE_RADIUS,
        shell_radii=SHELL_RADII,
    )


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
    """The best correlation of two patterns over all rotations of one of them."""

    patterns: NDArray[np.float32]  # of shape (n, 64): one per row, mean 0 and norm 1

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
