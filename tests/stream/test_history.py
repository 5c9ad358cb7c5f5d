import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import whynear as wn
from tests.helpers.slow_memory import drifting_stream
from whynear.stream.history import COLUMNS, FIRST_INTERVAL, MOST_LINES, MOST_NOTES, Record, replacements


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


# Which feature replaces which: found where the truth is known, and not found where nothing drifts.


NAMES = ["a", "b", "c"]
CASES = np.arange(100, 2100, 100)
CLEAR = np.tile([30.0, 5.0], (20, 1))


def shares_of(*periods):
    return np.vstack([np.tile(shares, (n, 1)) for n, shares in periods])


def test_a_feature_that_leads_after_another_replaces_it():
    shares = shares_of((10, [0.9, 0.02, 0.08]), (10, [0.03, 0.9, 0.07]))
    (found,) = replacements(CASES, shares, CLEAR, NAMES)
    assert str(found) == "from case 1,100 on, 'b' replaces 'a'"


@pytest.mark.parametrize(
    "shares",
    [
        shares_of((20, [0.9, 0.05, 0.05])),
        shares_of((10, [0.6, 0.4, 0.0]), (10, [0.4, 0.6, 0.0])),  # both matter
        shares_of((17, [0.9, 0.02, 0.08]), (3, [0.0, 0.9, 0.1])),  # for a moment
        shares_of((10, [0.9, 0.02, 0.08]), (10, [0.26, 0.28, 0.46])),  # nothing leads
        np.full((20, 3), np.nan),
    ],
)
def test_other_changes_are_no_replacement(shares):
    assert replacements(CASES, shares, CLEAR, NAMES) == ()


def test_without_an_advantage_of_the_learned_metric_nothing_is_said():
    shares = shares_of((10, [0.9, 0.02, 0.08]), (10, [0.03, 0.9, 0.07]))
    assert replacements(CASES, shares, np.tile([20.0, 20.0], (20, 1)), NAMES) == ()
    assert replacements(CASES[:0], shares[:0], CLEAR[:0], NAMES) == ()


def noisy(seed, n):
    """Cases of seven features, none or some of which decide, and one label in ten drawn at random."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 7))
    decided = [X[:, 0] > 0, X[:, 0] + X[:, 1] > 0, X[:, 0] * X[:, 1] > 0, rng.random(n) < 0.5][seed % 4]
    return X, np.where(rng.random(n) < 0.1, rng.random(n) < 0.5, decided)


@pytest.mark.slow
def test_a_stationary_stream_gives_no_sentence():
    for seed in range(20):
        model = wn.SelfAdjustingMemory().partial_fit(*noisy(seed, 4000))
        assert model.history.sentences() == [], seed


def test_a_known_drift_gives_its_sentence():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((3000, 6))
    y = np.where(np.arange(3000) < 1500, X[:, 2] > 0, X[:, 4] > 0)
    history = wn.SelfAdjustingMemory().partial_fit(X, y).history
    (found,) = history.replacements
    assert (found.new, found.old) == ("x4", "x2")
    assert 1500 < found.case <= 2000


@pytest.mark.slow
def test_the_price_in_victoria_takes_turns_with_the_day_once_it_is_known_and_replaces_nothing(real_data):
    """Until row 17,424 of elec2 that column is constant."""
    data = wn.datasets.load("elec2", real_data)
    X = data.X[["day", "period", "nswdemand", "vicprice", "vicdemand", "transfer"]]
    history = wn.SelfAdjustingMemory().partial_fit(X, data.y).history
    cases, price = history.table["case"], history.relevances["vicprice"]
    assert price[cases <= 17_400].max() < 1e-9
    assert price[(cases > 17_424) & (cases < 19_000)].max() > 0.3
    later = history.relevances[cases > 20_000]
    assert (later.idxmax(axis=1) == "vicprice").mean() > 0.3
    assert (later.idxmax(axis=1) == "day").mean() > 0.3
    assert history.sentences() == []
    assert_array_equal(np.diff(cases), cases[0])


def filled(n_lines):
    record, seen = Record(2), 0
    for _ in range(n_lines):
        n = record.cases_until_next(seen)
        right = np.arange(n) % 2 == 0
        record.count(right, right, ~right)
        seen += n
        assert record.is_due(seen)
        record.add(seen, 1, 0, 50, 7, np.array([0.25, 0.75]))
    return record, seen


def test_lines_are_at_equal_intervals_and_count_every_case_once():
    record, seen = filled(3 * MOST_LINES)
    assert len(record.lines) < MOST_LINES
    assert record.interval == 32 * FIRST_INTERVAL
    assert_array_equal(np.diff(record.lines[:, 0]), record.interval)
    assert record.lines[:, COLUMNS.index("n_predicted")].sum() == seen
    for name in ("n_right", "gains", "losses"):
        assert record.lines[:, COLUMNS.index(name)].sum() == seen / 2


def test_a_later_feature_has_no_share_before_it_came():
    record, seen = filled(2)
    record.add(seen + 100, 1, 0, 50, 7, np.array([0.2, 0.3, 0.5]))
    assert np.isnan(record.lines[:2, -1]).all()
    assert record.lines[2, -1] == 0.5


def test_notes_are_bounded_and_keep_the_first_and_the_latest():
    record = Record(1)
    for i in range(5 * MOST_NOTES):
        record.note(i, f"event {i}")
    assert len(record.notes) == MOST_NOTES
    assert record.n_notes == 5 * MOST_NOTES
    assert record.notes[0] == (1, "event 0")
    assert record.notes[-1] == (5 * MOST_NOTES, f"event {5 * MOST_NOTES - 1}")


def test_notes_are_in_the_order_of_their_cases_however_they_come():
    """The same are kept as of notes that come in order; those of one case stay in the order of their coming."""
    numbers = np.random.default_rng(0).integers(0, 3 * MOST_NOTES, 5 * MOST_NOTES).tolist()
    notes = [(number, f"event {i}") for i, number in enumerate(numbers)]
    found, expected = Record(1), Record(1)
    for number, text in notes:
        found.note(number, text)
    for number, text in sorted(notes, key=lambda note: note[0]):
        expected.note(number, text)
    assert found.notes == expected.notes
