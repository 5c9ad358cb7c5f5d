import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import whynear
from tests.helpers import command_line, mixed_tables
from tests.helpers.command_line import run
from whynear.cli.retrieve import _contribution_table

NAMES = ["sepal length (cm)", "sepal width (cm)", "petal length (cm)", "petal width (cm)"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, two models and a case base of the table."""
    folder = tmp_path_factory.mktemp("retrieve")
    frame = load_iris(as_frame=True).frame
    frame.assign(name=[f"flower {row}" for row in range(len(frame))]).to_csv(folder / "iris.csv", index=False)
    weights = {"first": [1.0, 2.0, 3.0, 4.0], "second": [4.0, 3.0, 2.0, 1.0]}
    for model, values in weights.items():
        whynear.save(whynear.DiagonalMetric(values, NAMES), folder / f"{model}.whynear")
    built = run("retrieve", folder / "base", "--build", folder / "iris.csv", "--metric", folder / "first.whynear")
    assert built.exit_code == 0, built.output
    assert built.stdout.startswith(f"Added 150 cases to {folder / 'base'}.")
    return folder


answer = partial(command_line.answer, "retrieve")


def test_rows_values_and_ids_ask_the_same(folder):
    frame = pd.read_csv(folder / "iris.csv")
    base, row = folder / "base", frame.loc[41]
    by_row = answer(base, "--query", folder / "iris.csv", "--row", 42, "-k", 5)["cases"]
    values = ",".join(f"{name}={row[name]}" for name in reversed(NAMES))
    assert answer(base, "--values", values, "-k", 5)["cases"] == by_row
    assert by_row[0]["id"] == 42
    assert by_row[0]["payload"] == {"target": 0, "name": "flower 41"}
    alike = answer(base, "--like", 42, "-k", 4)["cases"]
    assert [case["id"] for case in alike] == [case["id"] for case in by_row[1:]]


def test_rows_are_called_by_their_names(folder, tmp_path):
    words = ["--build", folder / "iris.csv", "--metric", folder / "first.whynear", "--index", "name"]
    found = answer(tmp_path / "base", *words, "--like", "flower 41", "-k", 3)["cases"]
    numbered = answer(folder / "base", "--like", 42, "-k", 3)["cases"]
    assert [case["row"] for case in found] == [f"flower {case['row'] - 1}" for case in numbered]
    assert [case["id"] for case in found] == [case["row"] for case in numbered]
    query = ["--query", folder / "iris.csv", "--index", "name", "--row", "flower 41", "-k", 1]
    assert answer(tmp_path / "base", *query)["cases"][0]["row"] == "flower 41"
    shown = run("retrieve", tmp_path / "base", *query, "--explain").stdout
    assert shown.count("flower 41") == 3  # beside its payload and in the table of contributions


def test_the_answer_is_that_of_the_library(folder):
    asked = answer(folder / "base", "--like", 7, "--explain", "-k", 3)["cases"]
    with whynear.CaseBase(folder / "base") as base:
        found = base.like(7, k=3, explain=True).to_dict()["cases"]
    assert asked == found
    assert sum(asked[0]["contributions"].values()) == pytest.approx(asked[0]["sq_distance"])


def test_another_model_re_ranks_what_passed_the_filter(folder):
    base = folder / "base"
    asked = answer(base, "--like", 7, "-k", 5, "--filter", 20, "--rerank", folder / "second.whynear")
    near = {case["id"] for case in answer(base, "--like", 7, "-k", 20)["cases"]}
    assert asked["n_filtered"] == 20
    assert {case["id"] for case in asked["cases"]} <= near
    similarities = [case["similarity"] for case in asked["cases"]]
    assert similarities == sorted(similarities, reverse=True)


def test_a_table_is_printed_for_people(folder):
    result = run("retrieve", folder / "base", "--like", 7, "-k", 3, "--explain")
    assert result.exit_code == 0, result.output
    assert "sq. distance" in result.stdout
    assert "flower" in result.stdout
    assert "Contributions to the squared distance" in result.stdout
    assert re.search(r"^found in \S+ ms$", result.stdout, re.MULTILINE)
    words = ["--like", 7, "--filter", 20, "--rerank", folder / "second.whynear"]
    shown = run("retrieve", folder / "base", *words).stdout
    assert re.search(r"^20 cases filtered in \S+ ms, re-ranked in \S+ ms$", shown, re.MULTILINE)


def test_gaps_are_empty_cells_and_further_fields_are_counted(folder, tmp_path):
    names = [f"note{number}" for number in range(9)]
    frame = pd.read_csv(folder / "iris.csv")[NAMES].assign(**{name: [None, "x"] * 75 for name in names})
    frame.to_csv(tmp_path / "cases.csv", index=False)
    words = ["--build", tmp_path / "cases.csv", "--metric", folder / "first.whynear", "--like", 1, "-k", 20]
    shown = run("retrieve", tmp_path / "base", *words).stdout
    assert "x" in shown
    assert "None" not in shown
    assert "and 3 more fields: --json shows all" in shown


def test_without_a_question_the_base_is_described(folder):
    assert "150 cases, 4 columns, DiagonalMetric" in run("retrieve", folder / "base").stdout.replace("\n", " ")
    assert answer(folder / "base")["cases"] == 150


def test_payload_columns_can_be_chosen_and_gaps_are_null(folder, tmp_path):
    frame = pd.read_csv(folder / "iris.csv").assign(note=[None, "x"] * 75)
    frame.to_csv(tmp_path / "cases.csv", index=False)
    words = ["--build", tmp_path / "cases.csv", "--metric", folder / "first.whynear", "--payload", "note"]
    found = answer(tmp_path / "base", *words, "--like", 1, "-k", 149)["cases"]
    assert {case["payload"]["note"] for case in found} == {None, "x"}
    assert all(list(case["payload"]) == ["note"] for case in found)


def test_a_new_metric_measures_from_then_on(folder, tmp_path):
    run("retrieve", tmp_path / "base", "--build", folder / "iris.csv", "--metric", folder / "first.whynear")
    first = answer(tmp_path / "base", "--like", 7)["cases"]
    second = answer(tmp_path / "base", "--like", 7, "--metric", folder / "second.whynear")["cases"]
    assert first != second
    assert answer(tmp_path / "base", "--like", 7)["cases"] == second


def test_learned_models_build_bases(tmp_path):
    learned = run("learn", "iris", "--learner", "lann", "--out", tmp_path / "model")
    assert learned.exit_code == 0, learned.output
    built = run("retrieve", tmp_path / "base", "--build", "iris", "--metric", tmp_path / "model", "--like", 3)
    assert built.exit_code == 0, built.output
    assert "setosa" in built.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "Error: nowhere does not exist. Check the name"),
        (["new", "--build", "iris"], "Error: new does not exist, and a new case base needs a metric"),
        (["base", "--like", 500], "Error: base holds no case of the row 500. Use names that retrieve returns."),
        (["base", "--values", "a"], "Error: --values must be written as name=value"),
        (["base", "--values", "a=1,a=2"], "Error: --values has 'a' twice. Give one value"),
        (["base", "--values", "a=1"], "Error: query lacks 'sepal length (cm)'"),
        (["base", "--query", "iris.csv", "--row", 151], "Error: iris.csv has rows 1 to 150, got --row 151"),
        (["base", "--like", 1, "--values", "a=1"], "Error: --query, --values and --like are three ways"),
        (["base", "--like", 1, "--filter", 5], "Error: --filter 5 needs --rerank. Add a model"),
        (["base", "--like", 1, "-k", 0], "Error: k must be an integer >= 1"),
        (["base", "--metric", "iris.csv"], "Error: iris.csv cannot be read"),
        (["base", "--build", "iris.csv", "--payload", "nothing"], "Error: iris.csv has no column 'nothing'"),
        (["iris.csv", "--like", 1], "Error: iris.csv is no case base: it is not an SQLite file"),
    ],
)
def test_bad_input_gets_one_sentence_and_code_two(folder, monkeypatch, words, message):
    monkeypatch.chdir(folder)
    files = sorted(path.name for path in folder.iterdir())
    result = run("retrieve", *words)
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith(message)
    assert result.stderr.count("\n") == 1
    assert sorted(path.name for path in folder.iterdir()) == files


@pytest.mark.parametrize(
    ("change", "fact"),
    [
        ({NAMES[0]: np.nan}, "contains NaN: 150 in column 'sepal length (cm)'"),
        ({NAMES[0]: "long"}, "holds 'long' in column 'sepal length (cm)', row 1"),
    ],
)
def test_a_table_that_cannot_be_added_makes_no_base(folder, tmp_path, change, fact):
    pd.read_csv(folder / "iris.csv").assign(**change).to_csv(tmp_path / "cases.csv", index=False)
    words = ["--build", tmp_path / "cases.csv", "--metric", folder / "first.whynear"]
    result = run("retrieve", tmp_path / "base", *words)
    assert result.exit_code == 2
    assert fact in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["cases.csv"]


def test_names_and_payloads_cannot_command_the_terminal(tmp_path):
    table, model = tmp_path / "odd.csv", tmp_path / "model"
    table.write_text("a\x1b[31m,b,n\x07\n" + "".join(f"{i},{i % 3},\x1b[2J[red]{i}\n" for i in range(20)))
    whynear.save(whynear.DiagonalMetric([1.0, 1.0], ["a\x1b[31m", "b"]), model)
    result = run("retrieve", tmp_path / "ba\x1b[1mse", "--build", table, "--metric", model, "--like", 3, "--explain")
    assert result.exit_code == 0, result.output
    assert not set(result.output) & set("\x1b\x07")
    assert "[red]1" in result.stdout


def test_numbers_outside_the_range_of_the_stored_cases_are_a_caution(folder):
    values = {**dict.fromkeys(NAMES, "2"), NAMES[0]: "17000"}
    found = run("retrieve", folder / "base", "--values", ",".join(f"{name}={value}" for name, value in values.items()))
    assert found.exit_code == 0, found.output
    assert found.stderr == (f"Caution: {NAMES[0]!r} = 17000 lies outside the range of the stored cases, 4.3 to 7.9.\n")
    assert run("retrieve", folder / "base", "--query", folder / "iris.csv", "--row", 132).stderr == ""  # the largest


def test_numbers_beside_categories_are_compared_with_the_stored_ones_too(patients):
    frame = pd.read_csv(patients / "patients.csv", index_col="patient")
    frame.loc[["p9"]].assign(age=170).to_csv(patients / "odd.csv")
    found = run("retrieve", patients / "base", "--query", patients / "odd.csv", "--index", "patient", "--row", "p9")
    assert "Caution: 'age' = 170 lies outside the range of the stored cases" in found.stderr, found.output


def test_a_decimal_comma_in_values_is_explained(folder):
    found = run("retrieve", folder / "base", "--values", f"{NAMES[0]}=1,7,{NAMES[1]}=2")
    assert found.exit_code == 2
    assert found.stderr == (
        "Error: --values must be written as name=value,name=value, got '7' instead. Write decimals with a point, or a "
        "value with a comma in double quotes.\n"
    )


def test_a_base_that_does_not_exist_names_the_options_that_make_it(tmp_path):
    found = run("retrieve", tmp_path / "base", "--like", 7)
    assert found.stderr.endswith(
        "does not exist. Check the name, or make a case base (--build TABLE --metric MODEL).\n"
    )


def test_values_on_several_lines_are_refused_in_a_sentence(folder):
    found = run("retrieve", folder / "base", "--values", "a=1\rb=2")
    assert found.exit_code == 2
    assert "Error: --values must be one line of name=value" in found.output


@pytest.fixture(scope="module")
def patients(tmp_path_factory):
    """A table of numbers, categories, dates and gaps, a model of it by the command, and a case base of both."""
    folder = tmp_path_factory.mktemp("patients")
    frame, y = mixed_tables.patients()
    frame.assign(dose=frame["dose"].map("{:.2f}".format).str.replace(".", ","), ill=y).to_csv(
        folder / "patients.csv", index_label="patient"
    )
    table = [folder / "patients.csv", "--target", "ill", "--index", "patient", "--date", "admitted", "--missing", -9]
    for name, words in {"model": [], "other": ["--drop", "sex"]}.items():
        learned = run("learn", *table, *words, "--learner", "grlvq", "--out", folder / name)
        assert learned.exit_code == 0, learned.output
    words = ["--build", folder / "patients.csv", "--index", "patient", "--metric", folder / "model"]
    built = run("retrieve", folder / "base", *words)
    assert built.exit_code == 0, built.output
    assert built.stdout.startswith(f"Added 70 cases to {folder / 'base'}.")
    assert "70 cases, 6 columns" in built.stdout.replace("\n", " ")
    n_gaps = (frame.isna().any(axis=1) | (frame["dose"] == -9)).sum()
    assert f"patients.csv: {n_gaps} rows have missing values that were filled in." in built.stderr
    return folder


def test_cases_with_categories_dates_and_gaps_are_found_and_explained(patients):
    base, frame = patients / "base", pd.read_csv(patients / "patients.csv", index_col="patient")
    alike = answer(base, "--like", "p9", "-k", 4, "--explain")["cases"]
    model = whynear.load(patients / "model")
    made, metric = model[0].transform(frame[model[0].feature_names_in_]), whynear.as_metric(model)
    sq = pd.Series(metric.sq_distances(made.loc[["p9"]], made)[0], frame.index).drop("p9").sort_values()
    assert [case["row"] for case in alike] == sq.index[:4].tolist()
    for case in alike:
        assert case["sq_distance"] == pytest.approx(sq[case["row"]], rel=1e-4)
        assert sum(case["contributions"].values()) == pytest.approx(case["sq_distance"])
        assert set(case["contributions"]) == {"age", "ward", "sex", "pain", "admitted", "dose"}
    asked = ["--query", patients / "patients.csv", "--index", "patient", "--row", "p9", "-k", 5]
    found = answer(base, *asked)
    assert [case["row"] for case in found["cases"]] == ["p9", *(case["row"] for case in alike)]
    assert [value["column"] for value in found["unusual"]] == ["age"]
    shown = " ".join(run("retrieve", base, *asked).stdout.split())
    assert "Caution, the query rests on 'age', which is missing and was taken as" in shown


def test_values_may_be_categories_dates_and_missing(patients):
    row = pd.read_csv(patients / "patients.csv", index_col="patient", dtype=str, keep_default_na=False).loc["p9"]
    names = ["age", "ward", "sex", "pain", "admitted", "dose"]
    values = ",".join(f'"{name}={row[name]}"' for name in names)
    assert answer(patients / "base", "--values", values, "-k", 1)["cases"][0]["row"] == "p9"
    strange = run("retrieve", patients / "base", "--values", values.replace(f"ward={row['ward']}", "ward=Z"), "--json")
    assert "Note: Column 'ward' holds 'Z', which is none of the categories" in strange.stderr
    assert "unseen_category" in strange.stdout
    wrong = run("retrieve", patients / "base", "--values", values.replace("age=", "age=old"))
    assert wrong.stderr.startswith("Error: query holds 'old' in column 'age', which is not a number.")


def test_a_model_of_other_columns_re_ranks_but_is_no_metric_of_the_base(patients):
    words = [patients / "base", "--like", "p3", "-k", 3]
    asked = answer(*words, "--filter", 20, "--rerank", patients / "other")
    similarities = [case["similarity"] for case in asked["cases"]]
    assert similarities == sorted(similarities, reverse=True)
    refused = run("retrieve", *words, "--metric", patients / "other")
    assert refused.exit_code == 2
    assert refused.stderr.startswith("Error: The model takes the columns 'age', 'ward', 'pain'")
    assert "Make a new case base with this model." in refused.stderr
    assert answer(*words)["cases"] == answer(*words, "--metric", patients / "model")["cases"]


def test_a_contribution_of_nothing_has_no_sign():
    parts = pd.DataFrame({"size": [-0.0, 1.5]})
    cells = _contribution_table(parts, ["a", "b"]).columns[1].cells
    assert list(cells) == ["0", "1.5"]
