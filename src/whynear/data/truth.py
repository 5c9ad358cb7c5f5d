"""Small tables of many kinds, for which it is known which columns the class needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import Bunch

from whynear.data.generators import make_relevance, make_xor
from whynear.utils.arrays import Array
from whynear.utils.checks import Seed, choice, generator

Columns = dict[str, Array]
Labels = NDArray[np.int64]


def make_truth(kind: str, random_state: Seed = None) -> Bunch:
    r"""Make a table of one of the kinds in `truth_kinds`, with the truth about each column.

    Parameters
    ----------
    kind : str
        One of `truth_kinds`, such as "linear 200" or "ring".
    random_state : int, Generator, RandomState or None, default=None
        The same seed gives the same data.

    Returns
    -------
    Bunch
        ``X`` (DataFrame), ``y`` (0 or 1), ``feature_names``, ``target_names``, and the truth: ``strength`` per
        feature, ``groups`` (names of features that can replace each other one for one) and ``hidden`` (the
        coordinates that the class depends on).

    Notes
    -----
    Without a "strong" feature, the best possible accuracy is lower by at least one percentage point. A "weak" feature
    depends on the class, but without it the best possible accuracy is lower by less than that. An "irrelevant" feature
    is independent of the class, also given all other features.

    The class is 1 where a score exceeds its median, unless stated otherwise. A block has the columns
    :math:`\sqrt{\rho}\, z + \sqrt{1 - \rho}\, \varepsilon` around a hidden coordinate z. There are 200 rows unless
    the name of the kind has another number.

    - relevance linear, relevance xor, relevance many, xor: see `make_relevance` and `make_xor`.
    - linear: the score is the sum of two columns and the coordinate of a block of three (:math:`\rho = 0.9`). Two
      columns and a block of three are irrelevant. Heavy tails: all coordinates follow a t-distribution with two
      degrees of freedom. Flipped labels: a fifth of the labels, at random, is exchanged.
    - wide: the same with five columns, two blocks of five, fifteen irrelevant columns and two irrelevant blocks of ten.
    - blocks: the same with two columns, two blocks of four, three irrelevant columns and an irrelevant block of six,
      for different :math:`\rho`.
    - proxy: the score is the sum of the first columns of two blocks of four, for different :math:`\rho`.
    - sums: columns a, b, c, and a + b with a small error. The score is a + 2 b + 1.5 c.
    - ring: the score is :math:`x_0^2 + x_1^2`.
    - interaction: the class is 1 where :math:`x_0` and :math:`x_1` have the same sign.
    - class covariance: the correlation of :math:`x_0` and :math:`x_1` is 0.9 in one class and -0.9 in the other.
    - sick: the score is weight / height\ :sup:`2`; the age is irrelevant.
    - null, null wide: linear and wide with permuted labels, so that all columns are irrelevant.

    Examples
    --------
    >>> data = make_truth("sick", random_state=0)
    >>> dict(zip(data.feature_names, data.strength.tolist()))
    {'weight': 'strong', 'height': 'strong', 'age': 'irrelevant'}
    """
    chosen = KINDS[choice("kind", kind, KINDS)]
    return chosen.make(chosen.n_samples, generator(random_state))


def truth_kinds() -> tuple[str, ...]:
    """Return the kinds of tables that `make_truth` makes.

    Returns
    -------
    tuple of str
        Their names.

    Examples
    --------
    >>> len(truth_kinds()), truth_kinds()[-3:]
    (26, ('sick', 'null', 'null wide'))
    """
    return tuple(KINDS)


class Kind(NamedTuple):
    """How a table is made from its number of rows and a generator, and its usual number of rows."""

    make: Callable[[int, np.random.Generator], Bunch]
    n_samples: int = 200


def _linear(
    n: int,
    rng: np.random.Generator,
    *,
    lone: int = 2,
    blocks: int = 1,
    size: int = 3,
    noise: int = 2,
    noise_blocks: int = 1,
    noise_size: int = 3,
    rho: float = 0.9,
    heavy_tails: bool = False,
    flipped: float = 0.0,
) -> Bunch:
    def draw(count: int) -> Array:
        return rng.standard_t(2, (n, count)) if heavy_tails else rng.standard_normal((n, count))

    hidden = draw(lone + blocks)
    y = _upper_half(hidden.sum(axis=1))
    y = np.where(rng.random(n) < flipped, 1 - y, y)
    weak = _blocks("block", hidden[:, lone:], size, rho, rng)
    useless = _blocks("noise_block", draw(noise_blocks), noise_size, rho, rng)
    return _bunch(
        strong=_named("lone", hidden[:, :lone]),
        weak=_joined(weak),
        irrelevant=_named("noise", draw(noise)) | _joined(useless),
        y=y,
        hidden=hidden,
        groups=[list(block) for block in weak],
    )


def _proxy(n: int, rng: np.random.Generator, *, rho: float) -> Bunch:
    columns = _joined(_blocks("block", rng.standard_normal((n, 2)), 4, rho, rng))
    strong = {name: columns.pop(name) for name in ("block_0_0", "block_1_0")}
    hidden = np.column_stack(list(strong.values()))
    noise = _named("noise", rng.standard_normal((n, 3)))
    return _bunch(strong, columns, noise, _upper_half(hidden.sum(axis=1)), hidden)


def _sums(n: int, rng: np.random.Generator) -> Bunch:
    hidden = rng.standard_normal((n, 3))
    a, b, c = hidden.T
    weak = {"a": a, "b": b, "a + b": a + b + 0.03 * rng.standard_normal(n)}
    noise = _named("noise", rng.standard_normal((n, 4)))
    return _bunch({"c": c}, weak, noise, _upper_half(a + 2 * b + 1.5 * c), hidden)


def _of_two(n: int, rng: np.random.Generator, *, classes: Callable[[Array], Labels]) -> Bunch:
    hidden = rng.standard_normal((n, 2))
    return _pair(hidden, classes(hidden), rng)


def _class_covariance(n: int, rng: np.random.Generator) -> Bunch:
    y = rng.permutation(np.arange(n) % 2)
    first, second = rng.standard_normal((2, n))
    correlated = np.where(y == 1, 0.9, -0.9) * first + np.sqrt(1 - 0.9**2) * second
    return _pair(np.column_stack([first, correlated]), y, rng)


def _pair(hidden: Array, y: Labels, rng: np.random.Generator) -> Bunch:
    """Two strong columns and eight irrelevant ones."""
    noise = _named("noise", rng.standard_normal((len(y), 8)))
    return _bunch(_named("x", hidden), {}, noise, y, hidden)


def _sick(n: int, rng: np.random.Generator) -> Bunch:
    weight, height = rng.normal(75, 15, n), rng.normal(1.7, 0.1, n)
    return _bunch(
        strong={"weight": weight, "height": height},
        weak={},
        irrelevant={"age": rng.uniform(20, 80, n)},
        y=_upper_half(weight / height**2),
        hidden=np.column_stack([weight, height]),
        target_names=("healthy", "sick"),
    )


def _null(n: int, rng: np.random.Generator, **settings: Any) -> Bunch:
    data = _linear(n, rng, **settings)
    return _bunch({}, {}, dict(data.X.items()), rng.permutation(data.y), np.empty((n, 0)))


def _upper_half(score: Array) -> Labels:
    return (score > np.median(score)).astype(np.int64)


def _named(name: str, columns: Array) -> Columns:
    return {f"{name}_{i}": column for i, column in enumerate(columns.T)}


def _blocks(name: str, hidden: Array, size: int, rho: float, rng: np.random.Generator) -> list[Columns]:
    """Noisy copies of each hidden coordinate, any two of which have the correlation rho if its variance is 1."""
    errors = rng.standard_normal((*hidden.shape, size))
    members = np.sqrt(rho) * hidden[:, :, None] + np.sqrt(1 - rho) * errors
    return [_named(f"{name}_{b}", members[:, b]) for b in range(hidden.shape[1])]


def _joined(blocks: Sequence[Columns]) -> Columns:
    return {name: column for block in blocks for name, column in block.items()}


def _bunch(
    strong: Columns,
    weak: Columns,
    irrelevant: Columns,
    y: Labels,
    hidden: Array,
    groups: Sequence[list[str]] = (),
    target_names: Sequence[str] = ("low", "high"),
) -> Bunch:
    X = pd.DataFrame(strong | weak | irrelevant)
    return Bunch(
        X=X,
        y=y,
        feature_names=list(X),
        target_names=list(target_names),
        strength=np.repeat(["strong", "weak", "irrelevant"], [len(strong), len(weak), len(irrelevant)]),
        groups=list(groups),
        hidden=hidden,
    )


_wide = partial(_linear, lone=5, blocks=2, size=5, noise=15, noise_blocks=2, noise_size=10)
_many_blocks = partial(_linear, lone=2, blocks=2, size=4, noise=3, noise_blocks=1, noise_size=6)
_null_wide = partial(_null, **_wide.keywords)

KINDS: Mapping[str, Kind] = {
    "relevance linear": Kind(lambda n, rng: make_relevance(n, random_state=rng)),
    "relevance xor": Kind(lambda n, rng: make_relevance(n, target="xor", random_state=rng)),
    "relevance many": Kind(lambda n, rng: make_relevance(n, 3, 2, n_irrelevant=20, random_state=rng)),
    "xor": Kind(lambda n, rng: make_xor(n, random_state=rng)),
    "linear 50": Kind(_linear, 50),
    "linear 200": Kind(_linear),
    "linear 1000": Kind(_linear, 1000),
    "linear heavy tails": Kind(partial(_linear, heavy_tails=True)),
    "linear flipped labels": Kind(partial(_linear, flipped=0.2)),
    "wide 50": Kind(_wide, 50),
    "wide 200": Kind(_wide),
    "wide 1000": Kind(_wide, 1000),
    "wide heavy tails": Kind(partial(_wide, heavy_tails=True)),
    "wide flipped labels": Kind(partial(_wide, flipped=0.2)),
    "blocks 0.5": Kind(partial(_many_blocks, rho=0.5)),
    "blocks 0.9": Kind(partial(_many_blocks, rho=0.9)),
    "blocks 0.99": Kind(partial(_many_blocks, rho=0.99)),
    "proxy 0.5": Kind(partial(_proxy, rho=0.5)),
    "proxy 0.9": Kind(partial(_proxy, rho=0.9)),
    "sums": Kind(_sums),
    "ring": Kind(partial(_of_two, classes=lambda hidden: _upper_half((hidden**2).sum(axis=1)))),
    "interaction": Kind(partial(_of_two, classes=lambda hidden: (hidden.prod(axis=1) > 0).astype(np.int64))),
    "class covariance": Kind(_class_covariance),
    "sick": Kind(_sick),
    "null": Kind(_null),
    "null wide": Kind(_null_wide),
}
