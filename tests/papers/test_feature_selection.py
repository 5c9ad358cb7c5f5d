import sys

import numpy as np
import pytest

from papers.beyond import OURS
from papers.feature_selection import METHODS, Findings, agreement, mean_agreement, score_findings, scores
from papers.plans import load_plan
from whynear.datasets import make_relevance

SETTINGS = load_plan("beyond-relevance").settings["methods"]
TRUTH = np.array(["strong", "weak", "weak", "irrelevant", "irrelevant"])


def findings(relevant, strength=None, importance=(5, 4, 3, 2, 1)):
    return Findings(np.array(relevant, dtype=bool), np.array(importance), strength)


def test_features_are_counted_by_their_true_strength():
    assert score_findings(findings([1, 1, 0, 0, 0]), TRUTH) == {
        "strong found": 1.0,
        "weak found": 0.5,
        "irrelevant left out": 1.0,
        "relevant or not": pytest.approx((2 / 3 + 1) / 2),
    }
    everything = score_findings(findings([1, 1, 1, 1, 1]), TRUTH)
    assert (everything["irrelevant left out"], everything["relevant or not"]) == (0.0, 0.5)


def test_strengths_are_compared_with_the_truth():
    strength = np.array(["strong", "strong", "weak", "irrelevant", "unknown"])
    found = score_findings(findings([1, 1, 1, 0, 0], strength), TRUTH)
    assert found["exact strength"] == pytest.approx(3 / 5)
    assert found["exact strength, strong or weak"] == pytest.approx(2 / 3)


def test_agreement_is_the_mean_over_pairs():
    first, second = findings([1, 1, 0, 0, 0]), findings([1, 0, 0, 0, 0])
    third = findings([0, 0, 1, 0, 0], importance=(1, 2, 3, 4, 5))
    assert mean_agreement([first, second, third]) == {
        "same features": pytest.approx(0.5 / 3),
        "same order": pytest.approx((1 - 1 - 1) / 3),
    }


def test_no_relevant_feature_on_both_halves_is_no_agreement():
    nothing = findings([0, 0, 0, 0, 0], importance=np.zeros(5))
    assert mean_agreement([nothing, nothing]) == {"same features": 0.0, "same order": 0.0}


# A run shows no warnings either; these announce changes of SHAP and scikit-learn.
ignore_announcements = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::PendingDeprecationWarning")


@ignore_announcements
@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_strong_feature_of_easy_data(method):
    rival = method.partition(",")[0].lower()
    if rival in ("shap", "boruta"):
        pytest.importorskip(rival)  # rivals are installed for development only
    data = make_relevance(n_irrelevant=2, random_state=0)
    found = METHODS[method](data.X, data.y, 0, **SETTINGS[method] | cheap(method))
    assert found.relevant[0]
    assert found.relevant.shape == found.importance.shape == data.strength.shape
    assert found.importance.argmax() < np.flatnonzero(data.strength == "irrelevant")[0]
    assert all(0 <= score <= 1 for score in score_findings(found, data.strength).values())
    assert (found.strength is not None) == (method in OURS)


def cheap(method):
    few = {"intervals": {"n_prototypes": 1, "n_probes": 3}, "verdicts": {"n_prototypes": 1}}
    return few.get(method, {})


@ignore_announcements
def test_a_method_is_scored_on_generated_data():
    assert scores("lasso", "linear 50", {}, 0)["strong found"] == 1.0
    assert scores("lasso", "linear 50", {}, 0) == scores("lasso", "linear 50", {}, 0)


@ignore_announcements
def test_halves_of_one_data_set_are_compared():
    result = agreement("lasso", "linear 200", {}, 0, 3)
    assert 0 < result["same features"] <= 1
    assert -1 <= result["same order"] <= 1


@pytest.mark.parametrize(("method", "package"), [("SHAP, trees", "shap"), ("Boruta", "boruta")])
def test_a_missing_package_is_named_with_the_command_to_install_it(monkeypatch, method, package):
    monkeypatch.setitem(sys.modules, package, None)
    data = make_relevance(random_state=0)
    with pytest.raises(ImportError, match="not installed: pip install shap boruta"):
        METHODS[method](data.X, data.y, 0, **SETTINGS[method])
