"""A few of the mutants of ``python -m tests.endurance.fuzz``."""

import pytest

from tests.endurance.fuzz.law import fuzz
from tests.endurance.fuzz.readers import READERS

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::UserWarning")]

MUTANTS = {
    "case-base": 100,
    "encoded-case-base": 100,
    "model": 100,
    "predict": 15,
    "explain": 15,
    "retrieve": 15,
    "retrieve-encoded": 15,
    "stream-state": 20,
    "studio": 25,
}


@pytest.mark.parametrize("reader", READERS)
def test_what_is_given_is_refused_in_a_sentence_or_read_right(tmp_path, reader):
    found = fuzz(READERS[reader](tmp_path), seed=0, most=MUTANTS.get(reader, 40))
    assert not found.bugs, str(found)
    assert found.refused > 0
    assert found.accepted > 0
