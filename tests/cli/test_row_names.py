"""One name for each row: the same in all files of a study, in every command and in Python."""

import json

import numpy as np
import pandas as pd
import pytest

import whynear as wn
from tests.helpers.command_line import answer, run
from tests.helpers.pages import data_of, markup_of

N_ROWS = 44


def table():
    """Rows whose order, ids and values differ; the first of them has no target."""
    rng = np.random.default_rng(3)
    size = rng.permutation(np.linspace(-2.0, 2.0, N_ROWS))
    frame = pd.DataFrame({"id": [f"p{number}" for number in rng.permutation(N_ROWS)], "size": size.round(3)})
    frame = frame.assign(weight=rng.standard_normal(N_ROWS).round(3), kind=np.where(size > 0, "large", "small"))
    frame.loc[0, "kind"] = None
    return frame


@pytest.fixture(scope="module", params=["numbers", "ids"])
def made(request, tmp_path_factory):
    """A folder with a table, a study of it and a case base; the words that name its rows; and its rows by name."""
    folder = tmp_path_factory.mktemp("rows")
    frame = table()
    frame = frame if request.param == "ids" else frame.drop(columns="id")
    frame.to_csv(folder / "t.csv", index=False)
    named = frame.set_index("id") if request.param == "ids" else frame.set_axis(range(1, N_ROWS + 1))
    words = ["--index", "id"] if request.param == "ids" else []
    settings = ["--target", "kind", "--learner", "lmnn", "--folds", 2, "--drop-missing-target", "--quiet"]
    studied = run("study", folder / "t.csv", *settings, *words, "--out", folder / "study")
    assert studied.exit_code == 0, studied.output
    built = run(
        "retrieve", folder / "base", "--build", folder / "t.csv", "--metric", folder / "study/model.whynear", *words
    )
    assert built.exit_code == 0, built.output
    return folder, words, named


def test_files_of_a_study_name_rows_as_the_table_does(made):
    folder, _, named = made
    known = named.dropna()
    for file in ("predictions.csv", "map-before.csv", "map-after.csv"):
        found = pd.read_csv(folder / "study" / file).set_index("row")
        assert found.index.tolist() == known.index.tolist()
        assert found["true"].tolist() == known["kind"].tolist()
    cases = pd.read_csv(folder / "study/cases.csv")
    assert cases["true"].tolist() == named.loc[cases["row"], "kind"].tolist()
    worst = json.loads((folder / "study/study.json").read_text())["errors"]["worst"]
    assert [error["true"] for error in worst] == [named.loc[error["row"], "kind"] for error in worst]


def test_neighbours_are_other_rows_of_the_table_with_their_values(made):
    folder, _, named = made
    held = json.loads((folder / "study/study.json").read_text())["cases"]
    assert len(held) == len(pd.read_csv(folder / "study/cases.csv"))
    for number, case in enumerate(held, start=1):
        voters = case["why"]["neighbors"]
        assert case["row"] not in [voter["row"] for voter in voters]  # it was held out
        for voter in [*voters, case["why"]["nearest"], case["why"]["nearest_other"]]:
            own = named.loc[voter["row"]]
            assert own["kind"] == voter["label"]
            np.testing.assert_allclose(voter["values"], own[["size", "weight"]].astype(float), atol=1e-9)
        votes = pd.read_csv(folder / "study" / f"votes-{number}.csv")
        assert votes["row"].tolist() == [voter["row"] for voter in voters]


def test_the_page_shows_these_names(made):
    folder, _, named = made
    page = markup_of(folder / "study/report.html")
    shown = data_of(folder / "study/report.html")
    assert shown["cases"]["rows"] == [str(name) for name in named.dropna().index]
    for place, why in shown["why"].items():
        for label, _, kind, named_by, *_ in why["near"]:
            assert kind == "row"
            assert label == named.set_axis(named.index.map(str)).loc[named_by, "kind"]
        values = dict(zip(["size", "weight"], named.dropna().iloc[int(place)][["size", "weight"]], strict=True))
        for feature, _, (value, *_) in why["parts"]:
            assert float(value) == pytest.approx(values[shown["features"]["names"][feature]], rel=1e-3)
    for case in json.loads((folder / "study/study.json").read_text())["cases"]:
        assert f": row {case['row']}</h3>" in page
        place = shown["cases"]["rows"].index(str(case["row"]))
        voters = [line[0] for line in shown["why"][str(place)]["voters"]["lines"]]
        assert str(case["why"]["nearest"]["row"]) in voters


def test_commands_call_the_rows_alike_without_being_told_again(made):
    folder, words, named = made
    model, file = folder / "study/model.whynear", folder / "t.csv"
    predicted = answer("predict", model, file)["predictions"]
    assert [row["row"] for row in predicted] == named.index.tolist()
    for name in named.index[[1, 20, -1]]:
        why = answer("explain", model, file, "--row", name)
        assert why["values"] == named.loc[name, ["size", "weight"]].tolist()
        assert (why["nearest"]["row"], why["nearest"]["distance"]) == (name, pytest.approx(0.0))
        found = answer("retrieve", folder / "base", "--query", file, "--row", name, *words, "-k", 1)["cases"]
        assert found[0]["row"] == name
        alike = answer("retrieve", folder / "base", "--like", name, "-k", 3)["cases"]
        near = answer("retrieve", folder / "base", "--query", file, "--row", name, *words, "-k", 4)["cases"]
        assert [case["row"] for case in alike] == [case["row"] for case in near[1:]]
    shown = run("explain", model, file, "--row", named.index[5]).stdout
    assert "Rows that vote, nearest first" in shown
    assert f", the nearest of another class, is more distant than row {named.index[5]}\n" in shown


def test_python_calls_them_alike(made):
    folder, words, named = made
    frame, model = pd.read_csv(folder / "t.csv"), wn.load(folder / "study/model.whynear")
    given = [folder / "t.csv", frame, *([named.reset_index(names="id"), named] if words else [])]
    for one in given:
        assert wn.predict_table(model, one)["row"].tolist() == named.index.tolist()
        assert wn.explain_row(model, one, named.index[7]).nearest.name == named.index[7]
    near = wn.explain(model, named.iloc[[4]][["size", "weight"]]).neighbors
    assert near["label"].tolist() == named.loc[near["row"], "kind"].tolist()
    learned = wn.learn_table(named.dropna() if words else frame.dropna().set_axis(named.dropna().index), "kind")
    assert learned.problem.X.index.tolist() == named.dropna().index.tolist()


def test_prototypes_are_never_called_cases_or_rows(made, tmp_path):
    folder, _, named = made
    wn.save(wn.learn_table(named.dropna(), "kind", learner="gmlvq").model, tmp_path / "model")
    result = run("explain", tmp_path / "model", folder / "t.csv", "--row", named.index[3])
    assert "Prototypes that vote, nearest first" in result.stdout
    assert " case " not in result.stdout
    assert f"row {named.index[3]}" not in result.stdout
    why = wn.explain(wn.load(tmp_path / "model"), named.iloc[[3]][["size", "weight"]])
    assert set(why.neighbors["prototype"]) == {1, 2}
    assert why.contributions.index.name == "prototype"
