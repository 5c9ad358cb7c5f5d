"""A table with dates from study to prediction: dates are shown as dates, never as days since 1970."""

import json

import pytest

import whynear as wn
from tests.helpers.command_line import run
from tests.helpers.dated_tables import numbers_like_days, visits, visits_model
from whynear.data.cells import is_dated
from whynear.report.page_data import page_data


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dates")
    visits().to_csv(folder / "visits.csv", index=False)
    visits(3, seed=1).assign(visit="04.03.2032").to_csv(folder / "new.csv", index=False)
    return folder


@pytest.mark.parametrize("target", ["kind", "dose"])
def test_explain_and_predict_show_dates(folder, target, tmp_path):
    wn.save(visits_model(target), tmp_path / "model")
    explained = run("explain", tmp_path / "model", folder / "visits.csv", "--row", 4)
    assert explained.exit_code == 0, explained.output
    assert visits()["taken"][3] in explained.stdout
    assert ("The unit of dates is the day." in explained.stdout) == (target == "dose")
    predicted = run("predict", tmp_path / "model", folder / "new.csv")
    assert predicted.exit_code == 0, predicted.output
    assert "visit = 2032-03-04 (2021-" in predicted.stdout
    as_json = run("explain", tmp_path / "model", folder / "visits.csv", "--row", 4, "--json")
    assert numbers_like_days(explained.stdout + predicted.stdout + as_json.stdout) == []


@pytest.mark.slow
@pytest.mark.parametrize("target", ["kind", "dose"])
def test_a_study_shows_dates(folder, target, tmp_path):
    other = "dose" if target == "kind" else "kind"
    learner = ["--learner", "grlvq"] if target == "kind" else []
    words = ["--target", target, "--drop", other, "--date", "visit", "--date", "taken", "--folds", 2, *learner]
    result = run("study", folder / "visits.csv", *words, "--out", tmp_path / "study")
    assert result.exit_code == 0, result.output
    written = sorted(path for path in (tmp_path / "study").rglob("*") if path.suffix in (".csv", ".json", ".svg"))
    assert {"cases.csv", "case-1.csv", "study.json"} <= {path.name for path in written}
    for path in written:
        if not path.name.startswith(("map-", "scores", "predictions")):
            text = path.read_text(encoding="utf-8")
            assert numbers_like_days(text if path.suffix != ".svg" else "".join(svg_texts(text))) == [], path
    case = (tmp_path / "study" / "case-1.csv").read_text(encoding="utf-8")
    assert "visit,202" in case
    model = tmp_path / "study" / "model.whynear"
    assert numbers_like_days(run("explain", model, folder / "visits.csv", "--row", 4).stdout) == []
    assert "visit = 2032-03-04 (2021-" in run("predict", model, folder / "new.csv").stdout


def svg_texts(text):
    """The texts of a figure, which matplotlib keeps as comments beside their outlines."""
    return [line for line in text.splitlines() if line.strip().startswith("<!--")]


@pytest.mark.slow
@pytest.mark.parametrize("target", ["kind", "dose"])
def test_the_page_of_a_study_shows_dates(target):
    learner = {"learner": "grlvq"} if target == "kind" else {}
    drop = "dose" if target == "kind" else "kind"
    study = wn.study(
        visits(),
        target,
        reading=wn.Reading(drop=drop, date=["visit", "taken"]),
        splitting=wn.Splitting(folds=2),
        **learner,
    )
    data = page_data(study)
    place = data["features"]["names"].index("visit")
    values = next(values for feature, values in data["values"] if feature == place)
    assert all(map(is_dated, values))
    assert len(set(values)) == visits()["visit"].nunique()
    assert numbers_like_days(json.dumps(data)) == []
