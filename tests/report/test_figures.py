"""The figures of a study."""

import csv
import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

import whynear as wn
from tests.helpers.blank_figures import save_empty
from tests.helpers.pages import data_of, words_of
from tests.helpers.studies import grade_study, numeric_study, octane_study
from whynear.report.figures import (
    LINE_COLOUR,
    MOST_LINES,
    draw_calibration,
    draw_map_of_numbers,
    draw_predictions,
    draw_residuals,
    draw_roc,
    draw_spectrum,
    figures,
    svg,
    svg_text,
)
from whynear.report.page import render
from whynear.study.errors import residuals_of


@pytest.mark.parametrize(("n_features", "named"), [(40, True), (41, False)])
def test_up_to_forty_features_are_named_in_the_figure(n_features, named):
    X = np.random.default_rng(0).standard_normal((60, n_features))
    relevance = wn.relevance_intervals(wn.DiagonalMetric(np.ones(n_features)), X)
    ax = relevance.plot(Figure().add_subplot(), most=MOST_LINES)
    assert (len(ax.get_yticklabels()) == n_features) == named


def test_an_svg_has_ids_that_start_with_its_name_and_is_the_same_again():
    def draw(ax):
        ax.plot([0, 1], [0.123456, 1], gid="line")
        ax.set_title("two --> three")

    (name, text), (_, again) = (svg("curve", draw, (3, 2)) for _ in range(2))
    assert name == "curve"
    assert text == again
    assert text.startswith("<svg")
    assert "<!--" not in text
    ids = re.findall(r' id="([^"]*)"', text)
    assert "curve-line" in ids
    assert all(found.startswith("curve-") for found in ids + re.findall(r'(?:href="|url\()#([^")]*)', text))
    assert not re.search(r' d="[^"]*\.\d{3}', text)


def test_a_whole_figure_can_be_drawn():
    assert svg_text("both", lambda figure: figure.subplots(1, 2), (4, 2)).count("both-axes_") == 2


def test_every_figure_of_a_target_of_classes_and_of_a_numeric_one(study, monkeypatch):
    monkeypatch.setattr(Figure, "savefig", save_empty)
    names = [name for name, text in figures(study) if text.startswith("<svg")]
    first = ["verdicts", "sets", *(["stand-ins"] if study.verdicts.stand_ins.pairs else []), "intervals", "tolerance"]
    assert names == [*first, "roc", "calibration", "rejection", "map-before", "map-after", "profiles"]
    measured = numeric_study()
    numeric = [name for name, _ in figures(measured) if name != "stand-ins"]
    assert numeric == [
        "verdicts",
        "sets",
        "intervals",
        "tolerance",
        "map-before",
        "map-after",
        "predictions",
        "residuals",
    ]


def test_every_curve_is_drawn_with_its_area(study):
    ax = draw_roc(study.errors.roc, Figure().add_subplot())
    named = [text.get_text() for text in ax.get_legend().get_texts()]
    assert named == [f"{curve.label} (area {curve.area:.3f})" for curve in study.errors.roc.curves]
    drawn = ax.lines[1:]
    for line, curve in zip(drawn, study.errors.roc.curves, strict=True):
        assert line.get_xdata().tolist() == curve.false_rate.tolist()
        assert line.get_ydata().tolist() == curve.true_rate.tolist()
    assert len({(line.get_color(), line.get_linestyle()) for line in drawn}) == 3


def test_every_bin_is_drawn_with_its_count(study):
    bins = study.errors.calibration.bins
    ax = draw_calibration(study.errors.calibration, Figure().add_subplot())
    assert [text.get_text() for text in ax.texts] == [f"{held.count:,}" for held in bins]
    points = ax.lines[-1]
    assert list(points.get_xdata()) == [held.probability for held in bins]
    assert list(points.get_ydata()) == [held.right for held in bins]


def test_predictions_are_drawn_over_true_values_with_the_line_where_both_are_equal():
    predictions = pd.DataFrame({"true": [1.0, 2.0, 4.0], "predicted": [1.5, 2.0, 3.0]})
    ax = draw_predictions(predictions, "price", Figure().add_subplot())
    points, line = ax.lines
    assert points.get_xydata().tolist() == predictions.to_numpy().tolist()
    assert (line.get_slope(), to_hex(line.get_color())) == (1, LINE_COLOUR)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("price, measured", "price, predicted when held out")


def test_errors_are_drawn_over_predictions_with_the_interval_and_rings_on_the_largest():
    rng = np.random.default_rng(0)
    predictions = pd.DataFrame({"true": rng.random(40), "predicted": rng.random(40)})
    errors = residuals_of(predictions)
    ax = draw_residuals(predictions, "price", errors, Figure().add_subplot())
    zero, low, high, points, rings = ax.lines
    assert [line.get_ydata()[0] for line in (zero, low, high)] == [0.0, *errors.interval]
    assert_allclose(points.get_ydata(), predictions["true"] - predictions["predicted"])
    assert rings.get_ydata().tolist() == [error.residual for error in errors.largest]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("price, predicted when held out", "measured − predicted")


