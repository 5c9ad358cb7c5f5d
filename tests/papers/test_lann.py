import numpy as np
import pytest

from papers import lann
from papers.catalog import EXPERIMENTS
from tests.helpers.reproduction import drawn, invented, missing_rows, words_on

NAMES = [name for name in EXPERIMENTS if name.startswith("lann-")]


@pytest.mark.parametrize("name", NAMES)
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
