import pytest

from whynear.large import problem
from whynear.large.problem import PREDICTION_BYTES, STUDY_BYTES, MemoryLimit


def test_the_limit_is_what_was_given_or_half_of_the_machine(monkeypatch):
    monkeypatch.setattr(problem, "machine_bytes", lambda: 8 * 10**9)
    assert (MemoryLimit.of("2GB").n_bytes, MemoryLimit.of(None).n_bytes) == (2 * 10**9, 4 * 10**9)
    assert MemoryLimit.of(3 * 10**9).room == 3 * 10**9 - STUDY_BYTES


def test_rows_have_room_for_many_copies_of_their_values():
    assert MemoryLimit.of("2GB").rows(10) == (2 * 10**9 - STUDY_BYTES) / 2000
    assert MemoryLimit.of("1MB").rows(10) == 0
    assert MemoryLimit.of_prediction("2GB").rows(10) == int((2 * 10**9 - PREDICTION_BYTES) / 6000)


def test_too_little_room_is_refused_with_what_is_enough(monkeypatch):
    message = (
        r"A study of t takes at least 770 MB of memory, and memory=700MB is allowed. Allow more \(--memory 0.8GB\)"
    )
    with pytest.raises(ValueError, match=message):
        MemoryLimit.of("700MB").check_room(5000, 20, "A study of t")
    MemoryLimit.of("0.8GB").check_room(5000, 20, "A study of t")
    monkeypatch.setattr(problem, "machine_bytes", lambda: 10**9)
    with pytest.raises(ValueError, match="and 500 MB are allowed"):
        MemoryLimit.of(None).check_room(5000, 20, "A study of t")
