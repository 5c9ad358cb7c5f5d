import numpy as np
from numpy.testing import assert_array_equal

from whynear.cases.index_file import map_arrays, write_arrays


def test_arrays_come_back_as_they_were_written(tmp_path):
    arrays = {"ids": np.arange(5), "terms": np.ones((5, 3), np.float32), "empty": np.empty((0, 2))}
    write_arrays(tmp_path / "file", {"state": 3}, arrays)
    key, mapped = map_arrays(tmp_path / "file")
    assert key == {"state": 3}
    for name, array in arrays.items():
        assert_array_equal(mapped[name], array)
        assert mapped[name].dtype == array.dtype
        assert not mapped[name].flags.writeable
