import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.helpers.partitions import in_partitions
from whynear.large.steps import moments_of

X = 1e6 + np.random.default_rng(0).standard_normal((50, 3))
X[3:40:5, 1] = np.nan


@pytest.mark.parametrize("named", [False, True])
def test_moments_of_partitions_are_those_of_all_rows(named):
    table = pd.DataFrame(X, columns=list("abc")) if named else X
    found = moments_of(in_partitions(table))
    assert_allclose(found.mean, np.nanmean(X, axis=0), rtol=1e-15)
    assert_allclose(found.variance, np.nanvar(X, axis=0), rtol=1e-8)
    assert_array_equal(found.counts, [50, 42, 50])
    assert_array_equal(np.asarray(found.ends), [np.nanmin(X, axis=0), np.nanmax(X, axis=0)])
    assert isinstance(found.ends, pd.DataFrame) is named
    assert found.n_rows == 50


def test_infinities_and_empty_tables_are_refused():
    with pytest.raises(ValueError, match=r"X contains infinity \(inf\): 1 in column 'x2'"):
        moments_of(in_partitions(np.vstack([X, [0.0, 0.0, np.inf]])))
    with pytest.raises(ValueError, match="X has no rows in 5 partitions"):
        moments_of(in_partitions(X[:0]))
