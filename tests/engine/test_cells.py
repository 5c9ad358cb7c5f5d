import numpy as np

from tests.helpers.pieces import double, doubles
from whynear.engine import cells
from whynear.engine.cells import Cell, CellStore
from whynear.engine.pieces import run_piece


def test_a_saved_cell_is_found_with_its_result(tmp_path):
    cell, other = doubles(2)
    assert CellStore(tmp_path).find(cell) is None
    done = run_piece(cell)
    CellStore(tmp_path).save(cell, done)
    assert CellStore(tmp_path).find(cell) == done
    assert CellStore(tmp_path).result(cell) == {"doubled": 0}
    assert CellStore(tmp_path).find(other) is None


def test_another_function_or_argument_gives_another_name():
    names = {Cell(work, {"number": n}).name for work in (double, doubles) for n in (1, 2)}
    assert len(names) == 4
    assert Cell(double, {"number": 1}).name.startswith("pieces.double/1-")
    assert Cell(double, {"number": 1}, weight=9) == Cell(double, {"number": 1})


def test_other_code_gives_another_name(monkeypatch):
    name = Cell(double, {"number": 1}).name
    assert Cell(double, {"number": 1}).name == name
    with monkeypatch.context() as other:
        other.setattr(cells, "code_digest", lambda module: "changed")
        assert Cell(double, {"number": 1}).name != name


def test_a_damaged_file_counts_as_missing(tmp_path):
    cell = doubles(1)[0]
    store = CellStore(tmp_path)
    store.save(cell, run_piece(cell))
    for damage in ("", '{"result": ', "[]", '{"seconds": 1}'):
        (tmp_path / cell.name).write_text(damage)
        assert CellStore(tmp_path).find(cell) is None


def test_results_are_plain_numbers():
    cell = Cell(arrays, {})
    assert run_piece(cell).result == {"a": [0.0, 1.0], "n": 3, "gone": None}


def arrays():
    return {"a": np.arange(2.0), "n": np.int64(3), "gone": np.nan}
