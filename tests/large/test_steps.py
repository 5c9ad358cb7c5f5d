import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, StandardScaler

import whynear as wn
from tests.helpers.partitions import in_partitions
from whynear.large.partitions import computed
from whynear.large.pipeline_steps import fit_step, moments_of, transformed

NUMBERS, Y = load_wine(return_X_y=True, as_frame=True)
GAPS = NUMBERS.assign(constant=0.1)
GAPS.iloc[3:60:7, 2] = np.nan
N = len(Y)
TEXTS = pd.DataFrame({
    "place": pd.Series(["u", "v", "u", None] * 44 + ["z", "u"], dtype=object),
    "size": np.arange(N) % 5,
    "age": np.where(np.arange(N) % 3 == 0, np.nan, np.arange(float(N))),
})  # fmt: skip

STEPS = [
    (StandardScaler(), GAPS),
    (StandardScaler(with_std=False), NUMBERS),
    (StandardScaler(with_mean=False, with_std=False), NUMBERS),
    (MinMaxScaler(), GAPS),
    (MaxAbsScaler(), GAPS),
    (VarianceThreshold(), GAPS),
    (VarianceThreshold(0.2), NUMBERS),
    (SimpleImputer(strategy="median", add_indicator=True), GAPS),
    (SimpleImputer(), GAPS),
    (SimpleImputer(strategy="most_frequent"), TEXTS),
    (SimpleImputer(strategy="constant", fill_value=-1.0), GAPS),
    (wn.NullSpaceProjector(3), NUMBERS),
    (OneHotEncoder(sparse_output=False), TEXTS[["place", "size"]]),
    (wn.TableEncoder("onehot", "median", indicators=True), TEXTS),
    (wn.TableEncoder("onehot", "most_frequent"), TEXTS),
]


def same(one, other):
    """Whether two values are the same but for rounding and kinds of numbers."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray) and one.dtype.kind in "fiu":
        return one.shape == other.shape and np.allclose(one, other, rtol=1e-12, equal_nan=True)
    if isinstance(one, list | np.ndarray):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other or (pd.isna(one) and pd.isna(other)) or type(one).__name__ == "MissingIndicator"


ARRAYS = [(step, table.to_numpy()) for step, table in STEPS if not isinstance(step, wn.TableEncoder)]


@pytest.mark.parametrize(("step", "table"), STEPS + ARRAYS, ids=lambda value: type(value).__name__)
def test_a_step_is_the_same_as_one_fitted_in_memory(step, table):
    expected, found = clone(step).fit(table, Y), clone(step)
    fit_step(found, in_partitions(table), in_partitions(Y))
    assert vars(found).keys() == vars(expected).keys()
    for name, value in vars(expected).items():
        assert same(value, vars(found)[name]), name
    parts = computed(transformed(found, in_partitions(table)))
    assert [len(part) for part in parts] == [1, 0, N // 3 - 1, N - N // 3, 0]
    both = pd.DataFrame(np.vstack(parts)), pd.DataFrame(np.asarray(expected.transform(table)))
    pd.testing.assert_frame_equal(*both, check_dtype=False, rtol=1e-9)


def test_categories_are_known_that_some_partitions_lack():
    step = wn.TableEncoder("onehot", "most_frequent")
    fit_step(step, in_partitions(TEXTS, [0, 176, N]), in_partitions(Y, [0, 176, N]))
    assert step.categories_ == {"place": ["u", "v", "z"]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        computed(transformed(step, in_partitions(TEXTS)))


def test_the_first_partition_may_be_empty():
    ends = [0, 0, 100, N]
    for step, table in ((SimpleImputer(), GAPS), (wn.TableEncoder("onehot", "median"), TEXTS)):
        fit_step(step, in_partitions(table, ends), in_partitions(Y, ends))
        assert step.feature_names_in_.tolist() == list(table)
    with pytest.raises(ValueError, match="X has no rows in 2 partitions"):
        fit_step(SimpleImputer(), in_partitions(GAPS[:0], [0, 0, 0]), in_partitions(Y[:0], [0, 0, 0]))


def test_steps_that_cannot_be_fitted_are_refused_with_those_that_can():
    with pytest.raises(TypeError, match=r"PCA cannot be fitted to partitions\. Use .*StandardScaler"):
        fit_step(PCA(), in_partitions(NUMBERS), in_partitions(Y))
    with pytest.raises(ValueError, match="OneHotEncoder with min_frequency or max_categories"):
        fit_step(OneHotEncoder(min_frequency=2), in_partitions(TEXTS), in_partitions(Y))
    with pytest.raises(ValueError, match=r"No feature in X meets the variance threshold 0\.00000"):
        fit_step(VarianceThreshold(), in_partitions(GAPS[["constant"]]), in_partitions(Y))
    with pytest.raises(ValueError, match="TableEncoder takes categories None or 'onehot'"):
        fit_step(wn.TableEncoder("two"), in_partitions(TEXTS), in_partitions(Y))


def test_a_near_constant_column_is_not_blown_up():
    X = np.column_stack([np.full(100, 1e9), np.arange(100.0)])
    X[::2, 0] += 1e-7  # rounding, to scikit-learn
    step = StandardScaler()
    fit_step(step, in_partitions(X), in_partitions(np.zeros(100)))
    assert_allclose(step.scale_, StandardScaler().fit(X).scale_)


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
