"""Laws that hold for every kind of metric value."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.helpers.strategies import cases, global_metrics, metrics
from whynear import DiagonalMetric, LinearMetric, LocalMetric, MinkowskiMetric
from whynear.testing import check_metric


@given(metrics())
def test_every_value_obeys_the_laws(metric):
    check_metric(metric)


@given(global_metrics(st.just(3)), cases(3))
def test_the_laws_hold_on_awkward_cases(metric, X):
    check_metric(metric, X)


@pytest.mark.parametrize("metric", [LinearMetric(np.eye(2)), DiagonalMetric([1, 2]), LocalMetric([[0, 0]], [[1, 1]])])
def test_a_value_owns_its_arrays_and_cannot_change(metric):
    with pytest.raises(AttributeError, match="frozen"):
        metric.feature_names = ("a", "b")
    with pytest.raises(AttributeError, match="frozen"):
        del metric.scale
    for array in metric.arrays().values():
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_a_learner_may_go_on_training_without_changing_the_value():
    omega = np.eye(2)
    metric = LinearMetric(omega)
    omega[0, 0] = 7
    assert metric.relevances().tolist() == [1, 1]


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        (LinearMetric(np.ones((2, 5))), "LinearMetric(2 x 5 features: x0, x1, x2, ...)"),
        (DiagonalMetric([1, 2], ["a", "b"]), "DiagonalMetric(2 features: a, b)"),
        (LocalMetric(np.ones((4, 1)), np.ones((4, 1))), "LocalMetric(4 anchors, 1 feature: x0)"),
        (LocalMetric(np.ones((4, 3)), omegas=np.ones((4, 2, 3))), "LocalMetric(4 anchors, 2 x 3 features: x0, x1, x2)"),
    ],
)
def test_repr_is_short_and_states_the_size(metric, text):
    assert repr(metric) == text


def test_metrics_of_different_kinds_or_content_differ():
    values = [
        LinearMetric([[1.0, 0.0], [0.0, 1.0]]),
        LinearMetric([[1.0, 0.0]]),
        LinearMetric([[1.0, 0.0]], scale=[1, 2]),
        DiagonalMetric([1.0, 1.0]),
        LocalMetric([[0, 0]], [[1, 1]]),
    ]
    assert len(set(values)) == len(values)
    assert DiagonalMetric([1.0, 1.0]) != "DiagonalMetric"
    assert LinearMetric([[-0.0, 1.0]]) == LinearMetric([[0.0, 1.0]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LinearMetric([1.0, 2.0]), "omega must have 2 dimensions, got 1"),
        (lambda: LinearMetric([[np.nan, 2.0]]), "omega must be finite, got 1 NaN"),
        (lambda: DiagonalMetric([1.0, -2.0]), "weights must be non-negative .* got -2"),
        (lambda: LinearMetric([[1, 2]], ["a"]), "one name for each of the 2 features, got 1"),
        (lambda: LinearMetric([[1, 2]], ["a", "a"]), "unique, got 'a' more than once"),
        (lambda: LinearMetric([[1, 2]], scale=[1, 0]), "scale must hold 2 positive numbers"),
        (lambda: LinearMetric([[1, 2]], scale=[1, np.inf]), "never saw, where the map is not zero"),
        (lambda: LocalMetric([[1, 2]]), "exactly one"),
        (lambda: LocalMetric([[1, 2]], weights=[[1, 2], [3, 4]]), "1 anchors with 2 features, got 2 maps"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_named_tables_are_matched_by_name():
    metric = DiagonalMetric([1, 2, 3], ["a", "b", "c"])
    X = pd.DataFrame([[0.0, 0, 0], [1, 1, 1]], columns=["a", "b", "c"], index=["p", "q"])
    assert metric.sq_distances(X)[0, 1] == 6
    with pytest.raises(ValueError, match="another order"):
        metric.sq_distances(X[["c", "b", "a"]])
    with pytest.raises(ValueError, match="lacks 'c' and has unknown 'd'"):
        metric.sq_distances(X.rename(columns={"c": "d"}))
    assert DiagonalMetric([1, 2, 3]).sq_distances(X)[0, 1] == 6


def test_features_without_names_refuse_only_their_own_names_shuffled():
    frame = pd.DataFrame({"x1": [1.0], "x0": [2.0]})
    with pytest.raises(ValueError, match="another order"):
        DiagonalMetric([1, 2]).sq_distances(frame)


def test_a_row_of_a_table_is_matched_by_name():
    metric = DiagonalMetric([1, 100], ["a", "b"])
    frame = pd.DataFrame({"a": [0.0, 1.0], "b": [0.0, 1.0]})
    assert metric.contributions(frame.iloc[1], frame.iloc[0]).tolist() == [1, 100]
    with pytest.raises(ValueError, match="another order"):
        metric.contributions(frame[["b", "a"]].iloc[1], frame.iloc[0])


def test_nothing_can_be_set_or_made_writable_again():
    metric = DiagonalMetric([1.0, 2.0], scale=[1.0, 2.0])
    with pytest.raises(AttributeError, match="frozen"):
        metric.note = "mine"
    for array in metric.arrays().values():
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)


@pytest.mark.parametrize("value", [1e300, -1e200])
def test_values_whose_squares_overflow_are_refused_by_column(value):
    with pytest.raises(ValueError, match="in column 'b': its square overflows"):
        DiagonalMetric([1, 1], ["a", "b"]).sq_distances([[0, value]])


def test_values_whose_squares_vanish_are_refused():
    with pytest.raises(ValueError, match="its square vanishes"):
        LinearMetric(np.eye(2)).sq_distances([[1e-200, 0], [0, 1e-300]])
    with pytest.raises(ValueError, match="Squared distances vanish"):
        DiagonalMetric([1e-200, 1e-200]).sq_distances([[1e-100, 0], [0, 1e-100]])
    with pytest.raises(ValueError, match="overflow"):
        LinearMetric(1e100 * np.eye(2)).sq_distances([[1e100, 0], [0, 1e100]])


@pytest.mark.parametrize(
    "metric",
    [
        LinearMetric(1e200 * np.eye(2)),
        DiagonalMetric([1e300, 1e300]),
        LocalMetric(np.zeros((2, 2)), weights=np.full((2, 2), 1e300)),
        MinkowskiMetric([1e300, 1e300], 3),
    ],
    ids=lambda metric: type(metric).__name__,
)
def test_listed_distances_that_overflow_are_refused_as_all_others(metric):
    far = np.full((1, 2), 1e10)
    with pytest.raises(ValueError, match="overflow"):
        metric.sq_distances_at(far, np.zeros((2, 2)), np.array([[0, 1]]))


@pytest.mark.parametrize("layout", ["fortran", "strided", "readonly", "float32", "integers", "memmap"])
def test_any_layout_of_the_table_gives_the_same_distances(layout, tmp_path):
    X = np.random.default_rng(0).integers(-9, 9, (7, 4)).astype(float)
    if layout == "memmap":
        same = np.memmap(tmp_path / "X", dtype=float, mode="w+", shape=X.shape)
        same[:] = X
    else:
        readonly = X.copy()
        readonly.setflags(write=False)
        same = {
            "fortran": np.asfortranarray(X),
            "strided": np.repeat(X, 2, axis=1)[:, ::2],
            "readonly": readonly,
            "float32": X.astype(np.float32),
            "integers": X.astype(int),
        }[layout]
    for metric in (LinearMetric(np.ones((2, 4))), DiagonalMetric([1, 2, 3, 4]), LocalMetric(X[:3], np.ones((3, 4)))):
        np.testing.assert_allclose(metric.sq_distances(same), metric.sq_distances(X), rtol=1e-12)


def test_mean_shares_are_those_of_a_slow_loop():
    rng = np.random.default_rng(0)
    weights = rng.random((5, 3)) * np.logspace(-3, 3, 5)[:, None]
    local = LocalMetric(rng.standard_normal((5, 3)), weights)
    slow = np.array([row / row.sum() for row in weights])
    assert_allclose(local.mean_shares(), slow.mean(axis=0))
    votes = rng.random((2, 5))
    expected = [np.average(slow, axis=0, weights=one) for one in votes]
    assert_allclose(local.mean_shares(votes), expected)
    assert_allclose(local.mean_shares(votes[0]), expected[0])
    assert_allclose(DiagonalMetric([1.0, 3.0]).mean_shares(), [0.25, 0.75])
    assert LinearMetric([[0.0, 0.0]]).mean_shares().tolist() == [0, 0]


def test_tables_and_rows_are_checked_numbers():
    metric = DiagonalMetric([1.0, 1.0], ["a", "b"])
    assert metric.table(pd.DataFrame({"a": [1], "b": [2]})).tolist() == [[1.0, 2.0]]
    assert metric.rows([1, 2], "x").tolist() == [[1.0, 2.0]]
    with pytest.raises(ValueError, match="cases contains NaN: 1 in column 'b'"):
        metric.table([[1.0, np.nan]], "cases")


def test_units_are_kept_and_do_not_make_metrics_differ():
    scaled = LinearMetric([[1.0, 0.0]], scale=[2, 3], units="per standard deviation")
    assert (scaled.units, scaled.as_learned().units) == ("per standard deviation", "per unit")
    assert scaled == LinearMetric([[1.0, 0.0]], scale=[2, 3])
    assert LinearMetric([[1.0, 0.0]], scale=[2, 3]).units == "per scaled unit"
    assert LinearMetric([[1.0, 0.0]], scale=[1, np.inf]).units == "per unit"
    assert LinearMetric([[1.0, 0.0]], units="per standard deviation").units == "per unit"
    with pytest.raises(ValueError, match="units must be one of"):
        LinearMetric([[1.0]], units="per mile")
