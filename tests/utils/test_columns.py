import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from whynear.utils.columns import check_features, check_finite, check_magnitudes


def test_missing_values_are_named_with_their_counts_and_the_way_out():
    X = pd.DataFrame({"age": [1.0, np.nan, np.nan], "height": [np.nan, 2.0, 3.0], "weight": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match=r"2 in column 'age', 1 in column 'height'\. .*SimpleImputer"):
        check_features(X, X.columns)


def test_infinities_are_named():
    with pytest.raises(ValueError, match=r"infinity \(inf\): 1 in column 'b'"):
        check_finite(np.array([[1.0, -np.inf]]), ["a", "b"])


def test_many_bad_columns_are_counted_not_listed():
    with pytest.raises(ValueError, match="and in 15 more columns"):
        check_finite(np.full((1, 20), np.nan), [f"c{i}" for i in range(20)])


def test_sparse_tables_are_refused():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        check_features(csr_array(np.eye(2)), ["a", "b"])


def test_a_tiny_column_is_refused_only_where_columns_are_scaled_alone():
    X = np.array([[1.0, 1e-200], [2.0, 2e-200]])
    check_magnitudes(X, ["a", "b"])
    with pytest.raises(ValueError, match="larger than 2e-200 in column 'b'"):
        check_magnitudes(X, ["a", "b"], by_column=True)


def test_an_integer_table_with_odd_index_is_taken_as_numbers():
    X = pd.DataFrame({"a": [1, 2]}, index=["r", "r"])
    np.testing.assert_array_equal(check_features(X, ["a"]), [[1.0], [2.0]])
