"""The figures of a study."""

import re

import numpy as np
import pytest
from matplotlib.figure import Figure

import whynear as wn
from tests.helpers.blank_figures import save_empty
from tests.helpers.studies import numeric_study
from whynear.report.figures import MOST_LINES, figures, svg, svg_text


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
