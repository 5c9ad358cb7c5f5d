import numpy as np
import pandas as pd
import pytest

from tests.helpers.notebook_html import HOSTILE, shown
from whynear import GMLVQ, LGRLVQ, explain


def explained(learner, n_features=4, names=None, labels=("a", "b")):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((40, n_features)), columns=names or [f"f{j}" for j in range(n_features)])
    y = np.array(labels)[(X.iloc[:, 0] > 0).to_numpy().astype(int)]
    return explain(learner.fit(X, y), X.iloc[0])


@pytest.mark.parametrize("learner", [GMLVQ(random_state=0), LGRLVQ(random_state=0)])
def test_an_explanation_shows_its_sentence_the_cases_and_the_features(learner):
    why = explained(learner)
    text = shown(why)
    assert repr(why)[1:] in text
    assert "f0" in text  # which alone decides
    assert f"adds to {why.nearest.label}, prototype {why.nearest.name}" in text
    assert f"adds to {why.nearest_other.label}, prototype {why.nearest_other.name}" in text


def test_hostile_names_and_classes_are_shown_as_they_are():
    why = explained(GMLVQ(random_state=0), names=HOSTILE, labels=("<b>up</b>", "</td><svg onload=alert(3)>"))
    text = shown(why)
    assert HOSTILE[0] in text
    assert "<b>up</b>" in text


def test_many_features_are_counted():
    assert "and 585 more features" in shown(explained(GMLVQ(n_components=1, random_state=0), n_features=600))
