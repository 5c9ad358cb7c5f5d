import numpy as np
import pandas as pd
import pytest

from whynear.study.comparison import Comparison


@pytest.fixture
def comparison():
    accuracy = pd.DataFrame({"grlvq": [0.5, 1.0], "gmlvq": [1.0, 1.0], "plain kNN": [0.0, 0.5], "NCA with kNN": 0.5})
    held_out = pd.DataFrame({"true": ["u", "v", "v"], "predicted": ["u", "u", "v"], "fold": [1, 2, 1]})
    return Comparison(accuracy, "gmlvq", pd.Series([0.5, 1.0]), held_out, held_out=held_out, models=("one", "two"))


def test_scores_are_summed_up_by_method(comparison):
    first = comparison.methods[0]
    assert (first.name, first.mean, first.by_fold) == ("grlvq", 0.75, (0.5, 1.0))
    assert first.deviation == pytest.approx(np.std([0.5, 1.0], ddof=1))
    assert comparison.expected == 0.75


def test_baselines_are_no_learners(comparison):
    assert comparison.n_learners == 2


def test_wrong_predictions_are_marked(comparison):
    assert comparison.wrong.tolist() == [False, True, False]
