import numpy as np

from tests.helpers.pieces import double, doubles
from whynear.reproduce import cells
from whynear.reproduce.cells import Cell, Kept, work_off


def test_a_cell_is_found_again_with_what_came_of_it(tmp_path):
    cell, other = doubles(2)
    assert Kept(tmp_path).find(cell) is None
    done = work_off(cell)
    Kept(tmp_path).keep(cell, done)
    assert Kept(tmp_path).find(cell) == done
    assert Kept(tmp_path).result(cell) == {"doubled": 0}
    assert Kept(tmp_path).find(other) is None


def test_other_work_has_another_name():
    names = {Cell(work, {"number": n}).name for work in (double, doubles) for n in (1, 2)}
    assert len(names) == 4
    assert Cell(double, {"number": 1}).name.startswith("pieces.double/1-")
    assert Cell(double, {"number": 1}, weight=9) == Cell(double, {"number": 1})


def test_other_code_has_another_name(monkeypatch):
    name = Cell(double, {"number": 1}).name
    assert Cell(double, {"number": 1}).name == name
    with monkeypatch.context() as other:
        other.setattr(cells, "code_digest", lambda module: "changed")
        assert Cell(double, {"number": 1}).name != name


def test_a_damaged_file_is_as_none(tmp_path):
    cell = doubles(1)[0]
    kept = Kept(tmp_path)
    kept.keep(cell, work_off(cell))
    for damage in ("", '{"result": ', "[]", '{"seconds": 1}'):
        (tmp_path / cell.name).write_text(damage)
        assert Kept(tmp_path).find(cell) is None


def test_results_are_plain_numbers():
    cell = Cell(arrays, {})
    assert work_off(cell).result == {"a": [0.0, 1.0], "n": 3, "gone": None}


def arrays():
    return {"a": np.arange(2.0), "n": np.int64(3), "gone": np.nan}
