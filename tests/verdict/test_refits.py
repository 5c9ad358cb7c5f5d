import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.svm import LinearSVC

from tests.helpers.clusters import dask_cluster
from tests.helpers.verdicts import classes, measured, two_of_four, with_categories_and_gaps
from whynear.engine import processes
from whynear.verdict import sufficient_sets, verdicts
from whynear.verdict.refits import Refits


class Memory(ClassifierMixin, BaseEstimator):
    """Knows the class of every row it has seen, and says the first class of all others."""

    def fit(self, X, y):
        self.classes_, self.known_ = np.unique(y), {tuple(row): label for row, label in zip(X, y, strict=True)}
        return self

    def predict(self, X):
        return np.array([self.known_.get(tuple(row), self.classes_[0]) for row in X])


def refits(learner, X, y, target=None, seed=0):
    return Refits(learner, X, np.asarray(y), classes(y) if target is None else target, seed)


@pytest.mark.parametrize(
    "learner",
    [LogisticRegression(), KNeighborsClassifier(), LinearSVC(), RandomForestClassifier(20, random_state=0)],
    ids=lambda learner: type(learner).__name__,
)
def test_any_classifier_is_refitted_and_misses_what_is_left_out(learner):
    X, y = two_of_four()
    for table in (X, X.to_numpy()):
        found = refits(learner, table, y)
        assert found.without().score.mean() > 0.8
        assert found.without([0]).score.mean() < 0.8
        assert found.without([2, 3]).score.mean() > 0.8


def test_a_regressor_predicts_as_in_a_cross_validation():
    X, _ = two_of_four()
    y = 5 + 3 * X["one"].to_numpy() + np.random.default_rng(0).normal(0, 1, 120)
    target = measured(y)
    found = refits(KNeighborsRegressor(), X, y, target)
    expected = cross_val_predict(KNeighborsRegressor(), X, y, cv=found.target.folds(found.seed))
    assert found.without().loss.mean() == pytest.approx(np.square(expected - y).mean() / y.var())
    assert refits(LinearRegression(), X, y, target).without([0]).score.mean() < 0.05


def test_a_pipeline_takes_tables_with_categories_and_gaps():
    X, y = with_categories_and_gaps()
    steps = ColumnTransformer(
        [("text", OneHotEncoder(), ["colour", "sex"]), ("size", SimpleImputer(), ["size", "noise"])]
    )
    found = refits(make_pipeline(steps, RandomForestClassifier(30, random_state=0)), X, y)
    assert found.without().score.mean() > 0.85
    assert found.without([0]).score.mean() < 0.75
    assert found.without([1]).score.mean() < 0.75
    assert found.without([2, 3]).score.mean() > 0.85


@pytest.mark.parametrize("as_array", [False, True])
def test_a_column_with_gaps_is_left_out_at_a_value_that_is_known(as_array):
    X, y = two_of_four()
    X.iloc[::10, 0] = np.nan
    table = X.to_numpy() if as_array else X

    def filled(part):
        made = np.asarray(part)
        assert not np.isnan(made).all(axis=0).any()
        return np.nan_to_num(made)

    found = refits(make_pipeline(FunctionTransformer(filled), LogisticRegression()), table, y)
    assert found.without([0]).score.mean() < found.without().score.mean()


def test_columns_of_every_kind_are_made_constant_and_keep_their_kind():
    seen = []

    class Looks(LogisticRegression):
        def fit(self, X, y):
            seen.append(X)
            return super().fit(X[["x"]], y)

        def predict_proba(self, X):
            return super().predict_proba(X[["x"]])

    X = pd.DataFrame(
        {
            "x": np.arange(20.0),
            "whole": pd.array([1, 2, 2, None] * 5, dtype="Int64"),
            "kind": pd.Categorical(["a", "b", None, "b"] * 5),
            "day": pd.date_range("2020-01-01", periods=20),
            "yes": [True, False] * 10,
            "nothing": [np.nan] * 20,
        },
        index=[7] * 20,
    )
    refits(Looks(), X, np.arange(20) % 2).without(range(1, 6))
    for part in seen:
        assert part.dtypes.equals(X.dtypes)
        assert all(len(part[name].unique()) == 1 for name in X.columns[1:])
        assert part["whole"].iloc[0] == 2


