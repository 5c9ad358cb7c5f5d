"""Studies of rows that belong together: no group is in both parts of a split, wherever rows are held out."""

import json
import shlex
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

import whynear as wn
from tests.helpers.command_line import run
from tests.helpers.studies import of_patients
from whynear.learn.registry import MINIMUM_NORM
from whynear.study.comparison import compare
from whynear.study.methods import PLAIN, Methods
from whynear.study.settings import python_lines, shell_line

FEATURES = ["nose", "chin", "brow", "sign"]
SAID = "Rows with the same 'patient' were always held out together."


@pytest.fixture(scope="module")
def table():
    return of_patients(40)


@pytest.fixture(scope="module")
def study(table):
    return wn.study(table, "y", learner="lmnn", splitting=wn.Splitting(folds=4, group="patient"))


def compared(table, **settings):
    X, y = table[FEATURES], table["y"].to_numpy()
    return compare(X, y, ["lmnn"], Methods(0), n_folds=4, report=lambda *_: None, **settings)


def groups_in(table):
    return pd.Series(pd.factorize(table["patient"])[0], table.index, name="patient")


@pytest.mark.slow
def test_ignoring_the_groups_gives_twenty_points_too_much_and_with_them_the_truth_comes_out():
    new = of_patients(500, seed=99)
    ignored, kept, truth = [], [], []
    for seed in range(8):
        table = of_patients(40, seed=seed)
        comparison = compared(table, groups=groups_in(table))
        ignored.append(compared(table).expected)
        kept.append(comparison.expected)
        truth.append(np.mean([model.predict(new[FEATURES]) == new["y"].to_numpy() for model in comparison.models]))
        assert ignored[-1] - truth[-1] > 0.2
        assert abs(kept[-1] - truth[-1]) < 3 * comparison.expected_error
    assert np.mean(kept) == pytest.approx(np.mean(truth), abs=0.05)


@pytest.mark.slow
def test_the_score_of_a_study_is_that_of_new_patients(table, study):
    assert compared(table).expected - study.comparison.expected > 0.2
    assert study.comparison.expected == compared(table, groups=groups_in(table)).expected


@pytest.mark.slow
def test_who_the_patient_is_decides_nothing_about_new_patients(table, study):
    assert not study.verdicts.works  # 40 patients show nothing
    assert set(study.verdicts.named("undecided")) == set(FEATURES)
    ignoring = wn.verdicts(study.model, table[FEATURES], table["y"].to_numpy())
    assert ignoring.works
    assert {"nose", "chin", "brow"} & set(ignoring.named("replaceable") + ignoring.named("indispensable"))


@pytest.mark.slow
def test_a_patient_is_in_one_fold_and_is_no_feature(table, study):
    assert list(study.problem.X) == FEATURES
    assert (study.comparison.predictions["fold"].groupby(table["patient"].to_numpy()).nunique() == 1).all()


