"""Studies of rows and classes that count differently."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import accuracy_score, balanced_accuracy_score, r2_score, recall_score

import whynear as wn
from tests.helpers.command_line import run
from tests.helpers.studies import measured
from whynear.data.rows import TimeOrder
from whynear.learn.registry import MINIMUM_NORM
from whynear.study.comparison import compare
from whynear.study.learning import caveats_of_weights
from whynear.study.methods import RIDGE, Methods
from whynear.study.settings import python_lines, shell_line

pytestmark = pytest.mark.slow  # whole studies


def imbalanced(n_rows=300, seed=0):
    """Of ten rows one is rare, which a column tells in part; the weights make rows count up to three times."""
    rng = np.random.default_rng(seed)
    rare = np.arange(n_rows) % 10 == 0
    X = rng.standard_normal((n_rows, 3))
    X[:, 0] += 1.5 * rare
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    return table.assign(size=rng.integers(0, 4, n_rows), y=np.where(rare, "rare", "usual"))


@pytest.fixture(scope="module")
def table():
    return imbalanced()


@pytest.fixture(scope="module")
def study(table):
    return wn.study(
        table,
        "y",
        learner="grlvq",
        splitting=wn.Splitting(folds=2),
        reading=wn.Reading(weight="size"),
        class_weight="balanced",
        score="balanced_accuracy",
    )


@pytest.mark.parametrize("name", ["grlvq", "lgmlvq"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_row_of_weight_two_counts_as_two_through_the_pipeline(table, name, class_weight):
    X, y, weights = table[["a", "b", "c"]], table["y"].to_numpy(), table["size"]
    copied = np.repeat(np.arange(len(X)), weights)
    methods = Methods(0, class_weight=class_weight)
    weighted, repeated = methods.fitted(name, X, y, None, weights), methods.fitted(name, X.iloc[copied], y[copied])
    assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-3)
    assert np.mean(weighted.predict(X) == repeated.predict(X)) > 0.99


@pytest.mark.parametrize("name", ["lmnn", "lann"])
def test_a_row_of_weight_zero_is_left_out_where_training_rows_vote(table, name):
    X, y, weights = table[["a", "b", "c"]][:150], table["y"].to_numpy()[:150], table["size"][:150]
    groups, kept = pd.Series(np.arange(150) // 5, X.index, name="group"), weights > 0
    methods = Methods(0, class_weight="balanced")
    weighted = methods.fitted(name, X, y, groups, weights)
    left = methods.fitted(name, X[kept], y[kept], groups[kept], weights[kept])
    assert weighted[-1].class_weight == "balanced"
    assert len(weighted[-1].codes_) == kept.sum()
    assert_allclose(weighted.predict_proba(X), left.predict_proba(X), atol=1e-3)
    plain = Methods(0).fitted(name, X[kept], y[kept], groups[kept])
    assert not np.allclose(weighted.predict_proba(X), plain.predict_proba(X), atol=1e-3)


def test_weights_of_one_change_no_bit(table):
    X, y = table[["a", "b", "c"]], table["y"].to_numpy()
    settings = {"n_folds": 2, "report": lambda *_: None}
    found = [
        compare(X, y, ["grlvq", "gmlvq"], Methods(0), weights=weights, **settings)
        for weights in (None, pd.Series(np.ones(len(X))))
    ]
    assert found[0].chosen == found[1].chosen
    pd.testing.assert_frame_equal(found[0].by_method, found[1].by_method)
    pd.testing.assert_frame_equal(found[0].probabilities, found[1].probabilities, check_exact=True)


def test_numbers_are_fitted_with_weights():
    table = measured(60)
    X, y = table.drop(columns="y"), table["y"].to_numpy()
    weights = pd.Series(np.random.default_rng(0).integers(0, 4, 60).astype(float))
    copied = np.repeat(np.arange(60), weights.astype(int))
    for name in (MINIMUM_NORM, RIDGE):
        weighted, repeated = (
            Methods(0).fitted(name, X, y, None, weights),
            Methods(0).fitted(name, X.iloc[copied], y[copied]),
        )
        assert_allclose(weighted.predict(X), repeated.predict(X), atol=0.05)
    one, other = (Methods(0, effective_dim=3).fitted(MINIMUM_NORM, X, y, None, w) for w in (None, weights))
    assert not np.allclose(one.predict(X), other.predict(X), atol=1e-9)
    settings = {"n_folds": 2, "report": lambda *_: None}
    methods = Methods(0, effective_dim=3)
    assert not compare(X, y, (MINIMUM_NORM,), methods, weights=weights, **settings).by_method.equals(
        compare(X, y, (MINIMUM_NORM,), methods, **settings).by_method
    )
    study = wn.study(
        table.assign(size=weights), "y", reading=wn.Reading(weight="size"), splitting=wn.Splitting(folds=2)
    )
    assert "size" not in study.problem.X
    assert caveats_of_weights(study.inputs)[0] in study.caveats


def test_held_out_classes_count_by_their_weights(table, study):
    held, found = study.comparison.predictions, study.comparison.by_method["grlvq"]
    weights = pd.Series(table["size"].to_numpy(), held.index)
    settings = {"y_true": held["true"], "y_pred": held["predicted"], "sample_weight": weights}
    assert study.comparison.expected == pytest.approx(balanced_accuracy_score(**settings))
    assert study.comparison.right.value == pytest.approx(accuracy_score(**settings))
    for fold, rows in held.groupby("fold"):
        parts, counted = (rows["true"], found[rows.index]), {"sample_weight": weights[rows.index]}
        assert study.comparison.scores["grlvq"][fold - 1] == pytest.approx(balanced_accuracy_score(*parts, **counted))
        assert study.comparison.accuracy["grlvq"][fold - 1] == pytest.approx(accuracy_score(*parts, **counted))


def test_held_out_numbers_count_by_their_weights():
    table = measured(60)
    weights = pd.Series(np.random.default_rng(0).integers(0, 4, 60).astype(float))
    study = wn.study(
        table.assign(size=weights), "y", reading=wn.Reading(weight="size"), splitting=wn.Splitting(folds=2)
    )
    comparison = study.comparison
    held = comparison.predictions.reset_index(drop=True)
    expected = r2_score(held["true"], held["predicted"], sample_weight=weights)
    assert comparison.expected == pytest.approx(expected)
    rows = held[held["fold"] == 1].index
    of_fold = r2_score(held["true"][rows], held["predicted"][rows], sample_weight=weights[rows])
    assert comparison.scores[MINIMUM_NORM][0] == pytest.approx(of_fold)
    copies = held.loc[np.repeat(held.index, weights.astype(int))]
    error, spread = np.sqrt(np.square(copies["true"] - copies["predicted"]).mean()), np.std(copies["true"])
    said = (
        f"typical error of {error:.3g}, where always predicting the mean gives {spread:.3g}: it explains {expected:.1%}"
    )
    assert any(said in sentence for sentence in study.findings.sentences)


@pytest.mark.parametrize("numeric", [False, True])
def test_a_fold_without_weights_has_no_score(numeric):
    table = measured(40)
    X, times = table.drop(columns="y"), TimeOrder(np.arange(40))
    weights = pd.Series(np.r_[np.ones(30), np.zeros(10)])
    settings = {"n_folds": 3, "report": lambda *_: None, "groups": times, "weights": weights}
    if numeric:
        found = compare(X, table["y"].to_numpy(), (MINIMUM_NORM,), Methods(0, effective_dim=2), **settings)
    else:
        labels = np.where(np.arange(40) % 2 > 0, "u", "v")
        found = compare(X, labels, ["grlvq", "gmlvq"], Methods(0), **settings)
    assert found.scores.iloc[:2].notna().all(axis=None)
    assert found.scores.iloc[2].isna().all()
    assert np.isfinite([found.expected, found.expected_error]).all()


def test_the_learner_is_chosen_by_the_rows_that_count():
    """No line parts a disc from what is around it, which does not matter where the disc hardly counts."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((200, 2)), columns=["a", "b"])
    inside = np.hypot(X["a"], X["b"]) < 1.0
    y, settings = np.where(inside, "in", "out"), {"n_folds": 3, "report": lambda *_: None}
    found = {
        light: compare(X, y, ["grlvq", "lmnn"], Methods(0), weights=pd.Series(np.where(inside, light, 1.0)), **settings)
        for light in (1.0, 1e-9)
    }
    assert found[1.0].chosen == "lmnn"
    assert found[1.0].predictions["by"].unique().tolist() == ["lmnn"]
    assert found[1e-9].chosen == "grlvq"
    assert found[1e-9].predictions["by"].unique().tolist() == ["grlvq"]
    assert found[1e-9].expected == pytest.approx(1.0)


