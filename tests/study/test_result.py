"""The result of a study."""

import json
import pickle
import subprocess
import sys

import pytest
from matplotlib.figure import Figure

import whynear as wn
from tests.helpers.notebook_html import shown
from tests.helpers.studies import hostile, iris_study, numeric_study
from whynear.study.result import FORMAT
from whynear.utils.axes import short_name
from whynear.utils.text import printable


@pytest.mark.slow
@pytest.mark.parametrize("measured", [False, True])
def test_a_study_shows_what_it_found_the_methods_and_the_features(measured):
    table = hostile()
    if measured:
        table["<i>target</i>"] = table.iloc[:, 0] + 0.1 * table.iloc[:, 1]
    study = wn.study(table, "<i>target</i>", learner="auto" if measured else "grlvq", splitting=wn.Splitting(folds=2))
    text = shown(study)
    assert study.finding() in text
    assert all(caveat in text for caveat in study.caveats)
    assert all(name in text for name in study.accuracy)
    frame = study.frame()
    verdicts = zip(frame["feature"], frame["verdict"], strict=True)
    assert all(f"{short_name(printable(name))} {word}" in text for name, word in verdicts)


def test_the_plot_returns_its_axes_and_draws_into_given_ones():
    study = iris_study()
    ax = Figure().add_subplot()
    assert study.plot(ax, most=3) is ax
    assert ax.has_data()
    assert study.plot().get_figure() is not ax.get_figure()


def test_the_plot_shows_the_verdicts_of_the_features_in_the_order_of_the_table_of_features():
    study = iris_study()
    frame = study.frame()
    ax = study.plot(Figure().add_subplot())
    assert [label.get_text() for label in ax.get_yticklabels()][::-1] == frame["feature"].tolist()
    assert {text.get_text() for text in ax.get_legend().get_texts()} == set(frame["verdict"])
    first = study.plot(Figure().add_subplot(), most=2)
    assert [label.get_text() for label in first.get_yticklabels()][::-1] == frame["feature"].tolist()[:2]
    assert first.get_ylabel() == f"the first 2 of {len(frame)}"


def test_a_study_does_not_change_with_the_tables_it_returned():
    study = iris_study()
    before = study.finding()
    accuracy, frame = study.accuracy, study.frame()
    accuracy.iloc[:] = frame["upper"] = 0.0
    with pytest.raises(TypeError, match="does not support item assignment"):
        study.settings["random_state"] = 7
    with pytest.raises(AttributeError):
        study.accuracy = accuracy
    assert study.finding() == before
    assert before in repr(study)


def test_a_study_can_be_sent_to_another_process():
    study = iris_study()
    sent = pickle.loads(pickle.dumps(study))
    assert sent.finding() == study.finding()
    assert sent.settings == study.settings


def test_a_study_that_another_program_reads_has_all_methods(tmp_path):
    (tmp_path / "study.pickle").write_bytes(pickle.dumps(iris_study()))
    reading = (
        "import pickle, sys; study = pickle.load(open(sys.argv[1], 'rb')); print(callable(study.save), study.finding())"
    )
    words = [sys.executable, "-c", reading, str(tmp_path / "study.pickle")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"True {iris_study().finding()}"


def test_the_content_is_json_and_holds_what_the_study_holds():
    study = iris_study()
    held = study.to_dict()
    assert json.loads(json.dumps(held, allow_nan=False)) == held
    assert held["format"] == FORMAT
    assert (held["source"], held["target"], held["rows"]) == ("The table", "target", 150)
    assert (held["chosen"], held["measure"]) == ("gmlvq", "accuracy")
    assert held["accuracy"] == study.accuracy.to_dict("list")
    assert held["expected_scores"] == study.comparison.expected_scores.tolist()
    assert (held["expected"], held["expected_error"]) == (study.comparison.expected, study.comparison.expected_error)
    assert held["errors"]["confusion"] == study.errors.confusion.tolist()
    assert held["errors"]["accuracy"] == held["expected"]
    assert held["relevance"]["upper"] == study.relevance.upper.tolist()
    assert [column["column"] for column in held["columns"]] == list(study.problem.X)
    assert set(held["profiles"]) == {"0", "1", "2"}
    assert held["maps"]["after"] == study.maps["after"].tolist()
    assert [case["kind"] for case in held["cases"]] == [case.kind for case in study.cases]
    assert held["caveats"] == list(study.caveats)


def test_a_numeric_target_has_other_scores_and_explanations():
    held = numeric_study().to_dict()
    assert held["measure"] == "r2"
    assert held["expected_scores"] == held["accuracy"]["minimum norm"]
    assert held["errors"]["typical"] == numeric_study().errors.typical
    first = held["cases"][0]
    assert first["kind"] == "typical"
    assert first["why"]["mean_prediction"] + sum(first["why"]["contributions"]) == pytest.approx(
        first["why"]["prediction"]
    )
    assert list(held["maps"]) == ["before", "after"]
