"""The xor data of Schulz, Mokbel, Biehl and Hammer: strong, weak and irrelevant features by construction."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

from whynear.utils.checks import Seed, generator, number, whole

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