def test_balanced_classes_find_more_of_the_rare_one(table, study):
    plain = compare(
        table[["a", "b", "c"]], table["y"].to_numpy(), ["grlvq"], Methods(0), n_folds=2, report=lambda *_: None
    )
    recall = [
        recall_score(one.predictions["true"], one.predictions["predicted"], pos_label="rare")
        for one in (plain, study.comparison)
    ]
    assert recall[1] > recall[0] + 0.2
    assert study.model[-1].class_weight == "balanced"


def test_what_weights_do_is_said(study, tmp_path):
    assert caveats_of_weights(study.inputs)[0] in study.caveats
    assert list(study.problem.X) == ["a", "b", "c"]
    study.save(tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<dt>weight</dt><dd>size</dd>" in page
    assert "<dt>class_weight</dt><dd>balanced</dd>" in page
    held = json.loads((tmp_path / "study.json").read_text(encoding="utf-8"))["settings"]
    assert (held["weight"], held["class_weight"]) == ("size", "balanced")
    assert wn.load(tmp_path / "model.whynear")[-1].class_weight == "balanced"


def test_the_lines_that_repeat_the_study_name_the_weights(study):
    asked = "rare.csv", "y", study.inputs
    assert "class_weight='balanced'" in python_lines(*asked)
    assert "weight='size'" in python_lines(*asked)
    assert "--class-weight balanced" in shell_line(*asked)
    assert "--weight size" in shell_line(*asked)


@pytest.mark.usefixtures("blank_figures")
def test_the_command_line_takes_weights(tmp_path):
    path = tmp_path / "rare.csv"
    imbalanced(120).to_csv(path, index=False)
    words = shlex.split(f"study {path} --target y --learner grlvq --folds 2 --out {tmp_path / 'out'}")
    done = run(*words, "--weight", "size", "--class-weight", "balanced")
    assert done.exit_code == 0, done.output
    assert "Weights count when learners are fitted" in " ".join(done.stdout.split())
    imbalanced(120).assign(size=-1).to_csv(path, index=False)
    refused = run(*words, "--weight", "size", "--overwrite")
    assert refused.exit_code == 2
    assert "column 'size' holds '-1' in row 1; a weight must be" in " ".join(refused.stderr.split())


def test_tolerance_and_verdicts_refit_the_learner_with_weights(table, monkeypatch):
    seen = []

    def watched(self, X, y, sample_weight=None):
        seen.append(None if sample_weight is None else np.asarray(sample_weight).tolist())
        return fit(self, X, y, sample_weight)

    fit = wn.GRLVQ.fit
    monkeypatch.setattr(wn.GRLVQ, "fit", watched)
    size = np.arange(len(table)) + 1.0
    wn.study(
        table.assign(size=size),
        "y",
        learner="grlvq",
        splitting=wn.Splitting(folds=2),
        reading=wn.Reading(weight="size"),
    )
    assert len(seen) > 2 + 1 + 5 + 4  # folds, all rows, and the folds of the tolerance and of the verdicts
    for weights in seen:
        assert set(weights) <= set(size)
