import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.svm import LinearSVC

import whynear as wn
from tests.helpers.clusters import dask_cluster
from tests.helpers.verdicts import classes, measured, two_of_four, with_categories_and_gaps
from whynear.data.rows import TimeOrder
from whynear.verdict import sufficient_sets, verdicts
from whynear.verdict.refits import FOLDS_OF_MANY, JudgedTable, ManyRows, Refits, outside_models
from whynear.verdict.rules import clearly_better
from whynear.verdict.table import feature_columns, target_of
from whynear.work import processes
from whynear.work.processes import Processes


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
    assert_allclose(found.loss, target.losses(predicted).loss, atol=1e-3)
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
    with pytest.raises(ValueError, match=r"engine must be 'processes', 'dask' or an address .*, got 'ray' instead"):
        find(LogisticRegression(), X, y, engine="ray")
    with pytest.raises(OSError, match="No scheduler answers at address='tcp://"):
        find(LogisticRegression(), X, y, engine="tcp://127.0.0.1:1")


@pytest.mark.slow
def test_a_cluster_gives_the_same_verdicts_and_sets(tmp_path):
    X, y = two_of_four()
    learner, same = make_pipeline(KNeighborsClassifier()), {"random_state": 0}
    with dask_cluster(tmp_path) as (address, _):
        there = verdicts(learner, X, y, n_resamples=2, **same, engine=address)
        sets = sufficient_sets(learner, X, y, **same, engine=address)
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


def stripes(n=500, seed=0):
    """Sixteen stripes along a column decide the class, which trees see and kernels do not; another hints at it."""
    rng = np.random.default_rng(seed)
    place = rng.random(n)
    y = (np.floor(16 * place) % 2).astype(int)
    return pd.DataFrame({"stripes": place, "hint": y + 0.8 * rng.standard_normal(n), "noise": rng.random(n)}), y


def test_they_answer_as_in_a_cross_validation_of_standardised_columns():
    X, y = two_of_four()
    forest, linear = outside_models(feature_columns(X), classes(y), 3)
    assert (forest.name, linear.name) == ("a random forest", "logistic regression")
    folds = classes(y).folds(3)
    for left_out in ([], [1, 2]):
        values = np.delete(feature_columns(X).values, left_out, axis=1)
        predicted = cross_val_predict(RandomForestClassifier(random_state=0), values, y, cv=folds)
        calibrated = forest.without(left_out).score
        assert np.mean(calibrated == (predicted == y)) > 0.97  # calibrated probabilities may tip a few of them
    assert linear.without().score.mean() > 0.9


def test_a_measured_target_has_a_forest_in_its_own_unit():
    X, _ = two_of_four()
    y = 5 + 3 * X["one"].to_numpy() ** 2
    (forest,) = outside_models(feature_columns(X), measured(y), 0)
    values, folds = feature_columns(X).values, measured(y).folds(0)
    predicted = cross_val_predict(RandomForestRegressor(min_samples_leaf=2, random_state=0), values, y, cv=folds)
    assert forest.without().loss.mean() == pytest.approx(np.square(predicted - y).mean() / y.var(), rel=0.02)


def test_a_forest_of_many_numbers_has_fewer_trees_and_predicts_about_as_well(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 12))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
    (usual,) = outside_models(feature_columns(X), measured(y), 0)
    monkeypatch.setattr("whynear.verdict.refits.MANY_CELLS", 1_000)
    (quick,) = outside_models(feature_columns(X), measured(y), 0)
    assert quick.table.learner.n_estimators <= usual.table.learner.n_estimators / 4
    assert quick.without().score.mean() > usual.without().score.mean() - 0.04


def test_a_feature_of_several_columns_is_left_out_as_a_whole():
    X, y = with_categories_and_gaps()
    forest = outside_models(feature_columns(X), classes(y), 0)[0]
    assert forest.without().score.mean() > 0.9
    assert forest.without([0]).score.mean() < 0.75
    assert_array_equal(forest.without([0, 1, 2, 3]).expected, classes(y).guessed().expected)


def test_a_model_must_be_clearly_better_to_answer():
    X, y = stripes()
    target = classes(y)
    forest, linear = (model.without() for model in outside_models(feature_columns(X), target, 0))
    assert clearly_better(forest, linear, target)
    assert not clearly_better(linear, forest, target)
    assert not clearly_better(forest, forest, target)
    assert clearly_better(linear, target.guessed(), target)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 4))])
def test_no_set_is_named_without_what_only_a_forest_sees(seed):
    X, y = stripes(seed=seed)
    found = sufficient_sets(wn.GRLVQ(random_state=0), X, y, random_state=seed)
    assert "stripes" in found.best
    assert found.better_model.name == "a random forest"
    assert found.better_model.score > found.better_model.score_of_distances
    assert not found.better_model.learner_only
    assert found.score > found.score_of_all - 0.02