def test_the_table_itself_is_never_changed():
    X, y = two_of_four()
    before = X.copy()
    refits(LogisticRegression(), X, y).without([0, 3])
    refits(LogisticRegression(), X.to_numpy(), y).without([0, 3])
    pd.testing.assert_frame_equal(X, before)


def test_predictions_never_use_the_row_itself():
    X = np.random.default_rng(0).standard_normal((200, 3))
    y = np.random.default_rng(1).permutation(np.arange(200) % 2)
    assert Memory().fit(X, y).score(X, y) == 1
    assert refits(Memory(), X, y).without().score.mean() == pytest.approx(0.5, abs=0.1)


def test_predictions_never_use_rows_of_the_same_group():
    groups = np.arange(200) // 4
    X = np.random.default_rng(0).standard_normal((50, 3))[groups]
    y = np.random.default_rng(1).permutation(np.arange(50) % 2)[groups]
    assert refits(Memory(), X, y).without().score.mean() > 0.9
    assert refits(Memory(), X, y, classes(y, groups)).without().score.mean() == pytest.approx(0.5, abs=0.2)


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("learner", [LogisticRegression(), LinearSVC()], ids=["probabilities", "classes"])
def test_a_class_may_be_missing_from_the_rows_of_a_fold(learner):
    X, y = two_of_four()
    y = np.where(np.arange(120) == 7, "rare", np.where(y == 1, "yes", "no"))
    found = refits(learner, X, y).without()
    assert np.isfinite(found.loss).all()
    assert found.score[7] == 0
    assert found.score.mean() > 0.85


def test_with_some_features_on_each_fold_the_learner_sees_no_others():
    X, y = two_of_four()
    model = refits(LogisticRegression(), X, y)
    folds = model.target.folds(3)
    (found,) = model.with_only([[[0, 1], [2, 3], [0, 1], [0, 1], [2, 3]]], folds)
    right = np.array([found.score[test].mean() for _, test in folds])
    assert (right[[0, 2, 3]] > 0.8).all()
    assert (right[[1, 4]] < 0.8).all()


def test_the_same_seed_gives_the_same_folds_and_repeats_differ():
    X, y = two_of_four()
    one, same, other = (refits(KNeighborsClassifier(), X, y, seed=seed).without() for seed in (0, 0, 1))
    assert_array_equal(one.loss, same.loss)
    assert not np.array_equal(one.loss, other.loss)
    learner = refits(KNeighborsClassifier(), X, y)
    assert_allclose(learner.without([], 2).loss, (one.loss + other.loss) / 2)


def test_columns_of_one_feature_are_left_out_together():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    X[:, 1] = X[:, 0]
    y = (X[:, 0] > 0).astype(int)
    learner = LogisticRegression()
    together = Refits(learner, X, y, classes(y), 0, owners=np.array([0, 0, 1]))
    apart = Refits(learner, X, y, classes(y), 0)
    assert apart.without([0]).score.mean() > 0.9
    assert together.without([0]).score.mean() < 0.7
    folds = classes(y).folds(0)
    assert together.with_only([[[0]] * len(folds)], folds)[0].score.mean() > 0.9
    assert together.with_only([[[1]] * len(folds)], folds)[0].score.mean() < 0.7


def test_a_row_of_weight_two_counts_as_two_when_the_learner_is_refitted():
    rng = np.random.default_rng(0)
    X, weights = rng.standard_normal((60, 2)), rng.integers(0, 3, 60).astype(float)
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(60) > 0, "u", "v")
    target, learner = classes(y), LogisticRegression(C=1e6)
    found = Refits(learner, X, y, target, 0, weights=weights).without()
    predicted = np.empty((60, 2))
    for train, test in target.folds(0):
        copied = np.repeat(train, weights[train].astype(int))
        predicted[test] = LogisticRegression(C=1e6).fit(X[copied], y[copied]).predict_proba(X[test])
    assert_allclose(found.loss, target.answers(predicted).loss, atol=1e-3)
    plain, ones = (Refits(learner, X, y, target, 0, weights=w).without() for w in (None, np.ones(60)))
    assert_array_equal(plain.loss, ones.loss)
    assert np.abs(plain.loss - found.loss).max() > 1e-3


