"""What refitting says about the features of a table, as values, tables and text."""

import json

import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression

from tests.helpers.notebook_html import HOSTILE, shown
from tests.helpers.verdicts import made_up, two_of_four
from whynear.datasets import make_truth
from whynear.verdict import verdicts

COLUMNS = ["feature", "verdict", "loss_without", "loss_error", "p_value", "effect", "q_value", "stability"]


@pytest.fixture(scope="module")
def linear():
    data = make_truth("relevance linear", 0)
    return verdicts(LogisticRegression(), data.X, data.y, random_state=0, n_resamples=4), data


@pytest.fixture(scope="module")
def small():
    X, y = two_of_four()
    return verdicts(LogisticRegression(), X, y, random_state=0, n_resamples=4), X, y


def test_the_frame_has_a_row_for_each_feature(linear):
    found, data = linear
    frame = found.frame()
    assert list(frame) == COLUMNS
    assert list(frame["feature"]) == list(data.X)
    assert_array_equal(frame["loss_without"], found.loss)
    assert not frame.isna().any().any()


def test_features_are_named_by_verdict_dearest_first(small):
    found, _, _ = small
    assert set(found.named("indispensable")) == {"one", "two"}
    assert found.named("replaceable") == ()
    losses = [found.loss[found.feature_names.index(name)] for name in found.named("indispensable")]
    assert losses == sorted(losses, reverse=True)
    assert repr(found) == "Verdicts(4 features: 2 indispensable, 0 replaceable, 0 undecided, 2 no evidence)"


def test_everything_can_be_written_as_json(small):
    written = json.loads(json.dumps(small[0].to_dict()))
    assert [one["verdict"] for one in written["features"]] == [
        "indispensable",
        "indispensable",
        "no evidence",
        "no evidence",
    ]
    assert set(written["sufficient"]) == {"one", "two"}
    assert written["curve"][-1]["n_features"] == 4


def test_notebooks_show_verdicts_and_losses(linear):
    text = shown(linear[0])
    assert "strong_0 indispensable" in text
    assert "accuracy" in text
    assert "4 resamples" in text


def test_notebooks_show_hostile_names_as_text_and_not_all_of_many():
    text = shown(made_up([*HOSTILE, *(f"f{j}" for j in range(40))]))
    assert "<script>alert(1)</script>" in text
    assert "29 more features" in text
