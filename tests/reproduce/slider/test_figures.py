import numpy as np
import pytest

from tests.helpers.reproduction import drawn, invented, lines_of, missing_rows
from whynear.reproduce import EXPERIMENTS
from whynear.reproduce.slider import figures

NAMES = [name for name in EXPERIMENTS if name.startswith("slider-")]


@pytest.mark.parametrize("name", NAMES)
def test_every_published_row_is_computed_and_the_figure_is_drawn(name):
    experiment = EXPERIMENTS[name]()
    assert missing_rows(experiment, invented) == set()
    assert all(ax.has_data() for ax in drawn(experiment.draw, invented).axes)


def test_wins_are_counted_in_the_direction_of_each_measure():
    values = figures.table2().measure(invented)  # invented values of Slider are lower than those of equal weights
    wins = {row: value.value for (row, _), value in values.items() if row.startswith("data sets where")}
    assert list(wins.values()) == [0, 6, 0]


def test_the_gain_in_matches_is_the_smallest_over_the_tolerances():
    counts = {"equal weights": [1, 1, 1, 1], "equal weights, z-scores": [1, 2, 2, 4], "Slider": [3, 4, 6, 8]}
    values = figures.figure2().measure(lambda _cell: counts | {"existing matches": [9, 9, 9, 9]})
    column = "smallest over all tolerances"
    assert values["Euclidean: Slider divided by equal weights", column].value == 3
    assert values["Manhattan: Slider divided by equal weights, z-scores", column].value == 2


def test_a_draw_is_no_win():
    values = figures.figure3().measure(lambda _cell: {"rank among 100": 2.0, "matches found": 5.0})
    assert values["case bases where Slider is best, z-scores: matches found", "of 5"].value == 0


@pytest.mark.slow
@pytest.mark.parametrize("dataset", ["wine", "ionosphere", "pima", "iris"])
def test_slider_is_within_a_deviation_of_the_published_table(result_of, dataset):
    cells = [cell for cell in figures.table2().cells if cell.arguments["dataset"] == dataset][:5]
    results = [result_of(cell) for cell in cells]
    published = lines_of("slider-table2", {})
    for measure, sign in (("1-NN accuracy, %", 1), ("rank among 10", -1), ("matches in the nearest tenth", 1)):
        ours = np.mean([result[measure]["Slider"] for result in results])
        assert sign * ours >= sign * published[f"{dataset}: {measure}", "Slider"].criterion, measure
