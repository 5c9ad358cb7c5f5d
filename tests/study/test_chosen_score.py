"""The score that decides: which learner is chosen by it, and where it is said."""

import json
import shlex
from dataclasses import replace
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, roc_auc_score

import whynear as wn
from tests.helpers.command_line import run
from tests.helpers.studies import measured
from whynear.study.comparison import compare
from whynear.study.findings import findings_of
from whynear.study.methods import Methods
from whynear.study.score import NAMES
from whynear.study.settings import ClassScore, python_lines, shell_line

SCORES = get_args(ClassScore)
ORACLES = {
    "accuracy": lambda true, predicted, shares: accuracy_score(true, predicted),
    "balanced_accuracy": lambda true, predicted, shares: balanced_accuracy_score(true, predicted),
    "log_loss": lambda true, predicted, shares: log_loss(true, shares.to_numpy()),
    "roc_auc": lambda true, predicted, shares: roc_auc_score(true, shares.to_numpy()[:, 1]),
}


def imbalanced(n_rows=300, seed=0):
    """Of twenty rows one is rare: a column tells it in part, five others nothing."""
    rng = np.random.default_rng(seed)
    rare = np.arange(n_rows) % 20 == 0
    X = rng.standard_normal((n_rows, 6))
    X[:, 0] += 1.8 * rare
    return pd.DataFrame(X, columns=list("abcdef")).assign(y=np.where(rare, "rare", "usual"))


def compared(table, learners, measure, **settings):
    X, y = table.drop(columns="y"), table["y"].to_numpy()
    settings = {"n_folds": 3, "report": lambda *_: None, **settings}
    return compare(X, y, learners, Methods(0), measure=measure, **settings)


@pytest.fixture(scope="module")
def by_score():
    return {score: compared(imbalanced(), ["grlvq", "lmnn"], score) for score in SCORES}


def test_accuracy_prefers_the_majority_and_balanced_accuracy_does_not(monkeypatch):
    """One method names the usual class always, the other one the class that the column tells."""
    made = {"grlvq": DummyClassifier(strategy="prior"), "lmnn": LogisticRegression(class_weight="balanced")}
    other = DummyClassifier(strategy="uniform", random_state=0)
    monkeypatch.setattr(Methods, "fitted", lambda self, name, X, y, *_: clone(made.get(name, other)).fit(X, y))
    found = {score: compared(imbalanced(), ["grlvq", "lmnn"], score) for score in SCORES}
    assert [found[score].chosen for score in SCORES] == ["grlvq", "lmnn", "grlvq", "lmnn"]
    assert set(found["accuracy"].predictions["predicted"]) == {"usual"}
    assert found["accuracy"].expected == 0.95
    rare = found["balanced_accuracy"].predictions.query("true == 'rare'")
    assert (rare["predicted"] == "rare").mean() > 0.5
    assert found["balanced_accuracy"].expected > 0.7
    assert found["balanced_accuracy"].score_of("grlvq").value == 0.5


@pytest.mark.slow
@pytest.mark.parametrize("score", SCORES)
def test_every_method_is_scored_on_all_held_out_rows_as_by_scikit_learn(by_score, score):
    comparison, oracle = by_score[score], ORACLES[score]
    true = comparison.predictions["true"].to_numpy()
    assert comparison.measure == score
    assert comparison.expected == pytest.approx(
        oracle(true, comparison.predictions["predicted"], comparison.probabilities)
    )
    for method in comparison.methods:
        shares = comparison.probabilities_by_method.get(method.name)
        assert method.score.value == pytest.approx(oracle(true, comparison.by_method[method.name], shares))
        for fold, found in enumerate(method.by_fold, start=1):
            rows = (comparison.predictions["fold"] == fold).to_numpy()
            held = None if shares is None else shares[rows]
            assert found == pytest.approx(oracle(true[rows], comparison.by_method[method.name][rows], held))
        if shares is not None:
            assert ((shares >= 0) & (shares <= 1)).to_numpy().all()
            assert np.allclose(shares.sum(axis=1), 1.0)


def test_accuracy_is_the_same_to_the_bit_whatever_decides(by_score):
    usual = compared(imbalanced(), ["grlvq", "lmnn"], "accuracy")
    by_default = compare(
        imbalanced().drop(columns="y"),
        imbalanced()["y"].to_numpy(),
        ["grlvq", "lmnn"],
        Methods(0),
        n_folds=3,
        report=lambda *_: None,
    )
    pd.testing.assert_frame_equal(usual.predictions, by_default.predictions, check_exact=True)
    assert usual.scores.equals(usual.accuracy)
    for comparison in by_score.values():
        pd.testing.assert_frame_equal(comparison.accuracy, by_default.accuracy, check_exact=True)
        assert comparison.right_by("lmnn") == by_default.score_of("lmnn")


