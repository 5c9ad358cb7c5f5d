import numpy as np
import pytest

from papers.matches import _cached, matches_found, measures, rank_and_matches

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # a few steps are enough

CASEBASE = {"cases": 300, "columns": 8, "queries": 10, "nearest": 20, "tolerances": [0.05, 0.2]}
LEARNING = {"n_triples": 300, "n_validation": 200, "n_restarts": 1, "max_iter": 20}


def test_measures_compare_equal_and_learned_weights():
    found = measures("iris", 0, queries=30, neighbors=5, mismatches=20, n_restarts=1, max_iter=20)
    assert all(set(values) == {"Euclidean", "Slider"} for values in found.values())
    assert {"1-NN accuracy, %", "5-NN accuracy, %", "rank among 10", "rank among 20"} <= set(found)
    assert 80 < found["1-NN accuracy, %"]["Euclidean"] <= 100
    assert found["matches in the whole base"]["Euclidean"] == found["matches in the whole base"]["Slider"]


def test_matches_grow_with_the_tolerance_up_to_the_existing_ones():
    found = matches_found(0, 2, CASEBASE, LEARNING)
    assert set(found) == {"equal weights", "equal weights, z-scores", "Slider", "existing matches"}
    for counts in found.values():
        assert counts[0] <= counts[1]
        assert np.all(counts <= found["existing matches"])


@pytest.mark.parametrize("method", ["equal weights", "Slider"])
def test_columns_can_be_scaled(method):
    learning = {} if method == "equal weights" else LEARNING
    raw, scaled = (rank_and_matches(0, method, columns, CASEBASE, learning) for columns in ("raw columns", "z-scores"))
    assert 1 <= scaled["rank among 100"] <= 101
    assert raw != scaled


def test_similarities_of_a_query_are_computed_once():
    calls = []

    def similarity(i, others):
        calls.append(i)
        return np.asarray(others, dtype=float)

    cached = _cached(similarity)
    for _ in range(3):
        assert cached(1, np.array([0, 2])).tolist() == [0, 2]
    assert calls == [1]
