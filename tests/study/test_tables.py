"""Studies of tables with categories, gaps, names of rows and measured targets."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import whynear as wn
from tests.helpers.problems import problem_of
from tests.helpers.studies import measured
from whynear import doors
from whynear.data.problem import preview, row_names, summary


def mixed(n=240, seed=0):
    """The outcome follows from size and colour; the other columns are noise."""
    rng = np.random.default_rng(seed)
    colour, size = rng.choice(["red", "green", "blue"], n), rng.standard_normal(n)
    table = pd.DataFrame({"size": size, "colour": colour, "sex": rng.choice(["f", "m"], n), "z": rng.random(n)})
    return table.assign(outcome=np.where((colour == "red") ^ (size > 0), "yes", "no"))


@pytest.fixture(scope="module")
def study():
    table = mixed()
    table.loc[[3, 5, 7], "size"] = None
    table.loc[[2, 9], "colour"] = None
    return wn.study(
        table,
        "outcome",
        learner="lgmlvq",
        reading=wn.Reading(categories="onehot", impute="median"),
        splitting=wn.Splitting(folds=3),
    )


def test_relevance_is_stated_for_the_columns_of_the_table(study):
    frame = study.frame().set_index("feature")
    assert sorted(frame.index) == ["colour", "sex", "size", "z"]
    assert frame.loc[["colour", "size"], "verdict"].tolist() == ["indispensable", "indispensable"]
    assert set(frame.loc[["sex", "z"], "verdict"]) <= {"no evidence", "undecided"}
    assert study.profiles.index.tolist() == ["size", "colour", "sex", "z"]
    assert "“colour”" in study.finding()


@pytest.mark.usefixtures("blank_figures")
def test_what_was_filled_in_is_said_and_kept_in_the_model(study, tmp_path):
    numbers, categories = [text for text in study.caveats if "filled in" in text]
    assert numbers.startswith("3 missing values were filled in by the median of the column, in column 'size'")
    assert categories.startswith("2 missing categories were filled in by the most frequent one of the column, 2 by '")
    with pytest.warns(UserWarning, match="contains the 2 anchors of a local metric"):
        written = study.save(tmp_path)
    model = wn.load(tmp_path / "model.whynear")
    assert model[0].n_filled_ == {"size": 3, "colour": 2}
    fresh = mixed(50, seed=1)
    assert np.mean(model.predict(fresh.drop(columns="outcome")) == fresh["outcome"]) > 0.85
    held = json.loads((tmp_path / "study.json").read_text())
    assert held["columns"][1] == {"column": "colour", "kind": "categories", "missing": 2, "distinct": 3}
    assert held["settings"]["impute"] == "median"
    assert held["measure"] == "accuracy"
    assert (tmp_path / "scores.csv") in written


def test_cases_are_explained_in_the_columns_of_the_table(study):
    assert study.cases
    for case in study.cases:
        assert case.why.values.index.tolist() == ["size", "colour", "sex", "z"]
        assert case.why.nearest.values["colour"] in ("red", "green", "blue")
        assert_allclose(case.why.contributions.sum(axis=1), case.why.neighbors["sq_distance"])


def test_gaps_and_text_are_refused_if_the_study_is_strict():
    table = mixed()
    with pytest.raises(ValueError, match=r"2 of 4 columns are not numeric: .* \(--category 'colour'\)") as error:
        wn.study(table, "outcome", reading=wn.Reading(strict=True))
    assert error.value.__notes__ == ["Try: reading=wn.Reading(category=['colour', 'sex'], strict=True)"]
    table.loc[[1, 4], "z"] = None
    with pytest.raises(ValueError, match=r"NaN: 2 in column 'z'. Fill them in \(--impute median\)"):
        wn.study(table, "outcome", reading=wn.Reading(categories="onehot", strict=True))


def test_what_cannot_be_learned_from_is_refused():
    table = mixed()
    table["colour"] = [f"shade {i}" for i in range(len(table))]
    with pytest.raises(ValueError, match="'colour' holds 240 different texts, such as 'shade 0'"):
        wn.study(table, "outcome", reading=wn.Reading(categories="onehot", impute="median"))
    table = mixed().assign(z=[np.inf, *[0.5] * 239])
    with pytest.raises(ValueError, match="infinity"):
        wn.study(table, "outcome", reading=wn.Reading(categories="onehot", impute="median"))
    table = mixed().assign(z=pd.Timestamp("2020-01-01"))
    with pytest.raises(ValueError, match="'z' \\(dates"):
        wn.study(table, "outcome", reading=wn.Reading(categories="onehot"))


def test_rows_without_a_target_are_left_out_on_request():
    table = mixed().drop(columns=["colour", "sex"])
    table.loc[[0, 5], "outcome"] = [None, " "]
    with pytest.raises(ValueError, match=r"2 values of the target .* rows 1, 6 .*--drop-missing-target"):
        problem_of(table, "outcome")
    problem = problem_of(table, "outcome", drop_missing_target=True)
    assert len(problem.X) == 238
    assert problem.caveats[0] == "2 rows have no value of the target and were left out."


def test_rows_keep_their_names():
    table = mixed(60).drop(columns=["colour", "sex"]).assign(patient=[f"P{i}" for i in range(60)])
    study = wn.study(
        table, "outcome", reading=wn.Reading(index="patient"), learner="grlvq", splitting=wn.Splitting(folds=2)
    )
    assert study.comparison.predictions.index[0] == "P0"
    assert "patient" not in study.problem.X
    assert study.cases[0].row.startswith("P")


def test_columns_are_previewed():
    table = pd.DataFrame(
        {"a": [0.5, 1.5, None], "n": [3, 1, 2], "b": [0, 1, 1], "c": ["x", "y", "x"], "e": [np.nan] * 3, "k": 1}
    )
    found = preview(table)
    kinds = ["numbers", "whole numbers", "yes or no", "categories", "empty", "constant"]
    assert found["kind"].tolist() == kinds
    assert found["missing"].tolist() == [1, 0, 0, 0, 3, 0]
    assert summary(found, 3).endswith("; 4 values missing in 2 columns")
    assert row_names(pd.DataFrame({"Patient ID": [7, 3, 9], "n": [7, 3, 9], "row": [0.5, 1, 2], "t": [1, 2, 3]})) == [
        "Patient ID",
        "t",
    ]


@pytest.mark.slow
@pytest.mark.usefixtures("blank_figures")
def test_a_measured_target_is_predicted_by_a_linear_map(tmp_path):
    study = wn.study(measured(), "y", effective_dim=4)
    assert study.comparison.measure == "r2"
    assert study.comparison.chosen == "minimum norm"
    assert study.comparison.expected_scores.min() > 0.98
    assert abs(study.accuracy["mean"].mean()) < 0.2
    verdict = study.frame().set_index("feature")["verdict"]
    assert verdict["sure"] == "indispensable"
    assert verdict["one"] == verdict["other"] == "replaceable"
    assert {verdict["noise 1"], verdict["noise 2"]} <= {"no evidence", "undecided"}
    assert study.verdicts.stand_ins.groups in ((("one", "other"),), (("other", "one"),))
    text = study.finding()
    assert "typical error of 0.09" in text
    assert "1 feature is indispensable, no other can replace it: without “sure” " in text
    study.save(tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert {"predictions.svg", "map-before.svg", "report.html", "model.whynear"} <= names
    held = json.loads((tmp_path / "study.json").read_text())
    assert held["measure"] == "r2"
    assert held["expected_scores"] == study.comparison.expected_scores.tolist()
    fresh = measured(40, seed=1)
    assert wn.load(tmp_path / "model.whynear").score(fresh.drop(columns="y"), fresh["y"]) > 0.98


def test_what_does_not_fit_a_measured_target_is_refused():
    with pytest.raises(ValueError, match=r"'y' is numeric with 120 .*, and gmlvq predicts classes"):
        wn.study(measured(), "y", learner="gmlvq")
    with pytest.raises(ValueError, match="at least 10 rows are needed"):
        wn.study(measured(8), "y")


@pytest.mark.slow
@pytest.mark.usefixtures("blank_figures")
def test_measured_studies_are_the_same_for_the_same_seed(tmp_path):
    texts = []
    for name in ("a", "b"):
        wn.study(measured(60), "y", splitting=wn.Splitting(folds=3)).save(tmp_path / name)
        texts.append((tmp_path / name / "study.json").read_bytes())
    assert texts[0] == texts[1]


@pytest.mark.slow
def test_the_model_of_a_large_table_learns_from_more_rows_than_are_compared(monkeypatch):
    monkeypatch.setattr(doors, "COMPARED_ROWS", 60)
    table = mixed(200).drop(columns=["colour", "sex"])
    study = wn.study(table, "outcome", learner="lann", splitting=wn.Splitting(folds=2))
    assert len(study.problem.X) == 60
    assert len(study.metric) == 200
    assert any("Of 200 rows, a random 60 were used to compare learners" in caveat for caveat in study.caveats)


@pytest.mark.slow
def test_threads_do_not_change_a_study():
    one, two = (
        wn.study(mixed(80).drop(columns=["colour", "sex"]), "outcome", n_jobs=n, splitting=wn.Splitting(folds=2))
        for n in (1, 2)
    )
    assert_allclose(one.frame()["upper"], two.frame()["upper"], rtol=1e-9)
    assert one.comparison.chosen == two.comparison.chosen
