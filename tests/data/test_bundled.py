import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from whynear.data.catalog import LOADERS, bundled
from whynear.datasets import load


@pytest.mark.parametrize("name", sorted(LOADERS))
def test_bundled_sets_have_the_promised_form(name):
    data = bundled(name)
    assert data.X.shape == (len(data.y), len(data.feature_names))
    assert set(data.X.dtypes) == {np.dtype(float)}
    assert data.y.dtype == np.int64
    assert data.columns == data.feature_names
    assert sorted(set(data.y)) == list(range(len(data.target_names)))
    assert data.split is None
    assert data.name == name


@pytest.mark.parametrize("name", sorted(LOADERS))
def test_bundled_sets_equal_the_files_of_the_same_name(real_data, name):
    ours, theirs = bundled(name), load(name, data_dir=real_data)
    assert_allclose(ours.X.to_numpy(), theirs.X.to_numpy(), rtol=1e-6)
    assert_array_equal(ours.y, theirs.y)
    assert ours.target_names == theirs.target_names
