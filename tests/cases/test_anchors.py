import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from whynear import LANN, DiagonalMetric, LocalMetric, as_metric
from whynear.cases.case_base import CaseBase
from whynear.cases.index import Anchors


def test_the_training_cases_of_lann_are_found_by_their_own_maps(tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), LANN(random_state=0)).fit(X, y)
    metric = as_metric(model)
    with CaseBase(tmp_path / "base", model) as base:
        base.add(X)
        found = base.retrieve(X.iloc[60], k=8, explain=True)
        sq = np.sort(metric.sq_distances(X.iloc[[60]])[0])[:8]
        assert_allclose(found.sq_distances, sq, rtol=1e-12, atol=1e-12)
        assert_allclose(found.contributions.sum(axis=1), found.sq_distances)
        with pytest.raises(ValueError, match=r"150 anchors only, and 1 of 2 cases are no anchors, first row 1 of X"):
            base.add(X.iloc[:2] + np.array([[0.0], [0.5]]))
        assert len(base) == 150


def test_equal_anchors_with_different_maps_serve_equal_cases_in_turn(tmp_path):
    metric = LocalMetric([[0, 0], [1, 1], [0, 0]], weights=[[1, 0], [1, 1], [0, 1]])
    with CaseBase(tmp_path / "base", metric) as base:
        base.add([[0, 0], [0, 0], [1, 1]])
        found = base.retrieve([2, 3], k=3, explain=True)
        assert_array_equal(found.ids, [1, 3, 2])
        assert_array_equal(found.sq_distances, [4, 5, 9])
        assert_array_equal(found.contributions, [[4, 0], [1, 4], [0, 9]])


def test_a_local_metric_is_refused_for_cases_it_does_not_know(tmp_path):
    with CaseBase(tmp_path / "base", DiagonalMetric(np.ones(2))) as base:
        base.add([[0, 0], [5, 5]])
        with pytest.raises(ValueError, match="first the stored case 2"):
            base.set_metric(LocalMetric([[0, 0], [1, 1]], weights=np.ones((2, 2))))
        assert isinstance(base.metric, DiagonalMetric)


def test_anchors_are_found_within_the_rounding_of_float32():
    anchors = Anchors(LocalMetric([[1.1, 5.0], [2.2, 6.0], [1.1, 5.0]], weights=np.ones((3, 2))))
    cases = np.array([[2.2, 6.0], [1.1, 5.0], [1.1, 5.0], [1.1, 5.0]], dtype=np.float32)
    assert_array_equal(anchors.not_anchors(cases), [])
    assert_array_equal(anchors.places(cases), [1, 0, 2, 0])
    assert_array_equal(anchors.not_anchors(cases + np.array([[0], [1e-3], [0], [0]])), [1])


def test_columns_without_weight_do_not_matter():
    anchors = Anchors(LocalMetric([[1.0, 5.0], [2.0, 6.0]], weights=[[1, 0], [2, 0]]))
    assert_array_equal(anchors.places(np.array([[2.0, -9.0]])), [1])
    nothing = Anchors(LocalMetric([[1.0], [2.0]], weights=[[0], [0]]))
    assert_array_equal(nothing.not_anchors(np.array([[7.0]])), [])
