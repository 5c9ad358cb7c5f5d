from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import norm

from whynear.verdict import rules
from whynear.verdict.rules import Costs, Evidence, Information, decide, holm


def verdict_on(*, q=1.0, size=0.0, loss=0.0, p=0.5, most=0.0, works=True, n=1000, alone=0.0, **more):
    """The verdict on one feature beside another that is surely indispensable."""
    sizes = np.array([8.0, size])
    evidence = Information(np.ones(2), np.array([0.0, q]), sizes, np.zeros(2), p_alone=np.array([0.0, alone]))
    costs = Costs(np.array([20.0, loss]), np.ones(2), np.array([9.0, norm.isf(p)]), np.array([25.0, most]))
    return str(decide(Evidence(evidence, costs, works, n, **more))[1])


LOSS, MOST = rules.LEAST_LOSS, rules.MOST_LOSS


@pytest.mark.parametrize(
    ("case", "word"),
    [
        ({"q": 0.0, "size": 8, "loss": LOSS + 4, "p": 1e-4, "most": MOST + 6}, "indispensable"),
        ({"q": 0.9, "size": 0.1, "loss": LOSS + 4, "p": 1e-4, "most": MOST + 6}, "indispensable"),
        ({"q": 0.0, "size": 8, "loss": LOSS - 0.1, "p": 1e-4, "most": MOST - 0.5}, "replaceable"),
        ({"q": 0.0, "size": 8, "loss": LOSS - 0.1, "p": 1e-4, "most": MOST + 0.5}, "undecided"),
        ({"q": 0.0, "size": 8, "loss": 5.0, "p": 0.2, "most": MOST + 6}, "undecided"),
        ({"q": 0.0, "size": 8, "loss": 0.0, "p": 0.5, "most": MOST}, "replaceable"),
        ({"q": 0.0, "size": 8, "loss": 0.0, "p": 0.5, "most": MOST + 0.1}, "undecided"),
        ({"q": 0.0, "size": 8, "p": 0.3, "alone": 0.5}, "replaceable"),
        ({"q": 0.0, "size": 8, "p": 0.6, "alone": 0.5}, "undecided"),
        ({"q": 0.9, "size": 0.1}, "no evidence"),
        ({"q": 0.06, "size": 4.0}, "undecided"),
        ({"q": 0.0, "size": 8, "loss": 5.0, "p": 1e-4, "works": False}, "undecided"),
        ({"q": 0.0, "size": 8, "works": False}, "undecided"),
        ({"q": 0.9, "size": 0.1, "works": False}, "no evidence"),
        ({"q": 0.9, "size": 0.1, "missed_together": True}, "undecided"),
        ({"q": 0.0, "size": 8, "most_on_many_rows": np.array([25.0, MOST])}, "replaceable"),
        ({"q": 0.0, "size": 8, "most_on_many_rows": np.array([25.0, MOST + 0.1])}, "undecided"),
        ({"q": 0.0, "size": 8, "stability": np.array([1.0, rules.AGREED])}, "replaceable"),
        ({"q": 0.0, "size": 8, "stability": np.array([1.0, rules.AGREED - 0.05])}, "undecided"),
        ({"q": 0.0, "size": 8, "stability": np.array([np.nan, np.nan])}, "replaceable"),
        ({"q": 0.0, "size": 8, "in_smallest_set": np.array([True, True])}, "replaceable"),
    ],
)
def test_the_verdict_follows_from_the_evidence(case, word):
    assert verdict_on(**case) == word


def test_many_features_ask_for_smaller_p_values():
    def needed(d):
        return Costs(np.full(d, 5.0), np.ones(d), np.append(norm.isf(0.02), np.zeros(d - 1)), np.zeros(d)).needed

    assert needed(2)[0]
    assert not needed(3)[0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_adjusted_p_values_reject_what_the_steps_of_holm_reject(p_values):
    p_values = np.array(p_values)
    adjusted = holm(p_values)
    for level in (0.01, 0.05, 0.3):
        rejected = np.zeros(len(p_values), dtype=bool)
        for step, j in enumerate(np.argsort(p_values, kind="stable")):
            if p_values[j] * (len(p_values) - step) >= level:
                break
            rejected[j] = True
        assert ((adjusted < level) == rejected).all()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_adjusted_p_values_keep_the_order_and_never_shrink(p_values):
    p_values = np.array(p_values)
    adjusted = holm(p_values)
    assert (adjusted >= p_values - 1e-15).all()
    assert (np.diff(adjusted[np.argsort(p_values, kind="stable")]) >= 0).all()
    assert_allclose(adjusted.min(), min(1.0, len(p_values) * p_values.min()))


def test_a_feature_of_the_smallest_set_is_not_without_evidence():
    without = {"q": 0.9, "size": 0.1}
    assert verdict_on(**without, in_smallest_set=np.array([True, False])) == "no evidence"
    assert verdict_on(**without, in_smallest_set=np.array([False, True])) == "undecided"


def test_words_state_the_thresholds(monkeypatch):
    assert set(rules.meanings()) == set(rules.WORDS)
    assert rules.meanings(20)["undecided"].endswith(f"fewer than {rules.AGREED:.0%} of 20 resamples agree")
    monkeypatch.setattr(rules, "MOST_LOSS", 3.5)
    assert "at most 3.5 points are lost" in rules.meanings()["replaceable"]
    assert verdict_on(q=0.0, size=8, most=3.4) == "replaceable"


@pytest.mark.parametrize(
    "sentence",
    [
        f"if its q-value is below {rules.FALSE_DISCOVERIES:g}",
        f"the p-value is below {rules.SIGNIFICANT:g} after Holm's correction",
        f"The usual size is {rules.USUAL:g} times the median",
        f"surely loses at most {100 * rules.MOST_LOST:g} points",
        f"its loss is within {rules.BELOW_ALL:g} standard errors of that of all features",
        f"within {rules.NOT_WORSE:g} standard errors of the loss, and at most {rules.MOST_PRICE:g} points lower",
        f"a correlation of at least {rules.ALIKE:g} with the member",
        f"is more than {rules.LARGEST_ERROR:.0%} of what features gain over guessing",
    ],
)
def test_the_guide_states_the_thresholds(sentence):
    guide = (Path(__file__).parents[2] / "docs" / "relevance.md").read_text(encoding="utf-8")
    assert sentence in " ".join(guide.split())