def test_a_map_colours_the_cases_by_the_target():
    points, y = np.arange(6.0).reshape(3, 2), np.array([5.0, 7.0, 6.0])
    figure = Figure()
    ax = draw_map_of_numbers(points, y, "$price", figure.add_subplot())
    drawn = ax.collections[0]
    assert drawn.get_offsets().tolist() == points.tolist()
    assert drawn.get_array().tolist() == y.tolist()
    assert drawn.get_gid() == "class-0"
    assert "$price" in [axes.get_ylabel() for axes in figure.axes]
    assert not ax.get_xticks().size


pytestmark = pytest.mark.slow  # whole studies


def drawn(study):
    figure = Figure()
    draw_spectrum(study.spectra, study.verdicts, figure)
    return figure


def test_the_axis_has_its_unit_and_the_weights_their_sign():
    top, bottom = drawn(octane_study()).axes
    assert bottom.get_xlabel() == "wavelength (nm)"
    assert bottom.get_ylabel() == "signed weight"
    assert top.get_xlim() == (900.0, 1620.0)
    low, high = bottom.dataLim.intervaly
    weights = octane_study().spectra.weights
    assert low == pytest.approx(weights.min())
    assert high == pytest.approx(weights.max())


def test_each_class_has_its_mean_spectrum():
    study = grade_study()
    top, _ = drawn(study).axes
    lines = {line.get_label(): line.get_ydata() for line in top.get_lines() if line.get_label() in ("high", "low")}
    for name, values in lines.items():
        np.testing.assert_allclose(values, study.problem.X[study.problem.y == name].mean())
    assert len(lines) == 2


def test_bands_with_information_are_shaded_and_the_smallest_set_is_marked():
    study = octane_study()
    figure = drawn(study)
    bands = set(study.spectra.bands.names)
    shaded = [name for name, word in zip(study.verdicts.feature_names, study.verdicts.verdict, strict=True)
              if word in ("indispensable", "replaceable") and name in bands]  # fmt: skip
    top = figure.axes[0]
    assert len(top.patches) == 2 * len(shaded)  # a colour and a hatch each
    marks = [line for line in top.get_lines() if line.get_linewidth() == 4]
    assert len(marks) == len(bands & set(study.verdicts.sets.best))


def test_a_falling_axis_is_drawn_as_in_the_table():
    study = octane_study()
    axis = study.spectra.axis
    assert axis.positions[0] < axis.positions[-1]
    object.__setattr__(axis, "positions", axis.positions[::-1])
    try:
        assert drawn(study).axes[0].get_xlim() == (1620.0, 900.0)
    finally:
        object.__setattr__(axis, "positions", axis.positions[::-1])


def test_the_page_shows_bands_signs_and_preprocessing():
    study = octane_study()
    page = render(study)
    shown, found = data_of(page)["spectrum"], study.spectra
    assert shown["upwards"] == "a larger value raises “octane”"
    assert shown["label"] == "wavelength (nm)"
    assert len(shown["positions"]) == len(shown["weights"]) == 121
    assert [name for name, _, chosen in shown["preprocessing"] if chosen] == [found.choice.chosen]
    names = data_of(page)["features"]["names"]
    assert [names[place] for place, *_ in shown["bands"]] == list(found.bands.names)
    assert [sign for *_, sign in shown["bands"]] == [found.signs[name] for name in found.bands.names]
    assert all(first < last for _, first, last, _ in shown["bands"])
    assert shown["even"] is True
    assert "<dt>spectrum</dt><dd>121 channels in" in page
    assert found.sentence in words_of(page)
    assert "the preprocessing of the spectra was chosen by ridge regression" in words_of(page)
    assert [name for name, _ in data_of(render(grade_study()))["spectrum"]["means"]] == ["high", "low"]


def test_the_data_of_the_figures_are_written(tmp_path):
    study = octane_study()
    study.save(tmp_path)
    with open(tmp_path / "spectrum.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["channel"] for row in rows] == list(study.spectra.axis.columns)
    assert float(rows[5]["weight"]) == pytest.approx(study.spectra.weights[5])
    scores = (tmp_path / "preprocessing.csv").read_text().splitlines()
    assert scores[0] == "preprocessing,score"
    assert len(scores) == 8
    assert (tmp_path / "spectrum.svg").exists()


def test_the_table_of_a_study_without_spectra_has_no_such_part(study, saved):
    assert "spectrum.csv" not in saved
    assert data_of(saved["report.html"])["spectrum"] is None
