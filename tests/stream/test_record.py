import numpy as np
from numpy.testing import assert_array_equal

from whynear.stream.history import COLUMNS, FIRST_INTERVAL, MOST_LINES, MOST_NOTES, Record


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
