import json

import numpy as np
import pandas as pd
import pytest

import whynear as wn
from tests.helpers.slow_memory import drifting_stream


@pytest.fixture(scope="module")
def history():
    X, y = drifting_stream(0, n=650)
    model = wn.SelfAdjustingMemory(n_neighbors=3, min_size=8, max_size=60)
    found = model.prequential(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    return model.history, found == y


def test_a_line_for_each_hundred_cases_with_the_accuracy_of_these(history):
    history, right = history
    frame = history.frame()
    assert frame["case"].tolist() == [100, 200, 300, 400, 500, 600]
    expected = [right[start : start + 100].mean() for start in range(0, 600, 100)]
    # The first case of all has no prediction, and counts as wrong.
    assert np.allclose(frame["accuracy"][1:], expected[1:])
    assert abs(frame["accuracy"][0] - expected[0]) <= 0.01
    assert np.allclose(frame.filter(like="relevance of ").sum(axis=1), 1)
    assert (frame["short_term"] + frame["long_term"] <= 60).all()
    assert set(frame["memory"]) <= {"short-term", "long-term", "both"}
    assert set(frame["metric"]) <= {"plain", "raw", "z-scores"}


def test_it_can_be_sent_shown_and_drawn(history):
    history = history[0]
    assert json.loads(json.dumps(history.to_dict(), allow_nan=False))["intervals"][0]["case"] == 100
    assert "650" not in repr(history)
    assert "600 cases in 6 intervals" in repr(history)
    assert "<table" in history._repr_html_()
    ax = history.plot(most=2)
    assert ax.get_xlabel() == "case"
    assert [text.get_text() for text in ax.get_legend().get_texts()][-2:] == ["1 other", "accuracy"]
    assert history == wn.StreamHistory(
        history.table, history.relevances, history.advantage, history.notes, history.n_notes
    )


def test_a_short_stream_has_an_empty_history():
    history = wn.SelfAdjustingMemory().partial_fit([[1.0], [2.0]], [0, 1]).history
    assert history.frame().empty
    assert history.sentences() == []
    history.plot()
