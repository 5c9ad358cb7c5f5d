import copy
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from tests.helpers.learners import Holder, NearestClassMean
from whynear import DiagonalMetric, LinearMetric, LocalMetric, as_metric
from whynear.learn.mixins import MapsCases, check_fitted_state, measured_to
from whynear.utils.archive import ArchiveError, read_archive, write_archive

X = pd.DataFrame(np.random.default_rng(0).standard_normal((20, 3)) * [1, 10, 100], columns=list("abc"))
Y = np.arange(20) % 2


class Mapping(MapsCases, Holder):
    """A learner of a given metric that maps cases."""

    def fit(self, X, y=None):
        self.n_features_in_ = np.shape(X)[1]
        return super().fit(X, y)


def test_a_copy_predicts_with_the_other_metric_and_the_learner_stays():
    model = NearestClassMean().fit(X, Y)
    before, other = model.metric_, DiagonalMetric([1.0, 0.0, 0.0], list("abc"))
    twin = model.with_metric(other)
    assert twin.metric_ is other
    assert model.metric_ is before
    nearest = other.sq_distances(X.to_numpy(), model.means_).argmin(axis=1)
    assert_array_equal(twin.predict(X), nearest)


def test_a_metric_in_the_columns_before_a_scaler_is_restated_for_the_learner():
    model = make_pipeline(StandardScaler(), NearestClassMean()).fit(X, Y)
    twin = model[-1].with_metric(as_metric(model))
    assert_allclose(twin.metric_.weights, model[-1].metric_.weights)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (DiagonalMetric(np.ones(2)), "metric must have the 3 features of the learner, got 2"),
        (DiagonalMetric(np.ones(3), list("cba")), "metric"),
    ],
)
def test_a_metric_of_other_columns_is_refused(metric, message):
    with pytest.raises(ValueError, match=message):
        NearestClassMean().fit(X, Y).with_metric(metric)
    with pytest.raises(NotFittedError):
        NearestClassMean().with_metric(metric)


@pytest.mark.filterwarnings("error")
def test_anchors_may_differ_from_the_cases_by_a_shift_only():
    cases = X.to_numpy()
    metric = LocalMetric(cases + 7.0, weights=np.ones_like(cases))
    assert_array_equal(measured_to(metric, cases, "prototypes").anchors, cases)
    for others in (2 * cases, cases[:5]):
        with pytest.raises(ValueError, match="other anchors than the prototypes of the learner"):
            measured_to(metric, others, "prototypes")


@pytest.mark.parametrize("metric", [LinearMetric(np.arange(6.0).reshape(2, 3)), DiagonalMetric([4.0, 0.0, 1.0])])
def test_distances_between_mapped_cases_are_euclidean(metric):
    table = X.to_numpy()
    model = Mapping(metric).fit(table)
    mapped = model.transform(table)
    euclidean = DiagonalMetric(np.ones(mapped.shape[1]))
    assert_allclose(euclidean.sq_distances(mapped), metric.sq_distances(table), atol=1e-6)
    names = ["mapping0", "mapping1"] if isinstance(metric, LinearMetric) else ["x0", "x1", "x2"]
    assert model.get_feature_names_out().tolist() == names
    with pytest.raises(ValueError, match="number of features: 3"):
        model.get_feature_names_out(["a"])


def test_a_local_metric_maps_no_cases():
    table = X.to_numpy()
    model = Mapping(LocalMetric(table, weights=np.ones_like(table))).fit(table)
    with pytest.raises(TypeError, match="LocalMetric is not one map for all cases"):
        model.transform(table)


# A model file whose parameters or arrays no fit makes is refused when it is loaded, or predicts in a moment.