def test_a_column_of_one_value_is_not_named_before_what_only_a_forest_sees():
    X, y = stripes(n=300)
    found = sufficient_sets(DummyClassifier(), X.assign(one_value=1.0), y, random_state=0)
    assert set(found.best) == {"hint", "stripes"}


def test_what_only_a_forest_sees_in_many_rows_is_named_too():
    X, y = stripes(n=1_600)
    found = sufficient_sets(wn.GRLVQ(random_state=0), X, y, random_state=0)
    assert "stripes" in found.best
    assert found.better_model.n_rows == 1_000


def test_no_better_model_is_named_where_metrics_predict_as_well():
    assert sufficient_sets(wn.GMLVQ(random_state=0), *two_of_four(), random_state=0).better_model is None


LEARNER = KNeighborsClassifier()
LINEAR = LogisticRegression()  # than which nothing is clearly better where the classes are
USED = np.arange(0, 120, 3)


def others_of(learner, X, y, used=USED, groups=None, bands=None, **given):
    columns, target = feature_columns(X, bands), target_of(learner, y, groups)
    table = JudgedTable(learner, X, np.asarray(y), columns, target, Processes(1), **given)
    return table.on_many_rows(used, np.random.default_rng(0))


def test_rows_that_were_used_have_no_answers_and_the_others_those_of_a_cross_validation():
    X, y = two_of_four()
    others = others_of(LINEAR, X, y)
    seed = int(np.random.default_rng(0).integers(2**31))
    folds = target_of(LINEAR, y).folds(seed, FOLDS_OF_MANY)
    assert len(folds) == FOLDS_OF_MANY
    right = cross_val_predict(LINEAR, X, y, cv=folds) == y
    assert_array_equal(others.without().score, right[np.setdiff1d(np.arange(120), USED)])


def test_with_some_features_alone_is_without_all_others():
    X, y = two_of_four()
    others = others_of(LEARNER, X, y)
    assert_array_equal(others.with_only([0, 1]).loss, others.without([2, 3]).loss)
    check = others.check([0, 1])
    assert (check.n_rows, check.n_judged) == (120, 80)
    assert check.lost == pytest.approx(check.score_of_all - check.score)
    assert check.lost_error == pytest.approx(
        (others.without().score - others.with_only([0, 1]).score).std(ddof=1) / 80**0.5
    )


def test_bands_are_left_out_as_a_whole():
    X, y = two_of_four()
    alone = others_of(LINEAR, X, y).with_only([0, 1])
    of_bands = others_of(LINEAR, X, y, bands=["a", "a", "b", "b"], owners=np.array([0, 0, 1, 1]))
    assert_array_equal(of_bands.with_only([0]).loss, alone.loss)


def test_few_other_rows_say_nothing_new():
    X, y = two_of_four()
    assert others_of(LEARNER, X, y, used=np.arange(61)) is None


@pytest.mark.parametrize("learner", [LEARNER, KNeighborsRegressor()], ids=["classes", "measured"])
def test_groups_and_times_are_respected(learner):
    X, y = two_of_four()
    y = y if learner is LEARNER else X["one"].to_numpy()
    pairs = np.repeat(np.arange(60), 2)
    grouped = others_of(learner, X, y, groups=pairs)
    assert len(grouped.without().loss) == 80
    assert np.isfinite(grouped.check([0]).lost_error)
    later = others_of(learner, X, y, groups=TimeOrder(pd.Series(np.arange(120.0)), "day"))
    assert 0 < len(later.without().loss) < 80
    assert np.isfinite(later.check([0]).lost_error)


def test_a_learner_may_object_only_if_it_is_about_as_good():
    X, y = two_of_four()
    target = target_of(LEARNER, y)
    best = Refits(LEARNER, X, y, target, 0).without()
    assert others_of(LEARNER, X, y).may_object(best, target)
    assert not ManyRows([Refits(DummyClassifier(), X, y, target, 0)], USED).may_object(best, target)


def test_models_of_another_kind_answer_where_they_are_clearly_better():
    X, y = two_of_four(n=400)
    knows, guesses = others_of(LogisticRegression(), X, y), others_of(DummyClassifier(), X, y)
    assert [model.name for model in knows.models] == ["the learner"]
    assert [model.name for model in guesses.models] == ["the learner", "a random forest", "logistic regression"]
    assert guesses.without().score.mean() > 0.9
    check = guesses.check([0, 1])
    assert check.models == ("the learner", "a random forest", "logistic regression")
    assert str(check).startswith(
        "The learner, a random forest and logistic regression were fitted to 400 rows in folds"
    )
    assert str(check).endswith(" with all, by the best of them.")


def test_a_better_model_on_many_rows_is_better_than_the_learner_not_than_kernel_models():
    X, y = two_of_four(n=400)
    assert others_of(LINEAR, X, y).better_model is None
    better = others_of(DummyClassifier(), X, y).better_model
    assert better.learner_only
    assert better.score > 0.9 > 0.7 > better.score_of_distances