@pytest.mark.slow
def test_what_is_held_out_together_is_said(study, tmp_path):
    assert study.finding().endswith(SAID)
    study.save(tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "what to expect on new cases whose “patient” is new too (± standard error over 40 groups)." in page
    assert "Wherever rows were held out, rows with the same “patient” were held out together." in page
    assert "<dt>group</dt><dd>patient</dd>" in page
    assert json.loads((tmp_path / "study.json").read_text(encoding="utf-8"))["settings"]["group"] == "patient"


@pytest.mark.slow
def test_the_lines_that_repeat_the_study_name_the_groups(study):
    asked = "patients.csv", "y", study.inputs
    assert "group='patient'" in python_lines(*asked)
    assert "--group patient" in shell_line(*asked)


@pytest.mark.slow
@pytest.mark.usefixtures("blank_figures")
def test_the_command_line_takes_groups_and_refuses_too_few(tmp_path):
    path = tmp_path / "patients.csv"
    of_patients(12, 4).to_csv(path, index=False)
    words = shlex.split(f"study {path} --target y --learner grlvq --folds 20 --out {tmp_path / 'out'}")
    done = run(*words, "--group", "patient")
    assert done.exit_code == 0, done.output
    assert "group 'patient': 12 groups, each held out as a whole" in done.stdout
    assert "Class 'ill' occurs in 6 groups of 'patient', so 6 folds were made instead of 20." in " ".join(
        done.stdout.split()
    )
    of_patients(12, 4).assign(patient="P1").to_csv(path, index=False)
    refused = run(*words, "--group", "patient")
    assert refused.exit_code == 2
    assert "column 'patient' holds the single group 'P1'" in " ".join(refused.stderr.split())


def test_the_choice_among_learners_keeps_groups_together(table, monkeypatch):
    seen = []

    def watched(self, name, X, y, groups=None, weights=None):
        seen.append((set(table.loc[X.index, "patient"]), set(groups)))
        return fitted(self, name, X, y, groups, weights)

    fitted = Methods.fitted
    monkeypatch.setattr(Methods, "fitted", watched)
    y = table["y"].to_numpy()
    compare(
        table[FEATURES], y, ["grlvq", "gmlvq"], Methods(0), n_folds=2, report=lambda *_: None, groups=groups_in(table)
    )
    # Seven methods are fitted to each of two folds, and two learners to each of three inner folds within them.
    assert len(seen) == 2 * (7 + 2 * 3)
    for patients, numbers in seen:
        assert len(patients) == len(numbers)
    of_fold = sorted((patients for patients, _ in seen[:13]), key=len, reverse=True)
    outer, inner = of_fold[:7], of_fold[7:]
    assert all(patients < outer[0] for patients in inner)
    rows_of = table.groupby("patient").size()
    assert all(rows_of[list(patients)].sum() == 5 * len(patients) for patients in inner)


@pytest.fixture(scope="module")
def measured():
    """A number for each patient, known only from other rows of the patient."""
    table = of_patients(40)
    codes = groups_in(table)
    return table[FEATURES], np.random.default_rng(2).standard_normal(40)[codes], codes


@pytest.mark.slow
def test_numbers_of_groups_are_not_predicted_from_rows_of_the_same_group(measured):
    X, y, groups = measured
    settings = {"n_folds": 4, "report": lambda *_: None}
    ignored = compare(X, y, (MINIMUM_NORM,), Methods(0), **settings)
    kept = compare(X, y, (MINIMUM_NORM,), Methods(0), **settings, groups=groups)
    assert ignored.score_of(PLAIN).value > 0.9
    assert kept.score_of(PLAIN).value < 0.2
    assert kept.score_of(PLAIN).error > 1.5 * ignored.score_of(PLAIN).error
    assert (kept.predictions["fold"].groupby(groups).nunique() == 1).all()


def test_directions_are_chosen_with_groups_together(measured, monkeypatch):
    X, y, groups = measured
    given = []

    def watched(*words, **named):
        given.append(named)
        return wn.effective_dimension(*words, **named)

    monkeypatch.setattr(import_module("whynear.study.methods"), "effective_dimension", watched)
    Methods(0).fitted(MINIMUM_NORM, X, y, groups)
    assert given[0]["groups"] is groups


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_few_groups_of_few_rows_are_studied_all_the_same(kind):
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.standard_normal((16, 3)), columns=["a", "b", "c"]).assign(site=np.arange(16) // 4)
    if kind == "classes":
        study = wn.study(
            table.assign(y=np.tile(["u", "v"], 8)), "y", learner="grlvq", splitting=wn.Splitting(group="site")
        )
    else:
        study = wn.study(table.assign(y=rng.standard_normal(16)), "y", splitting=wn.Splitting(group="site"))
    assert "Column 'site' has 4 groups, so 4 folds were made instead of 5." in study.caveats
    assert np.isfinite(study.comparison.expected_error)
