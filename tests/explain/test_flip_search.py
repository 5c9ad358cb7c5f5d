import numpy as np
import pandas as pd
import pytest

from whynear.explain.flip_search import FlipSearch, Movable, nearest_first

ROW = pd.DataFrame({"a": [0.0], "b": [0.0], "c": ["x"]})
A, B = Movable("a", -2.0, 4.0, 1.0), Movable("b", -5.0, 5.0, 2.0)
C = Movable("c", values=("x", "y"), is_number=False)


def search(flipped, *features):
    return FlipSearch(ROW, features, lambda table: flipped(table).to_numpy())


def test_the_border_is_found_exactly():
    found = search(lambda table: table["a"] > 1.2345, A, B).along_one()
    (point,) = found
    assert point["a"] == pytest.approx(1.2345, abs=1e-6)
    assert point["a"] > 1.2345


def test_of_both_sides_the_nearer_one_is_taken():
    (point,) = search(lambda table: (table["a"] > 1.5) | (table["a"] < -1.0), A).along_one()
    assert point["a"] == pytest.approx(-1.0, abs=1e-6)


def test_sizes_are_in_standard_deviations():
    points = search(lambda table: (table["a"] > 1.5) | (table["b"] > 2.0), A, B).along_one()
    assert [list(point) for point in points] == [["b"], ["a"]]


def test_beyond_the_range_there_is_nothing():
    assert search(lambda table: table["a"] > 4.1, A).along_one() == []


def test_a_case_outside_of_the_range_moves_into_it():
    inside = Movable("a", 1.0, 3.0, 1.0)
    (point,) = search(lambda table: table["a"] >= 1.0, inside).along_one()
    assert point["a"] == pytest.approx(1.0)
    assert search(lambda table: table["a"] < 0, inside).along_one() == []


def test_two_features_go_straight_to_the_border():
    point = search(lambda table: table["a"] + table["b"] / 2 > 2.0, A, B).along_two(["a", "b"])
    assert np.hypot(point["a"], point["b"] / 2) == pytest.approx(np.sqrt(2), rel=0.01)
    assert search(lambda table: table["a"] + table["b"] / 2 > 2.0, A, B).along_two(["a", "b"], within=1.0) is None
    assert search(lambda table: table["a"] > 1, A).along_two(["a"]) is None


def test_another_category_is_one_step():
    one = search(lambda table: table["c"] == "y", A, C)
    assert one.along_one() == [{"c": "y"}]
    assert one.size({"c": "y"}) == 1.0


def test_only_needed_features_are_taken_from_another_case():
    others = pd.DataFrame({"a": [3.0], "b": [4.0], "c": ["y"]})
    point = search(lambda table: (table["a"] > 1) & (table["c"] == "y"), A, B, C).towards(others)
    assert set(point) == {"a", "c"}
    assert search(lambda table: table["a"] > 9, A).towards(others) is None


def test_rows_are_sorted_by_their_distance_in_standard_deviations():
    table = pd.DataFrame({"a": [3.0, 0.5, 0.0, np.nan], "b": [0.0, 0.0, 4.0, 0.0], "c": ["x", "x", "x", "y"]})
    assert nearest_first(table, ROW, [A, B, C]).tolist() == [1, 3, 2, 0]
