"""Checks that every metric must pass."""

import copy
import pickle
import traceback
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import ArrayLike

from whynear.metric import LocalMetric, Metric, MonotoneMetric
from whynear.metric.base import rebuild
from whynear.model.files import load, save
from whynear.utils.arrays import Array

Check = tuple[str, Callable[[], None]]


def run_checks(subject: str, checks: Iterable[Check]) -> None:
    """Run all checks and raise one AssertionError that lists the failures with their reasons."""
    failures, count = [], 0
    for name, check in checks:
        count += 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # such as non-convergence on a few rows
                check()
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            failures.append(f"- {name}: {_reason(error)} ({place.name}, line {place.lineno})")
    if failures:
        listed = "\n".join(failures)
        raise AssertionError(f"{subject} failed {len(failures)} of {count} checks:\n{listed}")


def refused(what: str, fact: str, call: Callable[..., Any], *args: Any) -> None:
    """Check that a call on bad input raises ValueError or TypeError with a message that names the fact."""
    try:
        call(*args)
    except (ValueError, TypeError) as error:
        if fact.lower() not in str(error).lower():
            raise AssertionError(f"the error for {what} does not name {fact!r}: {error}") from error
        return
    raise AssertionError(f"{what} was accepted")


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines() or ["no message"]
    kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
    return kind + " ".join(line.strip() for line in lines[:6])


def check_metric(metric: Metric, X: ArrayLike | None = None, random_state: int = 0) -> None:
    """Check that a metric value fulfils the laws of this library.

    Parameters
    ----------
    metric : Metric
        The value to check.
    X : array-like of shape (n_samples, n_features), optional
        Cases to check it on; without it they are drawn around the anchors or around zero.
    random_state : int
        Seed of the cases drawn and of the pairs compared.

    Raises
    ------
    AssertionError
        Lists every law that does not hold, and why.

    Examples
    --------
    >>> from whynear import LinearMetric
    >>> check_metric(LinearMetric([[1.0, 2.0]]))
    """
    if not isinstance(metric, Metric):
        raise AssertionError(f"check_metric takes a metric value, got {type(metric).__name__}; see whynear.as_metric.")
    rng = np.random.default_rng(random_state)
    cases = rng.standard_normal((12, metric.n_features)) if X is None else np.array(X, dtype=np.float64)[:50]
    if X is None and isinstance(metric, LocalMetric):
        cases = cases + metric.anchors[rng.integers(len(metric), size=len(cases))]
    run_checks(repr(metric), [(name, partial(law, metric, cases)) for name, law in LAWS.items()])


def _frozen(metric: Metric, _cases: Array) -> None:
    for name, array in metric.arrays().items():
        assert not array.flags.writeable, f"{name} can be written to"
    try:
        metric.feature_names = ()
    except AttributeError:
        return
    raise AssertionError("feature_names can be set")


def _named(metric: Metric, _cases: Array) -> None:
    names = metric.feature_names
    assert isinstance(names, tuple), f"feature_names must be a tuple, got {type(names).__name__}"
    assert all(isinstance(name, str) for name in names), "feature_names must be strings"
    assert len(set(names)) == len(names) == metric.n_features, "feature_names must be unique, one per feature"


def _non_negative(metric: Metric, cases: Array) -> None:
    sq = metric.sq_distances(cases)
    expected = (len(cases), len(metric) if isinstance(metric, LocalMetric) else len(cases))
    assert sq.shape == expected, f"sq_distances has the shape {sq.shape}, not {expected}"
    assert np.isfinite(sq).all(), "a distance is not finite"
    assert (sq >= 0).all(), f"a squared distance is negative: {sq.min()}"


def _zero_to_itself(metric: Metric, cases: Array) -> None:
    sq = metric.sq_distances(metric.anchors[:50] if isinstance(metric, LocalMetric) else cases)
    assert_array_equal(np.diagonal(sq), 0.0)


def _symmetric(metric: Metric, cases: Array) -> None:
    if not isinstance(metric, LocalMetric):
        sq = metric.sq_distances(cases)
        assert_allclose(sq, sq.T, rtol=1e-9, atol=_tiny(sq))


def _contributions_sum(metric: Metric, cases: Array) -> None:
    targets = _addressable_anchors(metric)[:50] if isinstance(metric, LocalMetric) else cases
    sq = metric.sq_distances(cases, targets)
    for target, column in zip(targets, sq.T, strict=True):
        parts = metric.contributions(cases, target)
        assert parts.shape == cases.shape, f"contributions have the shape {parts.shape}, not {cases.shape}"
        assert_allclose(parts.sum(axis=1), column, rtol=1e-7, atol=_tiny(sq, 1e-9))
        assert_allclose(metric.contributions(cases[0], target), parts[0], rtol=1e-7, atol=_tiny(sq, 1e-9))


def _independent_of_blocks(metric: Metric, cases: Array) -> None:
    targets = None if isinstance(metric, LocalMetric) else cases
    whole = metric.sq_distances(cases, targets)
    rows = [metric.sq_distances(case[None, :], targets) for case in cases]
    assert_allclose(np.vstack(rows), whole, rtol=1e-7, atol=_tiny(whole))


