from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.metrics import r2_score

import whynear as wn
from tests.helpers.studies import iris_study, of_patients, rows_of_two_classes
from whynear.data.rows import TimeOrder
from whynear.learn.registry import MINIMUM_NORM
from whynear.model.pipeline import FittedPipeline
from whynear.study import comparison as comparison_module
from whynear.study.comparison import (
    Comparison,
    FoldPredictions,
    compare,
    parts_within,
    simplest_of_the_best,
)
from whynear.study.errors import root_mean_squared_error
from whynear.study.feature_findings import caveats_of_copies, copies_across_folds
from whynear.study.fits import FitPredictions, FitRows, Fits
from whynear.study.interpretation import profiles_of
from whynear.study.methods import PLS, RIDGE, YARDSTICKS, Methods


@pytest.fixture
def comparison():
    accuracy = pd.DataFrame({"grlvq": [0.5, 1.0], "gmlvq": [1.0, 1.0], "plain kNN": [0.0, 0.5], "NCA with kNN": 0.5})
    predictions = pd.DataFrame({"true": ["u", "v", "v"], "predicted": ["u", "u", "v"], "fold": [1, 2, 1]})
    by_method = pd.DataFrame({"grlvq": list("uuv"), "gmlvq": list("uvv"), "plain kNN": "u", "NCA with kNN": "v"})
    more = {"scores": accuracy, "by_method": by_method, "models": ("one", "two"), "places": np.arange(3)}
    return Comparison(accuracy, "gmlvq", pd.Series([1.0, 0.0]), predictions, **more)


def test_scores_are_summed_up_by_method(comparison):
    first = comparison.methods[0]
    assert (first.name, first.score.value, first.by_fold) == ("grlvq", 2 / 3, (0.5, 1.0))
    assert [comparison.score_of(name).value for name in comparison.accuracy] == [2 / 3, 1.0, 1 / 3, 2 / 3]


def test_the_score_of_the_study_is_that_of_its_predictions_over_all_rows(comparison):
    assert comparison.expected == comparison.score.value == 2 / 3
    assert comparison.expected_error == comparison.score.error == pytest.approx(np.sqrt(2 / 9 / 2))


def test_baselines_are_no_learners(comparison):
    assert comparison.n_learners == 2


def test_wrong_predictions_are_marked(comparison):
    assert comparison.wrong.tolist() == [False, True, False]


def test_a_row_has_the_model_of_the_fold_that_held_it_out(comparison):
    learner = DummyClassifier().fit([[0.0]], ["u"])
    assert replace(comparison, models=(learner, learner)).model_without(0) is None
    models = iris_study().comparison.models
    folds = iris_study().comparison.predictions["fold"]
    assert iris_study().comparison.model_without(7).model is models[folds.iloc[7] - 1]


def test_all_methods_are_judged_on_the_same_held_out_folds():
    study = iris_study()
    assert list(study.accuracy.columns) == ["gmlvq", "plain kNN", "NCA with kNN", *YARDSTICKS]
    assert len(study.accuracy) == 3
    assert (study.accuracy > 0.85).all(axis=None)
    assert study.comparison.expected_scores.tolist() == study.accuracy["gmlvq"].tolist()


def test_every_row_is_predicted_once_without_it():
    study = iris_study()
    predictions = study.comparison.predictions
    assert predictions.index.tolist() == list(range(1, 151))
    assert (predictions["true"].to_numpy() == load_iris().target.astype(str)).all()
    right = (predictions["true"] == predictions["predicted"]).groupby(predictions["fold"]).mean()
    assert_allclose(right, study.comparison.expected_scores)
    assert predictions["probability"].between(1 / 3, 1).all()


