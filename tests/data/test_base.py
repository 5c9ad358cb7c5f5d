import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from tests.helpers.gasoline import gasoline
from whynear.spectra import Baseline, SavitzkyGolay, StandardNormalVariate

ALL = [StandardNormalVariate(), SavitzkyGolay(), SavitzkyGolay(derivative=1), Baseline()]
NAMED = {"ids": lambda one: repr(one)}


@pytest.mark.parametrize("step", ALL, **NAMED)
def test_steps_pass_the_checks_of_scikit_learn(step):
    results = check_estimator(clone(step), on_skip=None)
    assert len([one for one in results if one["status"] == "passed"]) > 40


@pytest.fixture
def table():
    table = gasoline(20).drop(columns="octane")
    table.insert(3, "temperature", np.arange(20.0))
    return table


@pytest.mark.parametrize("step", ALL, **NAMED)
def test_other_columns_are_kept_and_channels_are_as_if_alone(step, table):
    channels = [name for name in table if name != "temperature"]
    step = step.set_params(columns=channels).set_output(transform="pandas")
    made = step.fit_transform(table)
    assert list(made) == list(table)
    assert_allclose(made["temperature"], table["temperature"])
    alone = type(step)(**{**step.get_params(), "columns": None}).fit_transform(table[channels].to_numpy())
    assert_allclose(made[channels], alone)
    by_place = type(step)(**{**step.get_params(), "columns": [j for j in range(122) if j != 3]})
    assert_allclose(by_place.fit_transform(table.to_numpy()), made)


@pytest.mark.parametrize("step", ALL, **NAMED)
def test_a_row_is_changed_in_the_same_way_wherever_it_stands(step):
    spectra = gasoline(20).drop(columns="octane").to_numpy()
    step = step.set_params(columns=None).set_output(transform="default")
    made = step.fit_transform(spectra)
    assert_allclose(step.fit(spectra[10:]).transform(spectra[:3]), made[:3], atol=1e-12)


def test_the_input_is_not_changed(table):
    before = table.copy()
    StandardNormalVariate().fit_transform(table)
    pd.testing.assert_frame_equal(table, before)


@pytest.mark.parametrize("columns", [["900nm", "1nm"], [0, 500], [-1]])
def test_unknown_channels_are_named(columns, table):
    with pytest.raises(ValueError, match=r"columns holds .*(1nm|500|-1).*, which X does not have. Give names"):
        Baseline(columns=columns).fit(table)