def _independent_of_feature_order(metric: Metric, cases: Array) -> None:
    order = np.random.default_rng(len(cases)).permutation(metric.n_features)
    arrays = {name: array[..., order] for name, array in metric.arrays().items()}
    permuted = rebuild(type(metric), [metric.feature_names[i] for i in order], arrays)
    sq = metric.sq_distances(cases)
    assert_allclose(permuted.sq_distances(cases[:, order]), sq, rtol=1e-7, atol=_tiny(sq))
    assert_allclose(permuted.relevances(), metric.relevances()[..., order], rtol=1e-7)


def _relevance_is_a_unit_step(metric: Metric, _cases: Array) -> None:
    metric = metric.behind if isinstance(metric, MonotoneMetric) else metric  # a step of a mapped column
    zero, steps = np.zeros((1, metric.n_features)), np.eye(min(50, metric.n_features), metric.n_features)
    relevances = np.atleast_2d(metric.relevances())
    assert relevances.shape == (len(metric), metric.n_features), f"relevances have the shape {relevances.shape}"
    for one, relevance in islice(zip(metric, relevances, strict=True), 20):
        assert_allclose(one.sq_distances(steps, zero)[:, 0], relevance[:50], rtol=1e-7, atol=_tiny(relevance))


def _maps_one_by_one(metric: Metric, cases: Array) -> None:
    assert sum(1 for _ in metric) == len(metric), "iteration does not give len(metric) maps"
    one, sq = next(iter(metric)), metric.sq_distances(cases)
    target = metric.anchors[:1] if isinstance(metric, LocalMetric) else cases[:1]
    assert_allclose(one.sq_distances(cases, target)[:, 0], sq[:, 0], rtol=1e-7, atol=_tiny(sq))


def _equal_by_content(metric: Metric, _cases: Array) -> None:
    twins = [
        rebuild(type(metric), metric.feature_names, metric.arrays()),
        pickle.loads(pickle.dumps(metric)),
        copy.deepcopy(metric),
    ]
    for twin in twins:
        assert twin == metric, "a copy is not equal"
        assert hash(twin) == hash(metric), "a copy has another hash"
        assert not any(array.flags.writeable for array in twin.arrays().values()), "a copy can be written to"
    renamed = rebuild(type(metric), [f"{name}'" for name in metric.feature_names], metric.arrays())
    assert renamed != metric, "a metric with other names is equal"


def _survives_a_file(metric: Metric, _cases: Array) -> None:
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a local metric contains its anchors
        save(metric, f"{folder}/metric")
        again = load(f"{folder}/metric")
    assert again == metric, "a saved and loaded metric is not equal"


def _same_in_learned_coordinates(metric: Metric, cases: Array) -> None:
    learned = metric.as_learned()
    assert learned.scale is None, "as_learned() keeps a scale"
    sq = metric.sq_distances(cases)
    assert_allclose(learned.sq_distances(metric.learned_coordinates(cases)), sq, rtol=1e-6, atol=_tiny(sq, 1e-9))


def _input_untouched(metric: Metric, cases: Array) -> None:
    given = cases.copy()
    given.setflags(write=False)
    metric.sq_distances(given)
    metric.learned_coordinates(given)
    writable = cases.copy()
    metric.sq_distances(writable)
    assert_array_equal(writable, cases, "X was modified")


def _bad_input_refused(metric: Metric, cases: Array) -> None:
    broken = cases.copy()
    broken[0, 0] = np.nan
    refused("a NaN", metric.feature_names[0], metric.sq_distances, broken)
    refused("too many features", str(metric.n_features), metric.sq_distances, np.hstack([cases, cases]))


LAWS: dict[str, Callable[[Metric, Array], None]] = {
    "arrays and attributes are frozen": _frozen,
    "features have unique names": _named,
    "squared distances are finite and non-negative": _non_negative,
    "an anchor or case is at distance zero to itself": _zero_to_itself,
    "a global metric is symmetric": _symmetric,
    "contributions sum to the squared distance": _contributions_sum,
    "distances do not depend on row blocks": _independent_of_blocks,
    "distances do not depend on the order of features": _independent_of_feature_order,
    "a relevance is the squared distance of a unit step": _relevance_is_a_unit_step,
    "iteration gives the linear maps": _maps_one_by_one,
    "equality is by content, through copies and pickle": _equal_by_content,
    "saving and loading gives an equal metric": _survives_a_file,
    "learned coordinates keep the distances": _same_in_learned_coordinates,
    "input arrays are not modified": _input_untouched,
    "bad input is refused by name": _bad_input_refused,
}


def _addressable_anchors(metric: LocalMetric) -> Array:
    """Return the anchors without equal ones, which can only be chosen by number."""
    anchors, counts = np.unique(metric.anchors, axis=0, return_counts=True)
    return anchors[counts == 1]


def _tiny(values: Array, relative: float = 1e-12) -> float:
    return relative * max(values.max(initial=0.0), 1e-300)