def test_verdicts_and_sets_take_weights_and_refuse_what_is_none():
    X, y = np.random.default_rng(0).standard_normal((40, 2)), np.tile(["u", "v"], 20)
    bad = np.ones(40)
    bad[3] = -1
    for find in (verdicts, sufficient_sets):
        with pytest.raises(ValueError, match=r"none negative, got -1.0 in row 4 \(counting from 1\) instead"):
            find(LogisticRegression(), X, y, sample_weight=bad)


def test_sets_of_features_are_left_out_together_or_one_by_one_with_the_same_answers():
    X, y = two_of_four()
    together, apart, said = refits(LogisticRegression(), X, y), refits(LogisticRegression(), X, y), []
    together.prepare([[0], [1], [2, 3]], 2, lambda *report: said.append(report))
    assert said[-1] == ("refit the learner, 30 of 30 fits", 1.0)
    for features in ([0], [1], [3, 2]):
        assert_array_equal(together.without(features, 2).loss, apart.without(features, 2).loss)
    together.prepare([[0], [1]], 2, lambda *report: said.append(report))
    assert len(said) == 30  # what is known is not fitted again


@pytest.mark.slow
def test_refits_in_other_processes_give_the_same_bytes(monkeypatch):
    monkeypatch.setattr(processes, "WORTH_STARTING", 0.0)
    X, y = two_of_four()
    workers = processes.Processes(2, also_here=True)
    here = refits(LogisticRegression(), X, y).without([1])
    there = Refits(LogisticRegression(), X, np.asarray(y), classes(y), 0, workers=workers).without([1])
    assert workers._pool is not None
    workers.close()
    assert here.loss.tobytes() == there.loss.tobytes()


def test_a_learner_that_cannot_be_sent_is_refitted_here(monkeypatch):
    monkeypatch.setattr(processes, "WORTH_STARTING", 0.0)

    class Locked(KNeighborsClassifier):
        lock = None

        def __reduce__(self):
            raise TypeError("it cannot be pickled")

    X, y = two_of_four()
    found = verdicts(Locked(), X, y, n_resamples=0, random_state=0, n_jobs=2)
    assert found.named("indispensable") == ("one", "two")


@pytest.mark.parametrize("find", [verdicts, sufficient_sets])
def test_an_engine_that_is_none_is_refused(find):
    X, y = two_of_four(20)
    with pytest.raises(ValueError, match="engine must be 'processes' or 'dask', got 'ray' instead"):
        find(LogisticRegression(), X, y, engine="ray")
    with pytest.raises(ValueError, match="address='tcp://there:1' needs a cluster: choose engine='dask'"):
        find(LogisticRegression(), X, y, address="tcp://there:1")


@pytest.mark.slow
def test_a_cluster_gives_the_same_verdicts_and_sets(tmp_path):
    X, y = two_of_four()
    learner, same = make_pipeline(KNeighborsClassifier()), {"random_state": 0}
    with dask_cluster(tmp_path) as (address, _):
        there = verdicts(learner, X, y, n_resamples=2, **same, engine="dask", address=address)
        sets = sufficient_sets(learner, X, y, **same, engine="dask", address=address)
    assert there == verdicts(learner, X, y, n_resamples=2, **same, n_jobs=1)
    assert sets == sufficient_sets(learner, X, y, **same, n_jobs=1)


def test_a_part_of_the_rows_is_predicted_in_the_unit_of_all():
    X, _ = two_of_four()
    y = np.exp(3 * X["one"].to_numpy())
    some = np.flatnonzero(y < np.median(y))
    aim = measured(y).rows(some)
    found = refits(LinearRegression(), X.iloc[some], y[some], aim)
    held_out = cross_val_predict(LinearRegression(), X.iloc[some], y[some], cv=aim.folds(found.seed))
    errors = (held_out - y[some]) / y.std()
    assert_allclose(found.without().loss, np.square(errors) / aim.Y.var())
