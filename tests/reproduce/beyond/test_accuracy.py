import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.helpers.reproduction import drawn, words_on
from whynear.reproduce import EXPERIMENTS
from whynear.reproduce.beyond.accuracy import critical_difference, groups_within, mean_ranks, settings_on
from whynear.reproduce.plans import load_plan

SETTINGS = load_plan("beyond-accuracy").settings


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
