import numpy as np
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose

from papers.beyond import (
    JOINED,
    OTHER_COLOR,
    OUR_COLOR,
    OURS,
    SCORES,
    critical_difference,
    draw_ranks,
    draw_scores,
    groups_within,
    mean_ranks,
    settings_on,
)
from papers.catalog import EXPERIMENTS
from papers.feature_selection import Findings, agreement, mean_agreement, score_findings
from papers.outcome import Measured
from papers.plans import load_plan
from tests.helpers.reproduction import drawn, words_on

SETTINGS = load_plan("beyond-accuracy").settings
OF_RELEVANCE = load_plan("beyond-relevance").settings
TRUTH = np.array(["strong", "weak", "weak", "irrelevant", "irrelevant"])


def test_the_best_has_rank_one_and_equal_scores_share_their_ranks():
    scores = np.array([[0.9, 0.8, 0.7], [0.5, 0.5, 0.4], [0.1, 0.2, 0.3]])
    assert_allclose(mean_ranks(scores), [(1 + 1.5 + 3) / 3, (2 + 1.5 + 2) / 3, (3 + 3 + 1) / 3])


@pytest.mark.parametrize(("n_methods", "q"), [(2, 1.960), (5, 2.728), (10, 3.164)])
def test_the_critical_difference_is_nemenyis(n_methods, q):
    """Values of q at 0.05 as in table 5 of Demšar 2006."""
    expected = q * np.sqrt(n_methods * (n_methods + 1) / (6 * 30))
    assert critical_difference(n_methods, 30) == pytest.approx(expected, rel=5e-4)


def test_groups_are_as_large_as_the_distance_allows_and_none_is_within_another():
    assert groups_within([4.0, 1.0, 2.0, 2.5], 1.5) == [(1.0, 2.5), (2.5, 4.0)]
    assert groups_within([1.0, 2.0, 3.0], 2.0) == [(1.0, 3.0)]
    assert groups_within([1.0, 3.0], 1.0) == []
    assert groups_within([1.0, 1.0], 1.0) == []


def test_cells_are_shared_with_the_table_of_lann():
    ours, theirs = (set(EXPERIMENTS[name]().cells) for name in ("beyond-accuracy", "lann-table1-fifth"))
    assert theirs < ours


def test_limits_apply_only_to_the_data_sets_they_name():
    assert settings_on("isolet", SETTINGS)["LGMLVQ"] == {"n_components": 10}
    assert settings_on("iris", SETTINGS) == SETTINGS["learners"]
    assert {name for limit in SETTINGS["limits"] for name in limit["datasets"]} <= set(SETTINGS["datasets"])
    assert {name for limit in SETTINGS["limits"] for name in limit["learners"]} <= set(SETTINGS["learners"])


def test_accuracies_are_ranked_and_drawn():
    experiment = EXPERIMENTS["beyond-accuracy"]()
    learners = list(SETTINGS["learners"])
    values = experiment.measure(better_and_better)
    assert values["iris", learners[-1]].value == pytest.approx((len(learners) - 1) / 100)
    assert values["iris", "all"].value == pytest.approx((len(learners) - 1) / 200)
    assert [values["mean rank", name].value for name in learners] == list(range(len(learners), 0, -1))
    n_sets, n_learners = len(SETTINGS["datasets"]), len(learners)
    assert values["Friedman's statistic", "all"].value == pytest.approx(n_sets * (n_learners - 1))
    assert values["its p-value", "all"].value < 1e-9
    words = words_on(drawn(experiment.draw, better_and_better))
    assert set(learners) <= words
    assert f"critical difference {critical_difference(n_learners, n_sets):.2f}" in words


def better_and_better(cell):
    """Each learner is better by the same amount than the one before it."""
    return {"accuracy": list(SETTINGS["learners"]).index(cell.arguments["learner"]) / 100}


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
    kinds, methods = OF_RELEVANCE["kinds"], OF_RELEVANCE["methods"]
    assert {method for _, method in values} == set(methods)
    assert {row for row, _ in values} == {f"{kind}: {score}" for kind in kinds for score in SCORES}
    assert ("linear 200: exact strength", "lasso") not in values
    seeds = np.arange(OF_RELEVANCE["seeds"])
    assert values["relevance xor: weak found", "lasso"] == pytest.approx((np.mean(seeds % 2), np.std(seeds % 2)))
    assert {published.row for published in experiment.plan.published} <= {row for row, _ in values}


def test_all_methods_and_panels_are_drawn():
    words = words_on(drawn(EXPERIMENTS["beyond-relevance"]().draw, invented))
    assert {*OF_RELEVANCE["methods"], *OF_RELEVANCE["panels"]} <= words


def test_every_method_has_a_cell_for_each_data_set_and_one_for_its_halves():
    cells = EXPERIMENTS["beyond-relevance"]().cells
    n_each = OF_RELEVANCE["seeds"] + OF_RELEVANCE["halves"]["seeds"]
    assert len(set(cells)) == len(OF_RELEVANCE["kinds"]) * len(OF_RELEVANCE["methods"]) * n_each


RANKS = {"LANN": 1.25, "kNN": 2.0, "NCA": 2.75}


def test_names_stand_at_their_mean_ranks_in_the_colour_of_their_library():
    (ax,) = drawn(draw_ranks, RANKS, [(1.25, 2.0)], 1.0, {"LANN"}).axes
    colors = {text.get_text(): to_hex(text.get_color()) for text in ax.texts}
    assert (colors["LANN"], colors["kNN"], colors["NCA"]) == (OUR_COLOR, OTHER_COLOR, OTHER_COLOR)
    dots = {float(line.get_xdata()[0]) for line in ax.lines if line.get_marker() == "o" and len(line.get_xdata())}
    assert dots == set(RANKS.values())
    assert {"1.2", "2.0", "2.8", "critical difference 1.00", "mean rank"} <= set(colors)


def test_each_group_without_a_difference_has_a_bar():
    (ax,) = drawn(draw_ranks, RANKS, [(1.25, 2.0), (2.0, 2.75)], 1.0, set()).axes
    bars = [line for line in ax.lines if line.get_color() == JOINED and len(line.get_xdata())]
    assert [[round(x, 1) for x in bar.get_xdata()] for bar in bars] == [[1.2, 2.0], [2.0, 2.8]]
    assert bars[0].get_ydata()[0] != bars[1].get_ydata()[0]


def test_scores_have_a_panel_for_each_kind_and_score():
    kinds, panels, methods = ["linear", "xor, many"], ["strong found", "weak found"], ["intervals", "lasso"]
    scores = {(k, p, m): Measured(0.5, 0.1) for k in kinds for p in panels for m in methods}
    figure = drawn(draw_scores, kinds, panels, methods, scores, {"intervals"})
    assert len(figure.axes) == 4
    assert {*panels, *methods, "linear", "xor\nmany", "this library", "other methods"} <= words_on(figure)
    assert all(len(ax.containers) == len(methods) for ax in figure.axes)
