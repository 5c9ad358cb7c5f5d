import numpy as np
from matplotlib.figure import Figure

from tests.helpers.reproduction import drawn, words_on
from whynear.reproduce.strickert import drawing
from whynear.reproduce.strickert.drawing import Sweep

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
    drawing.draw_sweep(ax, CURVE, line=2)
    marked = [line.get_xydata().tolist() for line in ax.lines if line.get_marker() == "D"]
    assert marked == [[[2, 1]]]
    assert ax.get_xticklabels()[-1].get_text() == "none"
    assert len(ax.collections) == 1  # the band


def test_a_logarithmic_sweep_leaves_out_the_training_error_without_regularization():
    linear, log = Figure().subplots(1, 2)
    drawing.draw_sweep(linear, CURVE, line=2)
    drawing.draw_sweep(log, CURVE, line=2, is_log=True)
    assert log.get_yscale() == "log"
    assert len(log.lines) == len(linear.lines) - 1


def test_the_legend_names_the_vertical_line():
    figure = drawn(drawing.add_legend, "rank of the training spectra")
    assert {"rank of the training spectra", "training", "test, mean and deviation"} <= words_on(figure)
    assert "test" in words_on(drawn(drawing.add_legend, "rank", False))


def test_the_published_dimension_is_marked():
    ax = Figure().add_subplot()
    drawing.mark_published(ax, 7)
    assert ax.texts[0].get_text().strip() == "K = 7 (paper)"
    assert list(ax.lines[0].get_xdata()) == [7, 7]


def test_spectra_are_drawn_as_pixels():
    left_out = np.array([False, True, False])
    ax = drawn(drawing.draw_spectra, np.arange(12.0).reshape(3, 4), np.array([1.0, 2, 3]), left_out).axes[0]
    (kept,), (outlier,) = ax.collections, ax.lines
    assert len(kept.get_segments()) == 2
    assert outlier.get_ydata().tolist() == [4, 5, 6, 7]
    assert kept.get_rasterized()
    assert outlier.get_rasterized()


def test_both_vectors_of_coefficients_are_drawn():
    ax = Figure().add_subplot()
    drawing.draw_coefficients(ax, np.array([1.0, 2]), np.array([3.0, 4]), 12)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["pseudo-inverse", "12 directions kept"]
    assert ax.lines[-1].get_ydata().tolist() == [3, 4]


def test_projections_show_every_class_before_and_after():
    rng = np.random.default_rng(0)
    points = {part: rng.random((2, n, 2)) for part, n in (("training", 6), ("test", 3), ("prototypes", 3))}
    classes = {"training": np.arange(6) % 3, "test": np.arange(3)}
    figure = drawn(drawing.draw_projections, points, classes, 7)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["not regularized", "7 directions kept"]
    assert {"low", "medium", "high", "prototypes"} <= words_on(figure)


def test_matrices_stand_above_their_diagonals():
    omega = np.array([[1.0, 2, 0], [0, 1, 1]])
    figure = drawn(drawing.draw_matrices, omega, omega / 2, 7)
    first, second, *diagonals = figure.axes
    assert first.get_title().startswith("not regularized")
    assert second.get_title().startswith("7 directions kept")
    assert np.array_equal(first.images[0].get_array(), omega.T @ omega)
    assert diagonals[1].lines[0].get_ydata().tolist() == [0.25, 1.25, 0.25]
