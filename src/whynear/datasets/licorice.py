"""The licorice data of Goepfert, Wersing and Hammer, for which one metric for all cases is not enough."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import Bunch

from whynear.utils.checks import Seed, generator, whole

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

    first, second = _across(AXES)
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


def _across(axes: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return two unit vectors orthogonal to each axis and to each other."""
    least = np.eye(3)[np.abs(axes).argmin(axis=1)]
    first = np.cross(axes, least)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return first, np.cross(axes, first)
