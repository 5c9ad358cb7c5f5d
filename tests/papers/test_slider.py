import numpy as np
import pytest

from papers import lann, slider
from papers.catalog import EXPERIMENTS
from papers.outcome import Line, Outcome
from papers.slider import COLORS, MEASURES, draw_matches, draw_measures, draw_methods
from tests.helpers.reproduction import drawn, invented, lines_of, missing_rows, words_on

NAMES = [name for name in EXPERIMENTS if name.startswith("slider-")]


@pytest.mark.parametrize("name", NAMES)
def test_every_published_row_is_computed_and_the_figure_is_drawn(name):
    experiment = EXPERIMENTS[name]()
    assert missing_rows(experiment, invented) == set()
    assert all(ax.has_data() for ax in drawn(experiment.draw, invented).axes)


def test_wins_are_counted_in_the_direction_of_each_measure():
    values = slider.table2().measure(invented)  # invented values of Slider are lower than those of equal weights
    wins = {row: value.value for (row, _), value in values.items() if row.startswith("data sets where")}
    assert list(wins.values()) == [0, 6, 0]


def test_the_gain_in_matches_is_the_smallest_over_the_tolerances():
    counts = {"equal weights": [1, 1, 1, 1], "equal weights, z-scores": [1, 2, 2, 4], "Slider": [3, 4, 6, 8]}
    values = slider.figure2().measure(lambda _cell: counts | {"existing matches": [9, 9, 9, 9]})
    column = "smallest over all tolerances"
    assert values["Euclidean: Slider divided by equal weights", column].value == 3
    assert values["Manhattan: Slider divided by equal weights, z-scores", column].value == 2


def test_a_draw_is_no_win():
    values = slider.figure3().measure(lambda _cell: {"rank among 100": 2.0, "matches found": 5.0})
    assert values["case bases where Slider is best, z-scores: matches found", "of 5"].value == 0


@pytest.mark.slow
@pytest.mark.parametrize("dataset", ["wine", "ionosphere", "pima", "iris"])
def test_slider_is_within_a_deviation_of_the_published_table(result_of, dataset):
    cells = [cell for cell in slider.table2().cells if cell.arguments["dataset"] == dataset][:5]
    results = [result_of(cell) for cell in cells]
    published = lines_of("slider-table2", {})
    for measure, sign in (("1-NN accuracy, %", 1), ("rank among 10", -1), ("matches in the nearest tenth", 1)):
        ours = np.mean([result[measure]["Slider"] for result in results])
        assert sign * ours >= sign * published[f"{dataset}: {measure}", "Slider"].criterion, measure


def test_measures_have_a_panel_each_with_marks_for_ours_and_published_values():
    lines = [
        Line(f"wine: {measure}", weights, 0.5, 0.1, 0.6, 0.1, None, "higher", 2)
        for measure in MEASURES
        for weights in ("Euclidean", "Slider")
    ]
    figure = drawn(draw_measures, Outcome("slider-table2", tuple(lines), 1), ["wine"])
    assert [ax.get_title() for ax in figure.axes] == list(MEASURES)
    assert [len(ax.containers) for ax in figure.axes] == [4, 4, 4]
    assert {"wine", "Slider, ours", "Euclidean, published"} <= words_on(figure)


def test_matches_are_drawn_against_the_tolerance():
    counts = {name: np.array([[1.0, 2], [3, 4]]) for name in (*COLORS, "existing matches")}
    figure = drawn(draw_matches, [0.1, 0.2], {"Manhattan": counts, "Euclidean": counts})
    assert [ax.get_title() for ax in figure.axes] == ["Manhattan", "Euclidean"]
    existing = next(line for line in figure.axes[0].lines if line.get_label() == "existing matches")
    assert existing.get_xydata().tolist() == [[0.1, 2], [0.2, 3]]
    assert {*COLORS, "existing matches", "tolerance"} <= words_on(figure)


def test_every_method_has_a_bar_in_both_panels():
    methods = ["equal weights", "Slider"]
    scores = {(method, columns): [1.0, 3.0] for method in methods for columns in ("raw columns", "z-scores")}
    figure = drawn(draw_methods, methods, scores)
    assert [[bar.get_width() for bar in ax.patches] for ax in figure.axes] == [[2, 2], [2, 2]]
    assert {*methods, "raw columns", "z-scores"} <= words_on(figure)


NAMES_OF_LANN = [name for name in EXPERIMENTS if name.startswith("lann-")]


@pytest.mark.parametrize("name", NAMES_OF_LANN)
def test_every_published_row_is_computed(name):
    missing = missing_rows(EXPERIMENTS[name](), invented)
    assert {row for row, _ in missing} == ({"adrenal"} if name == "lann-table1-fifth" else set())


def test_gains_are_those_over_knn_on_the_same_data_set():
    def result_of(cell):
        gain = 0.2 if cell.arguments["dataset"] == "iris" else 0.1
        return {"accuracy": 0.5 + gain * (cell.arguments["learner"] == "LANN")}

    values = lann.table1("tenfold").measure(result_of)
    n_sets = len(EXPERIMENTS["lann-table1-tenfold"]().plan.settings["datasets"])
    assert values["mean gain over kNN", "LANN"].value == pytest.approx(0.1 + 0.1 / n_sets)
    assert values["smallest gain over kNN", "LANN"].value == pytest.approx(0.1)


def test_profiles_of_both_classes_are_drawn():
    assert {"benign", "malignant", "a", "d"} <= words_on(drawn(lann.figure1().draw, invented))


def test_every_method_has_a_panel_of_points(monkeypatch):
    labels = np.array(["left", "right"] * 6)
    monkeypatch.setattr(lann, "scaled_rows", lambda _dataset: (np.zeros((12, 2)), labels))
    figure = drawn(lann.embeddings("lann-fig2").draw, invented)
    titles = [ax.get_title().split()[0] for ax in figure.axes if ax.get_title()]
    assert titles == ["Euclidean", "GMLVQ", "LMNN", "LANN", "LGMLVQ"]
    assert {"left", "right"} <= words_on(figure)


def test_the_lead_of_lann_is_that_over_the_better_global_map():
    scores = {"Euclidean": 0.2, "GMLVQ": 0.5, "LMNN": 0.7, "LANN": 0.9, "LGMLVQ": 0.8}
    values = lann.embeddings("lann-fig3").measure(lambda cell: {"score": scores[cell.arguments["method"]]})
    lead = values["LANN minus the better of GMLVQ and LMNN", "accuracy on the map"]
    assert lead.value == pytest.approx(0.2)
