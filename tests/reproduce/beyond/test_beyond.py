import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from whynear.datasets import make_relevance
from whynear.reproduce import EXPERIMENTS
from whynear.reproduce.beyond import relevance as beyond_relevance
from whynear.reproduce.beyond.accuracy import critical_difference, groups_within, mean_ranks, settings_on
from whynear.reproduce.beyond.relevance_cells import METHODS, Findings, agreement, mean_agreement, score_findings
from whynear.reproduce.plans import load_plan

RELEVANCE = load_plan("beyond-relevance").settings
ACCURACY = load_plan("beyond-accuracy").settings


# Ranks


def test_the_best_has_rank_one_and_equals_share_theirs():
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


# Accuracy


def test_cells_are_shared_with_the_table_of_lann():
    ours, theirs = (set(EXPERIMENTS[name]().cells) for name in ("beyond-accuracy", "lann-table1-fifth"))
    assert theirs < ours


def test_limits_stand_for_the_sets_they_name_only():
    assert settings_on("isolet", ACCURACY)["LGMLVQ"] == {"n_components": 10}
    assert settings_on("iris", ACCURACY) == ACCURACY["learners"]
    assert {name for limit in ACCURACY["limits"] for name in limit["datasets"]} <= set(ACCURACY["datasets"])
    assert {name for limit in ACCURACY["limits"] for name in limit["learners"]} <= set(ACCURACY["learners"])


def test_accuracies_are_ranked_and_drawn():
    experiment = EXPERIMENTS["beyond-accuracy"]()
    learners = list(ACCURACY["learners"])
    values = experiment.measure(better_and_better)
    assert values["iris", learners[-1]].value == pytest.approx((len(learners) - 1) / 100)
    assert values["iris", "all"].value == pytest.approx((len(learners) - 1) / 200)
    assert [values["mean rank", name].value for name in learners] == list(range(len(learners), 0, -1))
    n_sets, n_learners = len(ACCURACY["datasets"]), len(learners)
    assert values["Friedman's statistic", "all"].value == pytest.approx(n_sets * (n_learners - 1))
    assert values["its p-value", "all"].value < 1e-9
    words = drawn(experiment, better_and_better)
    assert set(learners) <= set(words)
    assert f"critical difference {critical_difference(n_learners, n_sets):.2f}" in words


def better_and_better(cell):
    """Each learner is better by the same amount than the one before it."""
    return {"accuracy": list(ACCURACY["learners"]).index(cell.arguments["learner"]) / 100}


def drawn(experiment, found):
    """The words of a picture."""
    figure = Figure(layout="constrained")
    experiment.draw(figure, found)
    figure.canvas.draw()
    labels = [label.get_text() for ax in figure.axes for label in (*ax.texts, *ax.get_yticklabels(), ax.title)]
    return [*labels, *(ax.get_ylabel() for ax in figure.axes)]


# Relevance

TRUTH = np.array(["strong", "weak", "weak", "irrelevant", "irrelevant"])


def told(relevant, strength=None, importance=(5, 4, 3, 2, 1)):
    return Findings(np.array(relevant, dtype=bool), np.array(importance), strength)


def test_what_is_found_is_counted_by_what_it_is():
    assert score_findings(told([1, 1, 0, 0, 0]), TRUTH) == {
        "strong found": 1.0,
        "weak found": 0.5,
        "irrelevant left out": 1.0,
        "relevant or not": pytest.approx((2 / 3 + 1) / 2),
    }
    everything = score_findings(told([1, 1, 1, 1, 1]), TRUTH)
    assert (everything["irrelevant left out"], everything["relevant or not"]) == (0.0, 0.5)


def test_strengths_are_compared_with_the_truth():
    strength = np.array(["strong", "strong", "weak", "irrelevant", "unknown"])
    scores = score_findings(told([1, 1, 1, 0, 0], strength), TRUTH)
    assert scores["exact strength"] == pytest.approx(3 / 5)
    assert scores["exact strength, strong or weak"] == pytest.approx(2 / 3)


def test_agreement_is_the_mean_over_pairs():
    three = [told([1, 1, 0, 0, 0]), told([1, 0, 0, 0, 0]), told([0, 0, 1, 0, 0], importance=(1, 2, 3, 4, 5))]
    assert mean_agreement(three) == {
        "same features": pytest.approx(0.5 / 3),
        "same order": pytest.approx((1 - 1 - 1) / 3),
    }


def test_to_find_nothing_twice_is_no_agreement():
    nothing = told([0, 0, 0, 0, 0], importance=np.zeros(5))
    assert mean_agreement([nothing, nothing]) == {"same features": 0.0, "same order": 0.0}


# As in a run: what SHAP and scikit-learn will change one day is none of the reader's business.
unheard = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::PendingDeprecationWarning")


@unheard
@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_strong_feature_of_easy_data(method):
    data = make_relevance(n_irrelevant=2, random_state=0)
    found = METHODS[method](data.X, data.y, 0, **RELEVANCE["methods"][method] | cheap(method))
    assert found.relevant[0]
    assert found.relevant.shape == found.importance.shape == data.strength.shape
    assert found.importance.argmax() < np.flatnonzero(data.strength == "irrelevant")[0]
    assert all(0 <= score <= 1 for score in score_findings(found, data.strength).values())
    assert (found.strength is not None) == (method in beyond_relevance.OURS)


def cheap(method):
    return {"intervals": {"n_prototypes": 1, "n_probes": 3}, "intervals, floor 0.1": {"n_prototypes": 1}}.get(
        method, {}
    )


@unheard
def test_halves_of_one_data_set_are_compared():
    result = agreement("lasso", {"target": "linear"}, {}, 0, 3)
    assert 0 < result["same features"] <= 1
    assert -1 <= result["same order"] <= 1


@pytest.mark.parametrize(("method", "package"), [("SHAP, trees", "shap"), ("Boruta", "boruta")])
def test_a_missing_package_is_told_with_the_line_to_type(monkeypatch, method, package):
    monkeypatch.setitem(sys.modules, package, None)
    data = make_relevance(random_state=0)
    with pytest.raises(ImportError, match="not installed: pip install shap boruta"):
        METHODS[method](data.X, data.y, 0, **RELEVANCE["methods"][method])


def test_scores_are_gathered_and_drawn():
    experiment = EXPERIMENTS["beyond-relevance"]()
    values = experiment.measure(made_up)
    kinds, methods = RELEVANCE["kinds"], RELEVANCE["methods"]
    assert {method for _, method in values} == set(methods)
    assert {row for row, _ in values} == {f"{kind}: {score}" for kind in kinds for score in beyond_relevance.SCORES}
    assert ("linear: exact strength", "lasso") not in values
    seeds = np.arange(RELEVANCE["seeds"])
    assert values["xor: weak found", "lasso"] == pytest.approx((np.mean(seeds % 2), np.std(seeds % 2)))
    assert {published.row for published in experiment.plan.published} <= {row for row, _ in values}
    assert {*methods, *RELEVANCE["panels"]} <= set(drawn(experiment, made_up))


def made_up(cell):
    if cell.work is beyond_relevance.agreement:
        return mean_agreement([told([1, 1, 0, 0, 0])] * 2)
    strength = TRUTH if cell.arguments["method"] in beyond_relevance.OURS else None
    return score_findings(told([1, cell.arguments["seed"] % 2, cell.arguments["seed"] % 2, 0, 0], strength), TRUTH)
