import csv

import numpy as np
import pytest
from matplotlib.figure import Figure

from tests.helpers.pages import data_of, words_of
from tests.helpers.studies import grade_study, octane_study
from whynear.report.page import render
from whynear.report.spectra_drawing import draw_spectrum

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