def test_the_probabilities_of_every_row_sum_to_one_and_hold_that_of_its_prediction():
    comparison = iris_study().comparison
    probabilities, predictions = comparison.probabilities, comparison.predictions
    assert list(probabilities) == ["0", "1", "2"]
    assert probabilities.index.equals(predictions.index)
    assert ((probabilities >= 0) & (probabilities <= 1)).all(axis=None)
    assert_allclose(probabilities.sum(axis=1), 1)
    assert (probabilities.idxmax(axis=1) == predictions["predicted"]).all()
    assert_allclose(probabilities.max(axis=1), predictions["probability"])


@pytest.fixture(scope="module")
def several():
    """Three learners compared on a noisy table."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((60, 3)), columns=["a", "b", "c"])
    y = np.where(X["a"] + rng.standard_normal(60) > 0, "u", "v")
    names = ["grlvq", "gmlvq", "lmnn"]
    return X, compare(X, y, names, Methods(0), n_folds=3, report=lambda *_: None)


def test_predictions_are_those_of_the_models_chosen_without_the_row(several):
    X, comparison = several
    predictions = comparison.predictions
    for fold, model in enumerate(comparison.models, start=1):
        rows = predictions["fold"] == fold
        assert (model.predict(X[rows]) == predictions.loc[rows, "predicted"]).all()
        assert_allclose(model.predict_proba(X[rows]), comparison.probabilities[rows])
        assert predictions.loc[rows, "by"].nunique() == 1
        assert type(model[-1]).__name__.lower() == predictions.loc[rows, "by"].iloc[0]


def test_the_predictions_of_each_method_give_its_scores(several):
    comparison = several[1]
    fold, true = comparison.predictions["fold"], comparison.predictions["true"]
    right = comparison.by_method.eq(true, axis=0).groupby(fold).mean()
    assert_allclose(right, comparison.accuracy)
    for name, found in comparison.by_method.items():
        assert comparison.score_of(name).value == (found == true).mean()


@pytest.mark.slow
def test_random_labels_are_predicted_at_chance():
    means = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        table = pd.DataFrame(rng.standard_normal((60, 4))).assign(y=rng.permutation(np.arange(60) % 2))
        X, y = table.drop(columns="y"), table["y"].to_numpy()
        means.append(
            compare(X, y, ["grlvq", "gmlvq", "lmnn"], Methods(seed), n_folds=5, report=lambda *_: None).expected
        )
    assert abs(np.mean(means) - 0.5) < 0.06


X = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 3)), columns=["a", "b", "noise"])
Y = (3 * X["a"] + X["b"]).to_numpy()


def test_the_linear_map_is_compared_with_simple_methods():
    comparison = compare(X, Y, (MINIMUM_NORM,), Methods(0), n_folds=3, report=lambda *_: None)
    assert list(comparison.accuracy) == [MINIMUM_NORM, "plain kNN", "ridge", "PLS", "mean", "random forest", "boosting"]
    assert comparison.n_learners == 1
    assert comparison.expected > 0.99
    assert comparison.predictions.index.tolist() == X.index.tolist()
    assert root_mean_squared_error(comparison.predictions) < 0.1
    assert comparison.expected == pytest.approx(r2_score(Y, comparison.predictions["predicted"]))
    assert comparison.score_of("mean").value == pytest.approx(r2_score(Y, comparison.by_method["mean"]))
    assert comparison.probabilities is None


def test_rivals_are_fitted_to_the_training_rows_of_the_same_folds():
    noisy = Y + np.random.default_rng(1).standard_normal(60)
    comparison = compare(X, noisy, (MINIMUM_NORM,), Methods(0), n_folds=3, report=lambda *_: None)
    fold = comparison.predictions["fold"]
    for number in (1, 2, 3):
        test = fold == number
        for name in (RIDGE, PLS):
            model = Methods(0).fitted(name, X[~test], noisy[~test])
            assert_allclose(model.predict(X[test]), comparison.by_method.loc[test, name])
            assert comparison.accuracy[name][number - 1] == pytest.approx(model.score(X[test], noisy[test]))


def test_the_directions_asked_for_are_used():
    model = Methods(0, effective_dim=2).fitted(MINIMUM_NORM, X, Y)
    assert model[-1].effective_dim == 2


def test_the_profile_of_a_target_of_numbers_sums_to_one():
    profile = profiles_of(FittedPipeline.of(Methods(0).fitted(MINIMUM_NORM, X, Y)), "y")
    assert profile["y"].sum() == pytest.approx(1)
    assert profile["y"].idxmax() == "a"


def test_all_directions_are_kept_where_a_column_hardly_varies():
    rare = pd.DataFrame({"a": [0.0] * 27 + [1.0, 2.0, 3.0]})
    model = Methods(0).fitted(MINIMUM_NORM, rare, Y[:30])
    assert model[-1].effective_dim is None


# The choice of a learner within a fold.


NAMES = ("grlvq", "gmlvq")


def fold_of(y):
    X = pd.DataFrame({"x": np.arange(len(y), dtype=float)})
    fold = FitRows(1, np.arange(len(y))[: len(y) // 2 * 2 - 4], np.arange(len(y))[-4:], NAMES)
    return fold, Fits(X, y, None, None, Methods(0), (fold,))


def test_parts_within_a_fold_divide_its_training_rows():
    fold, fits = fold_of(np.array(["u", "v"] * 20))
    parts = parts_within(fold, fits, NAMES)
    assert len(parts) == 3
    assert sorted(np.concatenate([part.test for part in parts])) == list(fold.train)
    for part in parts:
        assert (part.fold, part.names, part.within) == (1, NAMES, True)
        assert not set(part.train) & set(part.test)
        assert not {*part.train, *part.test} & set(fold.test)


def test_of_many_rows_a_sample_is_divided(monkeypatch):
    monkeypatch.setattr(comparison_module, "INNER_ROWS", 12)
    parts = parts_within(*fold_of(np.array(["u", "v"] * 20)), NAMES)
    assert sum(len(part.test) for part in parts) == 12


def test_where_every_class_has_one_row_nothing_is_chosen():
    assert parts_within(*fold_of(np.array(list("abcdefgh"))), NAMES) == []


@pytest.mark.parametrize(("good", "chosen"), [("grlvq", "grlvq"), ("gmlvq", "gmlvq")])
def test_the_learner_that_is_right_within_the_fold_is_chosen_and_the_models_of_others_are_dropped(good, chosen):
    y = np.array(["u", "v"] * 20)
    fold, fits = fold_of(y)
    within = parts_within(fold, fits, NAMES)
    found = FoldPredictions(fold, replace(fits, parts=(fold, *within)), NAMES, "accuracy", np.unique(y))
    models = {name: Methods(0).fitted(name, *fits.known(fold)) for name in NAMES}
    for part in (fold, *within):
        for name in NAMES:
            predicted = y[part.test] if name == good else np.full(len(part.test), "u")
            found.add(FitPredictions(part, name, predicted, None, None, None if part.within else models[name]))
    assert found.chosen == chosen
    assert found.model is models[chosen]
    assert found.scores == {name: 1.0 if name == good else 0.5 for name in NAMES}
    assert found.shares.shape == (4, 2)
    assert all(made.model is None for made in found.found.values())


def test_the_first_column_within_a_standard_error_of_the_best_is_chosen():
    best = [0.8, 0.9, 1.0]  # mean 0.9, standard error 0.058
    assert simplest_of_the_best(pd.DataFrame({"simple": [0.85] * 3, "complex": best})) == "simple"
    assert simplest_of_the_best(pd.DataFrame({"simple": [0.84] * 3, "complex": best})) == "complex"
    assert simplest_of_the_best(pd.DataFrame({"simple": [0.84], "complex": [0.85]})) == "complex"


# Held-out rows with a copy among the rows they were predicted from.


NOISE = np.random.default_rng(0).standard_normal((60, 2))


@pytest.fixture(scope="module")
def twice():
    """Rows without a pattern, of which forty stand twice: their copies are predicted right, the others by chance."""
    rows = rows_of_two_classes(60, a=NOISE[:, 0], b=NOISE[:, 1])
    return pd.concat([rows, rows[:40]], ignore_index=True)


def compared(table, **settings):
    X, y = table[["a", "b"]], table["y"].to_numpy()
    return X, compare(X, y, ["lmnn"], Methods(0), n_folds=5, report=lambda *_: None, **settings)


def test_only_copies_in_other_folds_count(twice):
    X, comparison = compared(twice)
    fold = comparison.predictions["fold"]
    pairs = [(row, row + 60) for row in range(40) if fold[row] != fold[row + 60]]
    assert np.flatnonzero(copies_across_folds(X, fold)).tolist() == sorted(sum(pairs, ()))


def test_the_score_without_copies_is_said(twice):
    X, comparison = compared(twice)
    copied = copies_across_folds(X, comparison.predictions["fold"])
    (said,) = caveats_of_copies(X, comparison)
    assert said.startswith(f"{copied.sum()} held-out rows have a copy among the rows they were predicted from; of the")
    right = 1 - comparison.wrong[~copied].mean()
    assert f"of the others, {right:.1%} ± " in said
    assert said.endswith("are predicted right.")
    assert right < comparison.expected - 0.1


def test_the_score_without_copies_counts_rows_by_their_weights(twice):
    X, comparison = compared(twice)
    copied = copies_across_folds(X, comparison.predictions["fold"])
    weights = pd.Series(np.random.default_rng(0).uniform(0.1, 3.0, 100))
    (said,) = caveats_of_copies(X, replace(comparison, weights=weights))
    assert f"of the others, {np.average(~comparison.wrong[~copied], weights=weights[~copied]):.1%} ± " in said
    (said,) = caveats_of_copies(X, replace(comparison, weights=pd.Series(1.0 * copied)))
    assert said == f"{copied.sum()} held-out rows have a copy among the rows they were predicted from."


def test_copies_that_are_held_out_together_are_no_caveat(twice):
    groups = pd.Series(twice.index % 60, name="patient")
    assert caveats_of_copies(*compared(twice, groups=groups)) == []


def test_copies_of_measured_rows_are_said_too():
    X, y = pd.DataFrame(np.vstack([NOISE, NOISE[:20]]), columns=["a", "b"]), np.tile(NOISE[:, 0], 2)[:80]
    settings = {"n_folds": 5, "report": lambda *_: None}
    (said,) = caveats_of_copies(X, compare(X, y, (MINIMUM_NORM,), Methods(0), **settings))
    assert said.endswith("of the variance is explained.")


def test_a_table_of_copies_says_nothing_about_new_rows():
    rows = rows_of_two_classes(20, a=NOISE[:20, 0], b=NOISE[:20, 1])
    X, comparison = compared(pd.concat([rows] * 6, ignore_index=True))
    assert caveats_of_copies(X, comparison) == [
        "Every held-out row has a copy among the rows it was predicted from: nothing here says how well new rows are "
        "predicted."
    ]


def test_a_study_says_it():
    table = of_patients(20, 2)
    table = pd.concat([table, table[:6]], ignore_index=True).drop(columns="patient")
    study = wn.study(table, "y", learner="grlvq", splitting=wn.Splitting(folds=3))
    (said,) = (caveat for caveat in study.caveats if "a copy among the rows" in caveat)
    assert said == caveats_of_copies(study.problem.X, study.comparison)[0]


def test_one_row_with_a_copy_is_one_row():
    rows = rows_of_two_classes(60, a=NOISE[:, 0], b=NOISE[:, 1])
    rows.loc[59, ["a", "b"]] = rows.loc[0, ["a", "b"]]
    X, comparison = compared(rows, groups=TimeOrder(np.arange(60.0), "day"))
    (said,) = caveats_of_copies(X, comparison)
    assert said.startswith("1 held-out row has a copy among the rows it was predicted from; of the others, ")
