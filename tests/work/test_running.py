import pytest

from tests.helpers.pieces import always_killed, double, raising
from whynear.work.pieces import Piece
from whynear.work.processes import Processes
from whynear.work.workers import results_of


@pytest.mark.parametrize("n_workers", [1, 2])
def test_the_first_piece_that_fails_ends_the_work_with_its_exception(n_workers):
    workers = Processes(n_workers)
    assert [done.result for _, done in results_of(workers, [Piece(double, {"number": 2})])] == [{"doubled": 4}]
    with pytest.raises(KeyError, match="no 5"):
        list(results_of(workers, [Piece(raising, {"number": 5})]))
    workers.close()


def test_a_piece_that_kills_its_process_is_named():
    workers = Processes(2)
    with pytest.raises(OSError, match=r"^always_killed\(which=3\) failed: its process was killed twice"):
        list(results_of(workers, [Piece(always_killed, {"which": 3})]))
    workers.close()
