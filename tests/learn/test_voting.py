import copy
import gc
import pickle
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.decomposition import PCA

import whynear as wn
from whynear.learn import mixins
from whynear.search.exact import ExactSearch

GIVEN = {"epochs": 1, "step": 0.1, "beta": 0.3, "decay": 0.0, "shared_step": 0.01, "shared_epochs": 1}
SMALL = {"n_triples": 200, "n_validation": 100}
VOTING = {
    "LMNN": wn.LMNN(max_iter=3, tol=0.9),
    "LANN": wn.LANN(random_state=0, **GIVEN),
    "LANN with maps": wn.LANN(n_components=2, random_state=0, **GIVEN),
    "LANN among candidates": wn.LANN(search="candidates", n_candidates=20, random_state=0, **GIVEN),
    "Slider": wn.Slider(n_neighbors=3, max_iter=5, n_restarts=1, tol=0.1, random_state=0, **SMALL),
    "Slider, Manhattan": wn.Slider(p=1, max_iter=5, n_restarts=1, tol=0.1, random_state=0, **SMALL),
    "ForwardSelection": wn.ForwardSelection(random_state=0, **SMALL),
}
# pynndescent, which finds candidates, compiles for a minute.
TIERED = [pytest.param(name, marks=pytest.mark.slow if "candidates" in name else ()) for name in VOTING]


def table(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((120, 8))
    return X, np.array(["ant", "bee", "cat"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]


@pytest.fixture(params=TIERED)
def model(request):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(VOTING[request.param]).fit(*table())


@pytest.fixture
def made(monkeypatch):
    """The searches that are made, each by its kind."""
    kinds = []
    get = mixins.VotingCases._kept

    def noting(learner, make, *values, **settings):
        def noted(*given, **named):
            kinds.append(make.__name__)
            return make(*given, **named)

        noted = notes.setdefault(make, noted)
        return get(learner, noted, *values, **settings)

    notes = {}
    monkeypatch.setattr(mixins.VotingCases, "_kept", noting)
    return kinds


def fresh(model):
    """The same learner without any search."""
    return pickle.loads(pickle.dumps(model))


def queries():
    return table(seed=1)[0]


# A search is made once


def test_one_search_serves_all_predictions(model, made):
    before = dict(vars(model))
    for _ in range(3):
        model.predict(queries())
        model.predict_proba(queries())
        model.evidence(queries())
    assert len(made) == 1
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)


def test_an_explanation_does_one_search(model, made, monkeypatch):
    calls = []
    for kind in (ExactSearch, wn.CandidateSearch):
        find = kind.find
        monkeypatch.setattr(kind, "find", lambda *a, _of=find, **b: calls.append(1) or _of(*a, **b))
    wn.explain(model, queries()[0])
    assert len(calls) == len(made) == 1


def test_predictions_from_evidence_are_those_of_predict_to_the_bit(model):
    labels, probabilities = model.predictions_from(model.evidence(queries()))
    assert_array_equal(labels, model.predict(queries()))
    assert_array_equal(probabilities, model.predict_proba(queries()))


def test_threads_share_one_search_and_predict_the_same(model, made):
    expected, barrier = fresh(model).predict_proba(queries()), Barrier(8)
    made.clear()

    def predict(_):
        barrier.wait()
        return model.predict_proba(queries())

    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(predict, range(8)):
            assert_array_equal(found, expected)
    assert len(made) == 1


# It is never of an older metric


def changed(metric):
    """Another metric of the same kind."""
    arrays = metric.arrays()
    name = next(name for name in arrays if name != "anchors")
    factors = np.linspace(0.2, 3.0, metric.n_features)
    return type(metric)(**{**arrays, name: arrays[name] * factors}, feature_names=metric.feature_names)


def assert_predicts_by_what_it_has(model, made):
    made.clear()
    found = model.predict_proba(queries())
    assert len(made) == 1
    assert_array_equal(found, fresh(model).predict_proba(queries()))


def test_an_assigned_metric_is_searched_by(model, made):
    before = model.evidence(queries()).sq_distances
    model.metric_ = changed(model.metric_)
    assert_predicts_by_what_it_has(model, made)
    assert not np.array_equal(model.evidence(queries()).sq_distances, before)


def test_a_twin_with_another_metric_has_a_search_of_its_own(model, made):
    before = model.predict_proba(queries())
    twin = model.with_metric(changed(model.metric_))
    assert_predicts_by_what_it_has(twin, made)
    made.clear()
    assert_array_equal(model.predict_proba(queries()), before)
    assert not made


def test_fitting_again_searches_among_the_new_cases(model, made):
    model.predict(queries())
    X, y = table(seed=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[:90], y[:90])
    assert_predicts_by_what_it_has(model, made)
    assert len(model.evidence(queries()).cases) == 90


@pytest.mark.slow
def test_a_stream_is_searched_as_far_as_it_has_come(made):
    X, y = table()
    model = wn.LANN(**GIVEN).partial_fit(X[:50], y[:50], classes=np.unique(y))
    model.predict(queries())
    model.partial_fit(X[50:], y[50:])
    assert_predicts_by_what_it_has(model, made)
    assert len(model.evidence(queries()).cases) == 120


def test_another_setting_makes_another_search(model, made):
    model.predict(queries())
    assert_predicts_by_what_it_has(model.set_params(n_jobs=1), made)


@pytest.mark.slow
def test_another_kind_of_search_is_made(made):
    model = clone(VOTING["LANN"]).fit(*table())
    assert model.search_recall(queries()) == 1.0
    model.set_params(search="candidates", n_candidates=8).search_recall(queries())
    model.set_params(n_candidates=20).search_recall(queries())
    model.search_recall(queries())
    assert made == ["ExactSearch", "CandidateSearch", "CandidateSearch"]


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, fresh], ids=["copy", "deepcopy", "pickle"])
def test_a_copy_predicts_the_same_with_a_search_of_its_own(model, again, made):
    expected = model.predict_proba(queries())
    made.clear()
    other = again(model)
    assert_array_equal(other.predict_proba(queries()), expected)
    assert len(made) == 1
    other.metric_ = changed(other.metric_)
    other.predict_proba(queries())
    made.clear()
    assert_array_equal(model.predict_proba(queries()), expected)
    assert not made


