from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.helpers.notebook_html import HOSTILE, shown
from tests.interpret.test_drawing import intervals, with_unknown
from whynear.interpret.dimension import EffectiveDimension


def test_relevance_names_strong_features_first_and_counts_the_others():
    found = intervals(n_irrelevant=60)
    text = shown(found)
    assert repr(found) in text
    assert f"floor {found.threshold:.3g}" in text
    places = [text.index(name) for name in ("strong_0", "weak_0_0", "noise_")]
    assert places == sorted(places)
    rest = len(found.upper) - 15
    assert f"and {rest} more features: {rest} irrelevant" in text


def test_relevance_shows_hostile_names_and_what_could_not_be_bounded():
    found = with_unknown(intervals())
    names = (*HOSTILE, *found.feature_names[len(HOSTILE) :])
    text = shown(replace(found, feature_names=names, upper=np.where(found.strength == "unknown", np.inf, found.upper)))
    assert HOSTILE[0] in text
    assert "unknown" in text


@pytest.mark.parametrize("criterion", ["validation_error", "mse", "correlation"])
def test_an_effective_dimension_tells_what_the_choice_is_worth(criterion):
    kept, values = np.array([1, 4, 9]), np.array([0.5, 0.25, 0.375])
    train = "train_error" if criterion == "validation_error" else "train_mse"
    curve = pd.DataFrame({"effective_dim": kept, train: values / 2, "mse": values, criterion: values})
    text = shown(EffectiveDimension(4, curve, "projection", criterion))
    assert f"The {criterion.replace('_', ' ')} is 0.25 with 4 directions and 0.375 with 9." in text


def test_an_effective_dimension_of_a_single_candidate_is_shown():
    curve = pd.DataFrame({"effective_dim": [3], "train_error": [0.0], "validation_error": [0.0]})
    assert "3 directions" in shown(EffectiveDimension(3, curve, "projection", "validation_error"))
