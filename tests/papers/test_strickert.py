import numpy as np
import pytest
from matplotlib.figure import Figure

import whynear as wn
from papers import strickert
from papers.catalog import EXPERIMENTS
from papers.computations import Cell
from papers.outcome import outcome
from papers.strickert import Sweep
from tests.helpers.reproduction import drawn, words_on
from whynear.work.pieces import run_piece

NAMES = [f"strickert-fig{number}" for number in range(1, 9)]


@pytest.fixture(scope="module")
def result_of(real_data):
    """Results of cells, each computed once; two starts or splits of one data set stand for all."""
    results = {}

    def compute(cell):
        arguments = dict(cell.arguments)
        if "seed" in arguments:
            arguments["seed"] %= 2
        if arguments["dataset"] == "hia_hou_mordred":  # which takes longer
            arguments["dataset"] = "pac_retention"
        first = Cell(cell.work, arguments)
        if first not in results:
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("WHYNEAR_DATA", str(real_data))
                results[first] = run_piece(first).result
        return results[first]

    return compute


def lines_by_row(name, result_of):
    experiment = EXPERIMENTS[name]()
    lines = outcome(experiment.plan, experiment.measure(result_of), 0.0).lines
    return {line.row: line for line in lines}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_what_is_published_is_computed_and_nothing_else(name, result_of):
    experiment = EXPERIMENTS[name]()
    assert experiment.measure(result_of).keys() == {(known.row, known.column) for known in experiment.plan.published}


@pytest.mark.parametrize("name", NAMES)
def test_figures_are_drawn(name, result_of, real_data, monkeypatch):
    monkeypatch.setenv("WHYNEAR_DATA", str(real_data))
    experiment, figure = EXPERIMENTS[name](), Figure(layout="constrained")
    experiment.draw(figure, result_of)
    figure.draw_without_rendering()
    assert figure.axes
    assert all(ax.has_data() for ax in figure.axes)


def test_cells_hold_no_spectra(result_of, real_data):
    spectrum = wn.datasets.load("wine_spectra", real_data).X.to_numpy()[:, 100]
    for cell in (EXPERIMENTS[name]().cells[0] for name in NAMES[:3] + NAMES[4:7]):
        numbers = np.array(list(_numbers(result_of(cell))))
        assert np.isin(spectrum, numbers).mean() < 0.05


def _numbers(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _numbers(each)
    elif value is not None:
        yield float(value)


@pytest.mark.parametrize("name", ["strickert-fig1", "strickert-fig2", "strickert-fig3"])
def test_the_papers_numbers_hold(name, result_of):
    judged = [line for line in lines_by_row(name, result_of).values() if line.met is not None]
    assert len(judged) >= 2
    assert all(line.met for line in judged)


def test_best_correlation_is_the_papers(result_of):
    lines = lines_by_row("strickert-fig2", result_of)
    assert lines["K with the highest test correlation"].ours == 12
    assert round(lines["test correlation at this K"].ours, 4) == 0.9954
    assert lines["first K from which the test correlation stays above 0.95"].ours == 5
    whole, inside = (
        lines[f"test correlation{row}"].ours for row in (", not regularized", " with all directions of the data")
    )
    assert 0.95 < whole < inside


def test_norms_are_the_papers(result_of):
    lines = lines_by_row("strickert-fig3", result_of)
    assert [round(line.ours, 1) for line in lines.values()] == [7132.8, 758.0]


def test_figures_of_one_model_share_its_cells():
    cells = [set(EXPERIMENTS[name]().cells) for name in NAMES[4:7]]
    assert cells[0] == cells[1] == cells[2]
    assert len(cells[0]) == EXPERIMENTS["strickert-fig6"]().plan.settings["n_starts"]


CURVE = Sweep.of([{"train": [1, 2, 3], "test": [4, 2, 6]}, {"train": [3, 4, 5, 7], "test": [2, 0, 9, 8]}])


def test_means_end_at_the_shortest_curve():
    assert CURVE.most == 2
    assert CURVE.test.tolist() == [3, 1]
    assert CURVE.train.tolist() == [2, 3]
    assert (CURVE.train_whole, CURVE.test_whole) == (5, 7)
    assert (CURVE.best(lowest=True), CURVE.best(lowest=False)) == (2, 1)
    assert (CURVE.test_at(1), CURVE.spread_at(1), CURVE.spread_whole) == (3, 1, 1)


def test_a_sweep_marks_the_best_number_of_directions():
    ax = Figure().add_subplot()
    strickert.draw_sweep(ax, CURVE, line=2)
    marked = [line.get_xydata().tolist() for line in ax.lines if line.get_marker() == "D"]
    assert marked == [[[2, 1]]]
    assert ax.get_xticklabels()[-1].get_text() == "none"
    assert len(ax.collections) == 1  # the band


def test_a_logarithmic_sweep_leaves_out_the_training_error_without_regularization():
    linear, log = Figure().subplots(1, 2)
    strickert.draw_sweep(linear, CURVE, line=2)
    strickert.draw_sweep(log, CURVE, line=2, is_log=True)
    assert log.get_yscale() == "log"
    assert len(log.lines) == len(linear.lines) - 1


def test_the_legend_names_the_vertical_line():
    figure = drawn(strickert.add_legend, "rank of the training spectra")
    assert {"rank of the training spectra", "training", "test, mean and deviation"} <= words_on(figure)
    assert "test" in words_on(drawn(strickert.add_legend, "rank", False))


def test_the_published_dimension_is_marked():
    ax = Figure().add_subplot()
    strickert.mark_published(ax, 7)
    assert ax.texts[0].get_text().strip() == "K = 7 (paper)"
    assert list(ax.lines[0].get_xdata()) == [7, 7]


def test_spectra_are_drawn_as_pixels():
    left_out = np.array([False, True, False])
    ax = drawn(strickert.draw_spectra, np.arange(12.0).reshape(3, 4), np.array([1.0, 2, 3]), left_out).axes[0]
    (kept,), (outlier,) = ax.collections, ax.lines
    assert len(kept.get_segments()) == 2
    assert outlier.get_ydata().tolist() == [4, 5, 6, 7]
    assert kept.get_rasterized()
    assert outlier.get_rasterized()


def test_both_vectors_of_coefficients_are_drawn():
    ax = Figure().add_subplot()
    strickert.draw_coefficients(ax, np.array([1.0, 2]), np.array([3.0, 4]), 12)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["pseudo-inverse", "12 directions kept"]
    assert ax.lines[-1].get_ydata().tolist() == [3, 4]


def test_projections_show_every_class_before_and_after():
    rng = np.random.default_rng(0)
    points = {part: rng.random((2, n, 2)) for part, n in (("training", 6), ("test", 3), ("prototypes", 3))}
    classes = {"training": np.arange(6) % 3, "test": np.arange(3)}
    figure = drawn(strickert.draw_projections, points, classes, 7)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["not regularized", "7 directions kept"]
    assert {"low", "medium", "high", "prototypes"} <= words_on(figure)


def test_matrices_stand_above_their_diagonals():
    omega = np.array([[1.0, 2, 0], [0, 1, 1]])
    figure = drawn(strickert.draw_matrices, omega, omega / 2, 7)
    first, second, *diagonals = figure.axes
    assert first.get_title().startswith("not regularized")
    assert second.get_title().startswith("7 directions kept")
    assert np.array_equal(first.images[0].get_array(), omega.T @ omega)
    assert diagonals[1].lines[0].get_ydata().tolist() == [0.25, 1.25, 0.25]
