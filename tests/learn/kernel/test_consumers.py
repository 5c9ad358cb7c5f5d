"""Everything that takes a learner or a metric takes those of learned kernels, or refuses them in a sentence."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from whynear.data.problem import Problem
from whynear.explain.why import explain
from whynear.learn.kernel.estimators import RFM, RFMRegressor
from whynear.learn.kernel.learning import SHAPES
from whynear.metric import DiagonalMetric, LinearMetric
from whynear.search import CandidateSearch, NeighborSearch
from whynear.studio.live import MODEL, Live, what_if
from whynear.studio.models import CaseQuery
from whynear.study.settings import StudySettings

EVERY = pytest.mark.parametrize(("shape", "columns"), [(s, c) for s in SHAPES for c in ("values", "ranks")])


def table(n=80, seed=0):
    rng = np.random.default_rng(seed)
    names = [f"row {number}" for number in range(n)]
    X = pd.DataFrame(rng.standard_normal((n, 4)) * [1, 20, 5, 0.1] + 3, names, list("abcd"))
    target = np.sin(X["a"]) + (X["b"] > 5) + 0.1 * rng.standard_normal(n)
    return X, target


@cache
def model_of(kind, shape, columns, scaled=True):
    X, target = table()
    classes = np.where(target > 1, "high", np.where(target > 0.3, "middle", "low"))
    y = target if kind is RFMRegressor else pd.Series(classes, X.index)
    learner = kind(shape, columns, random_state=0)
    return (make_pipeline(StandardScaler(), learner) if scaled else learner).fit(X, y)


def is_quadratic(metric):
    return isinstance(metric, LinearMetric | DiagonalMetric)


@EVERY
@pytest.mark.parametrize("kind", [RFM, RFMRegressor])
def test_explanations_add_up(kind, shape, columns):
    X, _ = table()
    model = model_of(kind, shape, columns)
    for why in explain(model, X.iloc[[0, 17]]):
        score = why.prediction if kind is RFMRegressor else why.support[why.prediction]
        assert why.base + why.neighbors["vote"].sum() + why.rest == pytest.approx(score, abs=1e-9)
        assert_allclose(why.contributions.sum(axis=1), why.neighbors["sq_distance"], rtol=1e-7, atol=1e-9)
    assert explain(model, X.iloc[[17]]).neighbors["row"].iloc[0] == "row 17"


@EVERY
def test_the_metric_states_the_columns_of_the_table(shape, columns):
    X, _ = table()
    model = model_of(RFM, shape, columns)
    metric = wn.as_metric(model)
    seen = model[0].transform(X)
    assert_allclose(metric.sq_distances(X), model[-1].metric_.sq_distances(seen), rtol=1e-7, atol=1e-9)


@EVERY
def test_rejection_keeps_its_promise_with_it(shape, columns):
    X, target = table(160, 1)
    y = np.where(target > 1, "high", "low")
    option = wn.RejectOption(RFM(shape, columns, random_state=0), accuracy=0.8).fit(X, y)
    decided = option.decide(X)
    assert decided.accepted.any()


@EVERY
def test_case_bases_search_by_its_metric(shape, columns, tmp_path):
    X, _ = table()
    model = model_of(RFM, shape, columns)
    for metric in (model[-1].metric_, wn.as_metric(model)):
        with wn.CaseBase(tmp_path / f"cases {metric.scale is None}", metric) as cases:
            cases.add(X)
            found = cases.retrieve(X.iloc[3], k=5)
            sq = metric.sq_distances(X.iloc[[3]], X)[0]
            assert_allclose(found.sq_distances, np.sort(sq)[:5], rtol=1e-3, atol=1e-4)  # vectors are float32


@EVERY
def test_searches_by_its_metric(shape, columns):
    X, _ = table()
    model = model_of(RFM, shape, columns, scaled=False)
    sq = np.sort(model.metric_.sq_distances(X), axis=1)[:, :3]
    found, indices = NeighborSearch(model.metric_, X).nearest(X, 3)
    assert_allclose(found, sq, rtol=1e-6, atol=1e-6)
    assert_array_equal(indices[:, 0], np.arange(len(X)))


@pytest.mark.slow
@EVERY
def test_candidates_are_found_by_its_metric(shape, columns):
    X, _ = table()
    model = model_of(RFM, shape, columns, scaled=False)
    sq = np.sort(model.metric_.sq_distances(X), axis=1)[:, :3]
    listed, _ = CandidateSearch(model.metric_, X, n_candidates=20).nearest(X, 3)
    assert (listed >= sq - 1e-6).all()
    assert np.mean(listed <= sq + 1e-6) > 0.9


@EVERY
def test_profiles_flips_and_maps(shape, columns):
    X, _ = table()
    model = model_of(RFM, shape, columns)
    profiles = wn.class_profiles(model)
    assert_allclose(profiles.sum(axis=0), 1)
    before = model.predict(X.iloc[[0]])[0]
    for flip in wn.flips(model, X.iloc[0], X):
        assert flip.prediction != before
    points = wn.embed(model, X, random_state=0)
    assert points.shape == (len(X), 2)
    assert np.isfinite(points).all()


@EVERY
def test_null_spaces_are_for_maps_and_others_are_refused(shape, columns):
    X, _ = table()
    metric = model_of(RFM, shape, columns, scaled=False).metric_
    for consumer in (wn.regularize, wn.null_space, wn.relevance_intervals):
        if is_quadratic(metric):
            consumer(metric, X)
        else:
            with pytest.raises(TypeError, match=r"has no linear map.*shape='map'"):
                consumer(metric, X)


@EVERY
@pytest.mark.parametrize("kind", [RFM, RFMRegressor])
def test_changed_cases_are_explained_in_the_studio(kind, shape, columns, tmp_path):
    X, _ = table()
    model = model_of(kind, shape, columns)
    with pytest.warns(UserWarning, match="training"):
        wn.save(model, tmp_path / MODEL)
    problem = Problem("cases", "y", X, model.predict(X), (), None, pd.DataFrame())
    live = Live(tmp_path, "cases", "y", StudySettings(), problem)
    answer = what_if(live, CaseQuery(row="row 3", values={"a": 4.0}))
    changed = X.loc[["row 3"]].assign(a=4.0)
    assert answer.prediction == model.predict(changed)[0]
    assert (answer.interval is None) == (kind is RFM)
    for near in answer.neighbors:
        assert near.values == pytest.approx(X.loc[near.name].to_dict())
