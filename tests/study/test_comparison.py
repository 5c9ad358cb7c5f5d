from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier

from tests.helpers.studies import iris_study
from whynear.study.comparison import Comparison, compare_classifiers, simplest_of_the_best
from whynear.study.methods import Methods


@pytest.fixture
def comparison():
    accuracy = pd.DataFrame({"grlvq": [0.5, 1.0], "gmlvq": [1.0, 1.0], "plain kNN": [0.0, 0.5], "NCA with kNN": 0.5})
    held_out = pd.DataFrame({"true": ["u", "v", "v"], "predicted": ["u", "u", "v"], "fold": [1, 2, 1]})
    return Comparison(accuracy, "gmlvq", pd.Series([0.5, 1.0]), held_out, held_out=held_out, models=("one", "two"))


def test_scores_are_summed_up_by_method(comparison):
    first = comparison.methods[0]
    assert (first.name, first.mean, first.by_fold) == ("grlvq", 0.75, (0.5, 1.0))
    assert first.deviation == pytest.approx(np.std([0.5, 1.0], ddof=1))
    assert comparison.expected == 0.75


def test_baselines_are_no_learners(comparison):
    assert comparison.n_learners == 2


def test_wrong_predictions_are_marked(comparison):
    assert comparison.wrong.tolist() == [False, True, False]


def test_a_row_has_the_model_of_the_fold_that_held_it_out(comparison):
    learner = DummyClassifier().fit([[0.0]], ["u"])
    assert replace(comparison, models=(learner, learner)).model_without(0) is None
    models = iris_study().comparison.models
    folds = iris_study().comparison.held_out["fold"]
    assert iris_study().comparison.model_without(7) is models[folds.iloc[7] - 1]


def test_the_first_column_within_a_standard_error_of_the_best_is_chosen():
    best = [0.8, 0.9, 1.0]  # mean 0.9, standard error 0.058
    assert simplest_of_the_best(pd.DataFrame({"simple": [0.85] * 3, "complex": best})) == "simple"
    assert simplest_of_the_best(pd.DataFrame({"simple": [0.84] * 3, "complex": best})) == "complex"
    assert simplest_of_the_best(pd.DataFrame({"simple": [0.84], "complex": [0.85]})) == "complex"


def test_all_methods_are_judged_on_the_same_held_out_folds():
    study = iris_study()
    assert list(study.accuracy.columns) == ["gmlvq", "plain kNN", "NCA with kNN"]
    assert len(study.accuracy) == 3
    assert (study.accuracy > 0.85).all(axis=None)
    assert study.comparison.expected_scores.tolist() == study.accuracy["gmlvq"].tolist()


def test_every_row_is_predicted_once_without_it():
    study = iris_study()
    predictions = study.comparison.predictions
    assert predictions.index.tolist() == list(range(150))
    assert (predictions["true"].to_numpy() == load_iris().target.astype(str)).all()
    right = (predictions["true"] == predictions["predicted"]).groupby(predictions["fold"]).mean()
    assert_allclose(right, study.comparison.expected_scores)
    assert predictions["probability"].between(1 / 3, 1).all()


@pytest.mark.slow
def test_random_labels_are_predicted_at_chance():
    means = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        table = pd.DataFrame(rng.standard_normal((60, 4))).assign(y=rng.permutation(np.arange(60) % 2))
        X, y = table.drop(columns="y"), table["y"].to_numpy()
        means.append(
            compare_classifiers(
                X, y, ["grlvq", "gmlvq", "lmnn"], Methods(seed), n_folds=5, report=lambda *_: None
            ).expected
        )
    assert abs(np.mean(means) - 0.5) < 0.06
