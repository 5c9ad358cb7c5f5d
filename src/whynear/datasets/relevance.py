"""Data with a chosen number of strong, weak and irrelevant features."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import Bunch

from whynear.datasets.xor import SPREAD
from whynear.utils.checks import Seed, choice, generator, number, whole

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

    hidden, y = _linear(n, h, rng) if target == "linear" else _parity(n, h, rng)
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


def _linear(n: int, h: int, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    hidden = rng.standard_normal((n, h))
    y = np.zeros(n, dtype=np.int64)
    y[np.argsort(hidden.sum(axis=1), kind="stable")[n // 2 :]] = 1
    return hidden, y


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
