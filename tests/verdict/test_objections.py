"""Verdicts from few rows that many rows contradict."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import whynear as wn
from tests.helpers.verdicts import two_of_four
from whynear.utils.progress import silent
from whynear.verdict import sufficient_sets, verdicts
from whynear.verdict.decisions import INDISPENSABLE, NO_EVIDENCE, REPLACEABLE, UNDECIDED, needed_features
from whynear.verdict.feature_columns import feature_columns
from whynear.verdict.leaving_out import Costs
from whynear.verdict.many_rows import many_rows
from whynear.verdict.objections import costs_of_needed, without_costly, without_missed
from whynear.verdict.targets import target_of

TREE = DecisionTreeClassifier(min_samples_leaf=3, random_state=0)


def stripes(n, seed, *, n_stripes=16, noise=0.5):
    """A column that determines the class in stripes, which only many rows show, and a column that hints at it."""
    rng = np.random.default_rng(seed)
    place = rng.random(n)
    y = np.floor(n_stripes * place).astype(int) % 2
    return pd.DataFrame({"stripes": place, "hint": y + noise * rng.normal(size=n)}), y


@pytest.fixture(scope="module")
def others():
    X, y = two_of_four(n=400)
    learner = KNeighborsClassifier(9)
    used, rng = np.arange(0, 400, 4), np.random.default_rng(0)
    return many_rows(learner, X, y, feature_columns(X), target_of(learner, y), used, rng)


def costs(losses, deviations):
    d = len(losses)
    return Costs(np.asarray(losses), np.full(d, 0.5), np.asarray(deviations), np.asarray(losses) + 0.8)


def test_a_feature_that_looks_needed_must_be_missed_on_many_rows(others):
    found = costs([9.0, 9.0, 9.0, 0.0], [9.0, 9.0, 9.0, 0.0])
    assert needed_features(found).tolist() == [True, True, True, False]
    checked = costs_of_needed(found, others, silent)
    assert needed_features(checked).tolist() == [True, True, False, False]
    assert checked.losses[3] == found.losses[3]
    assert checked.losses[2] < 2 < 5 < checked.losses[0]


def test_features_without_evidence_are_undecided_if_they_are_missed_together(others):
    said = np.array([NO_EVIDENCE, INDISPENSABLE, NO_EVIDENCE, UNDECIDED], dtype="<U13")
    assert without_missed(said, others).tolist() == [UNDECIDED, INDISPENSABLE, UNDECIDED, UNDECIDED]
    harmless = np.array([INDISPENSABLE, INDISPENSABLE, NO_EVIDENCE, NO_EVIDENCE], dtype="<U13")
    assert without_missed(harmless, others).tolist() == harmless.tolist()


def test_a_replaceable_member_of_the_set_must_cost_little_on_many_rows(others):
    said = np.array([REPLACEABLE, REPLACEABLE, REPLACEABLE, REPLACEABLE], dtype="<U13")
    decided, checked = without_costly(said, costs([0.0] * 4, [0.0] * 4), [0, 1], others, silent)
    assert decided.tolist() == [UNDECIDED, UNDECIDED, REPLACEABLE, REPLACEABLE]
    assert checked.losses[0] > 5
    assert checked.losses[2:].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 8))])
@pytest.mark.parametrize("n_stripes", [16, pytest.param(24, marks=pytest.mark.slow)])
def test_what_only_many_rows_show_is_not_denied(n_stripes, seed):
    X, y = stripes(5_000, seed, n_stripes=n_stripes)
    found = verdicts(TREE, X, y, random_state=seed, n_resamples=4, n_jobs=1)
    said = dict(zip(found.feature_names, found.verdict, strict=True))
    assert said["stripes"] in (INDISPENSABLE, UNDECIDED)
    assert "stripes" in found.sets.best


def test_a_set_of_few_rows_is_not_named_if_more_rows_miss_a_feature():
    X, y = stripes(5_000, 1)
    few = sufficient_sets(TREE, X[:600], y[:600], random_state=1, n_jobs=1)
    many = sufficient_sets(TREE, X, y, random_state=1, n_jobs=1)
    assert few.check is None
    assert "stripes" in many.best
    assert many.score_of_all - many.score <= 0.02


def test_a_checked_set_states_the_scores_on_many_rows():
    X, y = two_of_four(n=1_500)
    found = sufficient_sets(LogisticRegression(), X, y, random_state=0, n_jobs=1)
    assert set(found.best) == {"one", "two"}
    assert (found.check.n_rows, found.check.n_judged) == (1_500, 900)
    assert (found.score, found.score_of_all) == (found.check.score, found.check.score_of_all)
    assert found.lost_error == found.check.lost_error
    assert found.score > found.score_of_all - 0.01


@pytest.mark.slow
def test_letters_verdicts_hold_for_rows_that_had_no_part_in_them():
    data = wn.datasets.load("letter")
    order = np.random.default_rng(0).permutation(len(data.y))
    X, y = data.X.iloc[order].reset_index(drop=True), np.asarray(data.y)[order]
    known, new = slice(0, 2_000), slice(2_000, 8_000)
    learner = make_pipeline(StandardScaler(), wn.LANN(random_state=0))
    found = verdicts(learner, X[known], y[known], random_state=0, n_resamples=4)

    def accuracy(features):
        model = make_pipeline(StandardScaler(), wn.LANN(random_state=1)).fit(X[known][features], y[known])
        return 100 * np.mean(model.predict(X[new][features]) == y[new])

    every = accuracy(list(X))
    assert every - accuracy(list(found.sets.best)) < 2.5
    for name in found.named(INDISPENSABLE):
        assert every - accuracy([other for other in X if other != name]) > 0.5
    for name in found.named(REPLACEABLE):
        assert every - accuracy([other for other in X if other != name]) < 2.5
