import pytest

from whynear.work.pieces import run_piece


@pytest.fixture
def result_of(real_data, monkeypatch):
    """Computes a cell on the real data when its result is needed, once."""
    monkeypatch.setenv("WHYNEAR_DATA", str(real_data))
    results = {}

    def compute(cell):
        if cell not in results:
            results[cell] = run_piece(cell).result
        return results[cell]

    return compute
