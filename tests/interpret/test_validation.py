import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from tests.helpers.learners import NearestClassMean
from whynear.interpret.validation import splits


def test_every_row_is_held_out_once_and_never_trained_on_there():
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    held_out = [split.X_val for split in splits(NearestClassMean(), X, y)]
    assert sorted(np.concatenate(held_out)[:, 0]) == sorted(X[:, 0])
    for split in splits(NearestClassMean(), X, y):
        assert not set(split.X[:, 0]) & set(split.X_val[:, 0])
        assert set(split.y) == {0, 1}


def test_numbers_are_split_without_classes_and_given_rows_are_kept():
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20.0)
    assert [len(split.y_val) for split in splits(LinearRegression(), X, y)] == [4] * 5
    (only,) = splits(LinearRegression(), X, y, X[:3], y[:3])
    assert len(only.y_val) == 3
    assert only.model is not None
    with pytest.raises(ValueError, match="give both or neither"):
        list(splits(LinearRegression(), X, y, X[:3]))
