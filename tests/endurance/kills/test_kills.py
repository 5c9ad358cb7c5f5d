"""A handful of the kills of ``python -m tests.endurance.kills``."""

import pytest

from tests.endurance.kills import case_base, stream, studio, study

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kills", [case_base, study, stream, studio], ids=["case base", "study", "stream", "studio"])
def test_nothing_acknowledged_is_lost_and_nothing_is_half_written(tmp_path, kills):
    assert kills.run(tmp_path, 6, seed=1).startswith("6 kills")