LEARNERS = {
    "GRLVQ": {"random_state": 0},
    "LGMLVQ": {"random_state": 0, "max_iter": 5},
    "LMNN": {"max_iter": 5},
    "LANN": {"random_state": 0, "epochs": 1},
    "Slider": {"random_state": 0, "n_triples": 50, "n_validation": 50},
    "MinimumNormRegressor": {},
    "RejectOption": {"learner": wn.GRLVQ(random_state=0)},
}
ORDINARY = (ValueError, TypeError, AttributeError, LookupError)  # anything but a crash, a hang or much memory
STRANGE = [1e30, 10**18, -5, 0, "x", [1], None, {"float": "nan"}, {"float": "inf"}, True, {"dict": []}]
X_OF_RESTORED = np.random.default_rng(0).standard_normal((40, 3))
Y_OF_RESTORED = (X_OF_RESTORED[:, 0] > 0).astype(int)
CPU_SECONDS = 5


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The content of one file for each learner, by the name of the learner."""
    folder, found = tmp_path_factory.mktemp("restored"), {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, given in LEARNERS.items():
            wn.save(getattr(wn, name)(**given).fit(X_OF_RESTORED, Y_OF_RESTORED), folder / name)
            found[name] = read_archive(folder / name)
    return found


def loaded(path, header, arrays, errors=()):
    """Return what a file of this content predicts, None if it is refused or predicting gives one of these errors."""
    write_archive(path, header, arrays)
    start = time.process_time()
    try:
        model = wn.load(path)
    except ArchiveError:
        return None
    try:
        predicted = model.predict(X_OF_RESTORED[:5])
    except errors:
        return None
    assert time.process_time() - start < CPU_SECONDS
    return predicted


def changed(header, where, name, value):
    header = copy.deepcopy(header)
    for pair in header["object"][where]["dict"]:
        if pair[0] == name:
            pair[1] = value
    return header


SOME = [pytest.param(name, marks=() if name == "LANN" else pytest.mark.slow) for name in LEARNERS]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("learner", SOME)
def test_strange_parameters_are_refused_or_harmless(files, tmp_path, learner):
    header, arrays = files[learner]
    assert loaded(tmp_path / "same", header, arrays) is not None
    for name, _ in header["object"]["params"]["dict"]:
        for value in STRANGE:
            predicted = loaded(tmp_path / "changed", changed(header, "params", name, value), arrays)
            assert predicted is None or len(predicted) == 5, f"{name}={value}"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("learner", LEARNERS)
def test_strange_attributes_crash_nothing(files, tmp_path, learner):
    header, arrays = files[learner]
    for name, before in header["object"]["fitted"]["dict"]:
        for value in STRANGE:
            predicted = loaded(tmp_path / "changed", changed(header, "fitted", name, value), arrays, ORDINARY)
            assert predicted is None or len(predicted) == 5, f"{name}={value}, which was {before}"


def other_arrays(array):
    """Arrays that do not belong where this one was."""
    yield array[:-1]
    yield np.zeros((2, 2, 2))
    yield array.astype(np.float32)
    yield (array * 0 + 10**6).astype(array.dtype)
    if array.dtype.kind == "f":
        yield np.full_like(array, np.nan)
    else:
        yield array[::-1].copy()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("learner", LEARNERS)
def test_other_arrays_crash_nothing(files, tmp_path, learner):
    header, arrays = files[learner]
    for part, array in arrays.items():
        for other in other_arrays(array):
            predicted = loaded(tmp_path / "changed", header, {**arrays, part: other}, ORDINARY)
            assert predicted is None or len(predicted) == 5, part


def test_the_parameter_is_named(files, tmp_path):
    header, arrays = files["LANN"]
    write_archive(tmp_path / "a", changed(header, "params", "search", "x"), arrays)
    with pytest.raises(ArchiveError, match=r"search must be one of auto, exact, candidates, got 'x'"):
        wn.load(tmp_path / "a")


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("codes_", np.full(40, 7), "codes_ is not a class for each case"),
        ("codes_", np.zeros(39, dtype=int), "codes_ is of shape"),
        ("cases_", np.zeros((40, 2)), "cases_ is of shape"),
        ("classes_", np.array([1, 0]), "classes_ is not a sorted list"),
        ("n_votes_", 0, "n_votes_ must be an integer >= 1"),
        ("metric_", wn.DiagonalMetric([1.0, 2.0]), "metric_ is of other features"),
    ],
)
def test_the_attribute_is_named(name, value, fault):
    model = wn.LMNN(max_iter=3).fit(X_OF_RESTORED, Y_OF_RESTORED)
    check_fitted_state(model)
    setattr(model, name, value)
    with pytest.raises(ValueError, match=fault):
        check_fitted_state(model)


def test_an_unfitted_learner_is_loaded_as_it_is(tmp_path):
    wn.save(wn.LANN(n_neighbors=3), tmp_path / "a")
    assert wn.load(tmp_path / "a").n_neighbors == 3
