import numpy as np
import pytest
from numpy.testing import assert_array_equal

from whynear.cases.index import map_arrays, write_arrays


def test_arrays_come_back_as_they_were_written(tmp_path):
    arrays = {"ids": np.arange(5), "terms": np.ones((5, 3), np.float32), "empty": np.empty((0, 2))}
    write_arrays(tmp_path / "file", {"state": 3}, arrays)
    key, mapped = map_arrays(tmp_path / "file")
    assert key == {"state": 3}
    for name, array in arrays.items():
        assert_array_equal(mapped[name], array)
        assert mapped[name].dtype == array.dtype
        assert not mapped[name].flags.writeable


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        (lambda content: b"x" + content[1:], "no index file"),
        (lambda content: content[:-1] + bytes([content[-1] ^ 1]), "checksum"),
        (lambda content: content + b"x", "checksum"),
        (lambda content: content.replace(b"<f8", b"<f2"), "does not describe arrays"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path, damage, error):
    path = tmp_path / "file"
    write_arrays(path, {"state": 3}, {"a": np.arange(5.0)})
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=error):
        map_arrays(path)
