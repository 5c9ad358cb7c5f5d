import numpy as np
import pytest

from tests.helpers.reproduction import drawn, words_on
from whynear.reproduce import EXPERIMENTS
from whynear.reproduce.beyond.relevance import OURS, SCORES
from whynear.reproduce.beyond.relevance_cells import Findings, agreement, mean_agreement, score_findings
from whynear.reproduce.plans import load_plan

SETTINGS = load_plan("beyond-relevance").settings
TRUTH = np.array(["strong", "weak", "weak", "irrelevant", "irrelevant"])


def invented(cell):
    importance = np.array([5, 4, 3, 2, 1])
    if cell.work is agreement:
        return mean_agreement([Findings(np.array([True, True, False, False, False]), importance)] * 2)
    is_odd = cell.arguments["seed"] % 2 == 1
    strength = TRUTH if cell.arguments["method"] in OURS else None
    return score_findings(Findings(np.array([True, is_odd, is_odd, False, False]), importance, strength), TRUTH)


def test_scores_are_means_over_the_data_sets():
    experiment = EXPERIMENTS["beyond-relevance"]()
    values = experiment.measure(invented)
    kinds, methods = SETTINGS["kinds"], SETTINGS["methods"]
    assert {method for _, method in values} == set(methods)
    assert {row for row, _ in values} == {f"{kind}: {score}" for kind in kinds for score in SCORES}
    assert ("linear 200: exact strength", "lasso") not in values
    seeds = np.arange(SETTINGS["seeds"])
    assert values["relevance xor: weak found", "lasso"] == pytest.approx((np.mean(seeds % 2), np.std(seeds % 2)))
    assert {published.row for published in experiment.plan.published} <= {row for row, _ in values}


def test_all_methods_and_panels_are_drawn():
    words = words_on(drawn(EXPERIMENTS["beyond-relevance"]().draw, invented))
    assert {*SETTINGS["methods"], *SETTINGS["panels"]} <= words


def test_every_method_has_a_cell_for_each_data_set_and_one_for_its_halves():
    cells = EXPERIMENTS["beyond-relevance"]().cells
    n_each = SETTINGS["seeds"] + SETTINGS["halves"]["seeds"]
    assert len(set(cells)) == len(SETTINGS["kinds"]) * len(SETTINGS["methods"]) * n_each
