import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from tests.helpers.partitions import in_chunks, in_partitions

X, Y = load_wine(return_X_y=True, as_frame=True)
NAMES = np.array(["one", "two", "three"], dtype=object)[Y]
MODEL = make_pipeline(StandardScaler(), wn.GRLVQ()).fit(X, NAMES)


def test_an_array_gives_an_array_of_the_same_chunks():
    model, table = wn.GRLVQ().fit(X.to_numpy(), Y), in_chunks(X.to_numpy())
    found = wn.distributed.predict(model, table)
    assert isinstance(found, da.Array)
    assert found.chunks == table.chunks[:1]
    assert found.dtype == model.classes_.dtype
    assert_array_equal(found.compute(), model.predict(X.to_numpy()))


def test_a_dataframe_gives_a_series_with_its_index():
    table = X.set_axis([f"row {i:03}" for i in range(len(X))])
    found = wn.distributed.predict(MODEL, dd.from_pandas(table, npartitions=4))
    assert isinstance(found, dd.Series)
    expected = pd.Series(MODEL.predict(X), index=table.index, name="prediction")
    pd.testing.assert_series_equal(found.compute(), expected, check_dtype=False, check_index_type=False)


def test_delayed_partitions_give_an_array():
    assert_array_equal(wn.distributed.predict(MODEL, in_partitions(X)).compute(), MODEL.predict(X))


def test_measured_targets_are_predicted():
    table, target = load_diabetes(return_X_y=True)
    model = wn.MinimumNormRegressor().fit(table, target)
    assert_allclose(wn.distributed.predict(model, in_chunks(table)).compute(), model.predict(table), rtol=1e-12)


def test_a_model_that_is_not_fitted_is_refused():
    with pytest.raises(NotFittedError):
        wn.distributed.predict(wn.GRLVQ(), in_partitions(X))