def test_pickles_and_files_hold_no_search(model, tmp_path):
    size = len(pickle.dumps(model))
    expected = model.predict_proba(queries())
    assert len(pickle.dumps(model)) == size
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wn.save(model, tmp_path / "model")
    loaded = wn.load(tmp_path / "model")
    assert vars(loaded).keys() == vars(model).keys()
    assert_array_equal(loaded.predict_proba(queries()), expected)


def test_a_clone_has_none(model):
    model.predict(queries())
    assert clone(model) not in mixins._KEPT


def test_a_search_is_forgotten_with_its_learner():
    model = clone(VOTING["LMNN"]).fit(*table())
    model.predict(queries())
    gc.collect()
    n_kept = len(mixins._KEPT)
    del model
    gc.collect()
    assert len(mixins._KEPT) == n_kept - 1


def test_a_search_that_cannot_be_made_is_tried_again(model):
    expected, metric = model.predict_proba(queries()), model.metric_
    model.metric_ = "none"
    for _ in range(2):
        with pytest.raises((TypeError, ValueError, AttributeError)):
            model.predict(queries())
    model.metric_ = metric
    assert_array_equal(model.predict_proba(queries()), expected)


# Copies of cases


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner",
    [wn.LANN(random_state=0, **GIVEN), pytest.param(wn.LMNN(max_iter=2, tol=0.9), marks=pytest.mark.slow)],
    ids=str,
)
def test_a_crowd_of_copies_needs_no_square_of_memory(learner):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12_000, 4))
    X[:6_000] = 0.0
    y = rng.integers(3, size=12_000)
    small = learner.fit(X[::20], y[::20])
    few = X[[0, 1, -1]]
    assert_array_equal(small.predict(few), small.evidence(few).support().argmax(axis=1))
    shares = np.bincount(y[:6_000:20], minlength=3) / 300
    assert_allclose(small.predict_proba(few)[:2], [shares, shares])
    metric = wn.LocalMetric(X, weights=np.ones_like(X)) if isinstance(learner, wn.LANN) else small.metric_
    small.metric_, small.cases_, small.codes_ = metric, X, y
    tracemalloc.start()
    small.predict(X[4_500:7_500])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150 << 20  # 3,000 times 6,000 numbers and distances are 288 MB


def test_next_to_nothing_is_distance_zero():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [0.0, 2.0]])
    model = wn.LANN(n_neighbors=2, random_state=0, **GIVEN).fit(X, [0, 1, 0, 1, 0, 1])
    for tiny in (1e-156, 1e-80, 1e-12):
        assert_allclose(model.predict_proba([[tiny, 0.0], [9.0, 9.0]])[0], [1.0, 0.0])


def test_contradicting_copies_share_the_vote_behind_a_rotation():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    X[:12], y = X[0], np.arange(60) % 3
    pca = PCA().fit(X)
    model = wn.LANN(random_state=0, **GIVEN).fit(np.vstack([pca.transform(row[None]) for row in X]), y)
    together = model.predict_proba(pca.transform(X))
    alone = np.vstack([model.predict_proba(pca.transform(row[None])) for row in X])
    assert_allclose(together[:12], np.full((12, 3), 1 / 3))
    assert_allclose(alone[:12], together[:12])


# The names of the rows that vote


def named_table(n=20):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.standard_normal((n, 2)), columns=["a", "b"], index=[f"p{row}" for row in range(n)])
    return X, np.where(X["a"] > 0, "up", "down")


@pytest.mark.parametrize("learner", VOTING.values(), ids=VOTING)
def test_votes_carry_the_names_of_the_rows_of_the_table(learner, tmp_path):
    X, y = named_table()
    model = clone(learner).fit(X, y)
    evidence = model.evidence(X.iloc[[3, 7]])
    assert evidence.kind == "row"
    assert evidence.names(evidence.indices).tolist() == X.index.to_numpy()[evidence.indices].tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the file of a LANN holds its training cases
        wn.save(model, tmp_path / "model")
    assert wn.load(tmp_path / "model").row_names_.tolist() == X.index.tolist()


@pytest.mark.parametrize("learner", VOTING.values(), ids=VOTING)
def test_the_target_names_rows_that_a_scaler_made_an_array(learner):
    X, y = named_table()
    assert clone(learner).fit(X.to_numpy(), pd.Series(y, X.index)).row_names_.tolist() == X.index.tolist()
    unnamed = clone(learner).fit(X.to_numpy(), y)
    evidence = unnamed.evidence(X.to_numpy()[:1])
    assert (unnamed.row_names_, evidence.kind) == (None, "case")
    assert evidence.names(evidence.indices).tolist() == (evidence.indices + 1).tolist()


def test_a_stream_keeps_the_names_of_the_rows_that_it_remembers():
    X, y = named_table()
    stream = wn.LANN(max_anchors=10, epochs=0)
    for part in (slice(0, 8), slice(8, 20)):
        stream.partial_fit(X[part], y[part], classes=["down", "up"])
    assert stream.row_names_.tolist() == X.index[-10:].tolist()
    assert stream.partial_fit(X.to_numpy()[:2], y[:2]).row_names_ is None
