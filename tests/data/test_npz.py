import numpy as np
import pytest
from numpy.testing import assert_array_equal

from whynear.datasets import load

GOOD = {
    "X": np.arange(6, dtype=np.float32).reshape(3, 2),
    "y": np.array([0, 1, 0], dtype=np.int8),
    "feature_names": np.array(["a", "b"]),
    "target_names": np.array(["no", "yes"]),
}


def saved(folder, **changes):
    arrays = {k: v for k, v in {**GOOD, **changes}.items() if v is not None}
    np.savez(folder / "mine.npz", **arrays)
    return load("mine", data_dir=folder)


def test_a_file_becomes_a_bunch_of_the_promised_types(tmp_path):
    data = saved(tmp_path, split=np.array(["train", "test", "monitor"]), compound=np.array(list("pqr")))
    assert data.X.dtypes.tolist() == [float, float]
    assert data.y.dtype == np.int64
    assert data.feature_names == data.columns == list(data.X.columns) == ["a", "b"]
    assert data.target_names == ["no", "yes"]
    assert data.split.tolist() == ["train", "test", "monitor"]
    assert data.compound.tolist() == ["p", "q", "r"]
    assert data.name == "mine"
    assert str(tmp_path / "mine.npz") in data.source


def test_a_float_target_is_a_regression(tmp_path):
    data = saved(tmp_path, y=np.array([0.5, 1, 2], dtype=np.float32), target_names=None)
    assert data.target_names is None
    assert data.split is None
    assert data.y.dtype == np.float64


def test_columns_are_those_the_papers_keep(tmp_path):
    data = saved(tmp_path, paper_columns=np.array([False, True]))
    assert data.columns == ["b"]
    assert data.feature_names == ["a", "b"]


def test_no_extra_array_can_take_the_place_of_a_promised_name(tmp_path):
    data = saved(tmp_path, source=np.array(["elsewhere"]), columns=np.array([1]))
    assert data.columns == ["a", "b"]
    assert data.source.startswith("Read from the file")


@pytest.mark.parametrize(
    ("changes", "fact"),
    [
        ({"X": None, "y": None}, "lacks the arrays X, y"),
        ({"X": np.arange(3.0)}, "X must be a numeric table"),
        ({"X": np.array([["a", "b"]] * 3)}, "X must be a numeric table"),
        ({"y": np.array([0, 1])}, "y must have 3 numbers"),
        ({"y": np.array([0, 1, 2])}, "codes from 0 to 1"),
        ({"feature_names": np.array(["a", "a"])}, "2 different names, got 1"),
        ({"feature_names": np.array(["a"])}, "2 different names, got 1"),
        ({"paper_columns": np.array([True])}, "paper_columns must be 2 booleans"),
        ({"split": np.array(["train"])}, "split must have 3 entries"),
        ({"X": np.array([[{}, 1]] * 3, dtype=object)}, "Object arrays cannot be loaded"),
    ],
)
def test_arrays_that_do_not_fit_are_named_with_the_file(tmp_path, changes, fact):
    with pytest.raises(ValueError, match=rf"mine\.npz is damaged or no data set file: .*{fact}"):
        saved(tmp_path, **changes)


@pytest.mark.parametrize("keep", [0, 1, 100, 0.5, -1])
def test_a_file_cut_short_is_named(tmp_path, keep):
    saved(tmp_path)
    path = tmp_path / "mine.npz"
    whole = path.read_bytes()
    path.write_bytes(whole[: int(keep * len(whole)) if isinstance(keep, float) else keep])
    with pytest.raises(ValueError, match=r"mine\.npz is damaged"):
        load("mine", data_dir=tmp_path)


def test_a_file_with_changed_bytes_is_named(tmp_path):
    np.savez_compressed(tmp_path / "mine.npz", **GOOD)
    path = tmp_path / "mine.npz"
    content = bytearray(path.read_bytes())
    content[60:80] = bytes(20)
    path.write_bytes(bytes(content))
    with pytest.raises(ValueError, match=r"mine\.npz is damaged"):
        load("mine", data_dir=tmp_path)


def test_a_single_array_is_no_data_set(tmp_path):
    with (tmp_path / "mine.npz").open("wb") as file:
        np.save(file, np.arange(3))
    with pytest.raises(ValueError, match="not a whole archive of named arrays"):
        load("mine", data_dir=tmp_path)


def test_every_real_file_loads(real_data):
    for path in sorted(real_data.glob("*.npz")):
        data = load(path.stem, data_dir=real_data)
        assert data.X.shape == (len(data.y), len(data.feature_names))
        assert set(data.columns) <= set(data.feature_names)
        assert (data.target_names is None) == (data.y.dtype == float)
        with np.load(path, allow_pickle=False) as arrays:
            assert_array_equal(data.y, arrays["y"])
            known = {"X", "y", "feature_names", "target_names", "split", "paper_columns"}
            assert set(arrays.files) - known <= set(data)