def test_a_small_log_loss_is_chosen(by_score):
    comparison = by_score["log_loss"]
    means = comparison.scores[["grlvq", "lmnn"]].mean()
    assert means["grlvq"] < means["lmnn"]
    assert comparison.chosen == "grlvq"


@pytest.fixture(scope="module")
def study():
    return wn.study(imbalanced(), "y", learner="grlvq", score="balanced_accuracy", splitting=wn.Splitting(folds=3))


@pytest.mark.slow
def test_the_score_is_named_wherever_results_are_stated(study, tmp_path):
    score, right = study.comparison.score, study.comparison.right
    said = f"GRLVQ predicts held-out cases with a score of {score} (balanced accuracy), plain kNN "
    assert said in study.finding()
    assert f"and {right} of them right; " in study.finding()
    study.save(tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"The balanced accuracy of held-out predictions is {score}: what to expect on new cases" in page
    assert "It is the mean recall of the classes." in page
    assert f"{right} of held-out cases are predicted right." in page
    assert "What is lost without features is stated in points of accuracy." in page
    assert '<th class="number">balanced accuracy</th><th class="number">held-out cases right</th>' in page
    for method in study.comparison.methods:
        both = f'<td class="number">{method.score}</td><td class="number">{study.comparison.right_by(method.name)}</td>'
        assert both in page
    held = json.loads((tmp_path / "study.json").read_text(encoding="utf-8"))
    assert (held["measure"], held["given"]["score"]) == ("balanced_accuracy", "balanced_accuracy")
    assert held["settings"]["score"] == "balanced_accuracy"
    assert held["expected"] == score.value
    assert held["scores"]["grlvq"] == study.scores["grlvq"].tolist()
    assert held["accuracy"]["grlvq"] == study.accuracy["grlvq"].tolist() != held["scores"]["grlvq"]
    assert pd.read_csv(tmp_path / "scores.csv")["grlvq"].tolist() == pytest.approx(study.scores["grlvq"])
    assert "balanced accuracy" in study._repr_html_()


@pytest.mark.slow
def test_the_lines_that_repeat_a_study_name_the_score(study):
    asked = "rare.csv", "y", study.inputs
    assert "score='balanced_accuracy'" in python_lines(*asked)
    assert "--score balanced_accuracy" in shell_line(*asked)


def test_true_classes_of_probability_zero_are_counted(study):
    shares = study.comparison.probabilities.copy()
    shares.iloc[0] = [0.0, 1.0]  # the first row is rare
    comparison = replace(study.comparison, measure="log_loss", probabilities=shares)
    comparison = replace(comparison, probabilities_by_method=dict.fromkeys(comparison.by_method, shares))
    caveats = findings_of(study.problem, comparison, study.interpretation, study.verdicts).caveats
    assert (
        "1 held-out case has a true class of probability 0, for which the log loss has no limit: each counts as 36, "
        "and few of them decide the score."
    ) in caveats


@pytest.mark.slow
def test_predictions_that_ignore_the_features_are_found_by_every_score():
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.standard_normal((120, 3)), columns=list("abc")).assign(y=rng.permutation(["u", "v"] * 60))
    study = wn.study(table, "y", learner="grlvq", score="log_loss", splitting=wn.Splitting(folds=2))
    for score in ("balanced_accuracy", "log_loss", "roc_auc"):
        comparison = replace(study.comparison, measure=score)
        caveats = findings_of(study.problem, comparison, study.interpretation, study.verdicts).caveats
        assert any(f"hardly better than those that ignore the features ({NAMES[score]} " in said for said in caveats)


def test_scores_of_two_studies_are_compared_if_they_are_of_one_kind(study):
    said = " ".join(wn.compare_studies(study, study).sentences())
    assert "(balanced accuracy): the difference of +0.0 ± 0.0 points is not more than twice" in said
    usual = replace(study, comparison=replace(study.comparison, measure="accuracy"))
    with pytest.raises(ValueError, match=r"by balanced_accuracy and .* the same score \(--score\)"):
        wn.compare_studies(study, usual)


def test_a_score_of_classes_is_refused_for_numbers_with_the_way_out():
    with pytest.raises(ValueError, match=r"roc_auc scores classes. .* \(--bins 3\), or leave out --score"):
        wn.study(measured(40), "y", score="roc_auc")
    with pytest.raises(ValueError, match=r"There is no score 'f1'. Use one of accuracy, .* \(--score\)"):
        wn.study(measured(40), "y", score="f1")


@pytest.mark.slow
@pytest.mark.usefixtures("blank_figures")
def test_the_command_line_takes_a_score(tmp_path):
    path = tmp_path / "rare.csv"
    imbalanced(120).to_csv(path, index=False)
    words = shlex.split(f"study {path} --target y --learner grlvq --folds 2 --score roc_auc --out {tmp_path / 'out'}")
    done = run(*words)
    assert done.exit_code == 0, done.output
    assert "(area under the ROC curve)" in " ".join(done.stdout.split())
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "--score roc_auc" in page
    assert "the mean weighted by their cases" in page
