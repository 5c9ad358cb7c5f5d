"""Data sets by name, from the package, from files and from OpenML."""

import shutil
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils import Bunch

from whynear.data.catalog import LOADERS, ONLY_AS_FILES, TABLE, bundled
from whynear.datasets import known_sets, load

# The list of data sets that can be named.


def test_sets_are_found_where_load_finds_them(tmp_path, monkeypatch):
    np.savez(tmp_path / "mine.npz", X=np.zeros((4, 3)), target_names=np.array(["a", "b"]))
    (tmp_path / "damaged.npz").write_bytes(b"no zip")
    monkeypatch.setenv("WHYNEAR_DATA", str(tmp_path))
    known = {known.name: known for known in known_sets()}
    assert (known["mine"].rows, known["mine"].features, known["mine"].classes) == (4, 3, 2)
    assert known["damaged"].rows is None
    assert (known["wine"].rows, known["wine"].origin) == (178, "scikit-learn")
    assert list(known) == sorted(known)


@pytest.mark.parametrize("name", sorted(LOADERS))
def test_bundled_sets_have_the_promised_form(name):
    data = bundled(name)
    assert data.X.shape == (len(data.y), len(data.feature_names))
    assert set(data.X.dtypes) == {np.dtype(float)}
    assert data.y.dtype == np.int64
    assert data.columns == data.feature_names
    assert sorted(set(data.y)) == list(range(len(data.target_names)))
    assert data.split is None
    assert data.name == name


@pytest.mark.parametrize("name", sorted(LOADERS))
def test_bundled_sets_equal_the_files_of_the_same_name(real_data, name):
    ours, theirs = bundled(name), load(name, data_dir=real_data)
    assert_allclose(ours.X.to_numpy(), theirs.X.to_numpy(), rtol=1e-6)
    assert_array_equal(ours.y, theirs.y)
    assert ours.target_names == theirs.target_names


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """No data folder, and no place where an earlier download could lie."""
    monkeypatch.delenv("WHYNEAR_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "cache"))


def write(folder, name, value):
    folder.mkdir(exist_ok=True)
    arrays = {"X": np.full((2, 1), value), "y": np.array([0.5, 1.5]), "feature_names": np.array(["a"])}
    np.savez(folder / f"{name}.npz", **arrays)
    return folder


def test_data_dir_comes_before_the_environment_before_scikit_learn(nowhere, tmp_path, monkeypatch):
    assert load("iris").source == "Bundled with scikit-learn (sklearn.datasets.load_iris)."
    monkeypatch.setenv("WHYNEAR_DATA", str(write(tmp_path / "second", "iris", 2.0)))
    assert load("iris").X["a"].tolist() == [2, 2]
    first = write(tmp_path / "first", "iris", 1.0)
    assert load("iris", data_dir=first).X["a"].tolist() == [1, 1]
    assert load("iris", data_dir=str(first)).X["a"].tolist() == [1, 1]
    assert load("wine", data_dir=first).source.startswith("Bundled")


def test_a_damaged_file_is_reported_rather_than_passed_over(nowhere, tmp_path):
    (tmp_path / "iris.npz").write_bytes(b"not an archive")
    with pytest.raises(ValueError, match=r"iris\.npz is damaged"):
        load("iris", data_dir=tmp_path)


def test_the_error_for_an_unknown_name_lists_every_place_every_name_and_the_remedy(nowhere, tmp_path, monkeypatch):
    first = write(tmp_path / "first", "mine", 1.0)
    monkeypatch.setenv("WHYNEAR_DATA", str(tmp_path / "absent"))
    with pytest.raises(ValueError, match="name must be a known data set, got 'irs' instead") as caught:
        load("irs", data_dir=first)
    message = str(caught.value)
    for part in [
        "Did you mean 'iris'?",
        str(first / "irs.npz"),
        "data_dir: no such file",
        str(tmp_path / "absent" / "irs.npz"),
        "$WHYNEAR_DATA: no such folder",
        "bundled with scikit-learn",
        "OpenML",
        "mine",
        "Set the environment variable WHYNEAR_DATA",
        "pass data_dir",
        *LOADERS,
        *ONLY_AS_FILES,
        "tecator",
    ]:
        assert part in message


def test_a_known_set_without_a_file_is_not_found(nowhere):
    with pytest.raises(FileNotFoundError, match="'wine_spectra' was not found") as caught:
        load("wine_spectra")
    message = str(caught.value)
    for part in ["$WHYNEAR_DATA (not set)", "data_dir (not given)", "OpenML (not in the table", "iris"]:
        assert part in message
    assert "WHYNEAR_DATA to a folder that holds wine_spectra.npz" in message
    assert "network" not in message


@pytest.mark.parametrize("name", ["../iris", "a/b", "a\\b", "/etc/iris", "C:iris", "", "a\0b", 3, None])
def test_names_with_a_path_are_refused(nowhere, name):
    with pytest.raises(ValueError, match="name must be a plain name"):
        load(name)


def test_a_file_outside_of_the_folder_is_out_of_reach(nowhere, tmp_path):
    write(tmp_path, "secret", 1.0)
    (tmp_path / "inner").mkdir()
    with pytest.raises(ValueError, match="plain name"):
        load("../secret", data_dir=tmp_path / "inner")


def test_the_papers_facts_about_the_real_files_hold(real_data):
    tecator = load("tecator", data_dir=real_data)
    assert tecator.X.shape == (215, 100)
    assert dict(zip(*np.unique(tecator.split, return_counts=True), strict=True)) == {
        "monitor": 43,
        "test": 43,
        "train": 129,
    }
    assert_array_equal(tecator.Y_all[:, tecator.Y_names.tolist().index("fat")], tecator.y)
    spectra = load("wine_spectra", data_dir=real_data)
    assert spectra.X.shape == (124, 256)
    assert np.sum(spectra.split == "train") == 94
    assert len(load("image_segmentation", data_dir=real_data).columns) == 16
    assert sorted(set(load("isolet", data_dir=real_data).speaker_group)) == [1, 2, 3, 4, 5]


def test_the_environment_variable_is_read_at_every_call(real_data, nowhere, tmp_path, monkeypatch):
    shutil.copy(real_data / "pima.npz", tmp_path)
    monkeypatch.setenv("WHYNEAR_DATA", str(tmp_path))
    assert load("pima").X.shape == (768, 8)


REFUSED = URLError("no route to host")


@pytest.fixture
def openml(monkeypatch):
    """Put a table, or an error, in the place of the network."""
    monkeypatch.delenv("WHYNEAR_DATA", raising=False)

    def serve(answer, target=None):
        def fetch(**request):
            requested.append(request["data_id"])
            if isinstance(answer, Exception):
                raise answer
            return Bunch(data=answer, target=target)

        monkeypatch.setattr("whynear.data.catalog.fetch_openml", fetch)
        return requested

    requested: list[int] = []
    return serve


def as_openml(name, real_data):
    """The table of a real file as OpenML would send it, by what is known of its columns and labels."""
    with np.load(real_data / f"{name}.npz", allow_pickle=False) as arrays:
        X = pd.DataFrame(arrays["X"], columns=arrays["feature_names"])
        y = arrays["y"]
    labels = TABLE[name].get("labels", ["3", "1", "4", "2"])
    return X, pd.Series(pd.Categorical.from_codes(y, labels)), y


@pytest.mark.parametrize("name", sorted(set(TABLE) - {"tecator"}))
def test_downloads_agree_with_the_real_files_in_shape_and_codes(openml, real_data, name):
    X, target, y = as_openml(name, real_data)
    requested = openml(X, target)
    data, file = load(name), load(name, data_dir=real_data)
    assert requested == [TABLE[name]["id"]]
    assert_allclose(data.X.to_numpy(), X.to_numpy())
    assert_array_equal(data.y, y)
    assert data.y.dtype == np.int64
    assert data.columns == file.columns
    if name != "elec2":  # its file does not know which of its classes is which
        assert data.target_names == file.target_names
    assert f"OpenML (data set {TABLE[name]['id']})" in data.source
    assert data.split is None


def test_columns_that_are_no_features_are_left_out_and_names_cleaned(openml, real_data):
    X, target, _ = as_openml("gamma_telescope", real_data)
    raw = X.rename(columns=lambda c: f"{c}:")
    raw.insert(0, "ID", range(len(raw)))
    openml(raw, target)
    assert load("gamma_telescope").feature_names == list(X.columns)


def test_categories_that_are_numbers_become_numbers(openml, real_data):
    X, target, _ = as_openml("elec2", real_data)
    X["day"] = pd.Categorical(X["day"].astype(int).astype(str))
    openml(X, target)
    data = load("elec2")
    assert set(data.X.dtypes) == {np.dtype(float)}
    assert data.columns == ["day", "period", "nswdemand", "vicprice", "vicdemand", "transfer"]


def tecator_with_extras(real_data):
    with np.load(real_data / "tecator.npz", allow_pickle=False) as arrays:
        X = pd.DataFrame(arrays["X"], columns=[f"absorbance_{i}" for i in range(1, 101)])
        X = pd.concat([X, X.iloc[:25]], ignore_index=True)
        y = np.concatenate([arrays["y"], np.full(25, 99.0)])
    X["principal_component_1"], X["moisture"] = 0.0, 1.0
    return X, pd.Series(y)


def test_tecator_keeps_its_spectra_and_its_215_samples(openml, real_data):
    openml(*tecator_with_extras(real_data))
    data, file = load("tecator"), load("tecator", data_dir=real_data)
    assert_allclose(data.X.to_numpy(), file.X.to_numpy())
    assert_allclose(data.y, file.y)
    assert data.target_names is None


def test_tecator_in_another_order_is_refused(openml, real_data):
    X, y = tecator_with_extras(real_data)
    openml(X, y[::-1].reset_index(drop=True))
    with pytest.raises(ValueError, match="OpenML's data set 505 is not the 'tecator' of the papers"):
        load("tecator")


def test_another_shape_is_refused(openml):
    openml(pd.DataFrame({"a": [1.0, 2.0]}), pd.Series(["A", "B"]))
    with pytest.raises(ValueError, match=r"2 rows and 1 feature, expected \[20000, 16\].*WHYNEAR_DATA"):
        load("letter")


def test_other_classes_are_refused(openml):
    openml(pd.DataFrame(np.zeros((351, 34))), pd.Series(["b", "x", "g"] * 117))
    with pytest.raises(ValueError, match=r"has the classes \['b', 'g', 'x'\], expected \['b', 'g'\]"):
        load("ionosphere")


def test_other_class_counts_are_refused(openml):
    openml(pd.DataFrame(np.zeros((5456, 24))), pd.Series(["1", "2", "3", "4"] * 1364))
    with pytest.raises(ValueError, match=r"expected \[328, 826, 2097, 2205\]"):
        load("robot_navigation")


@pytest.mark.parametrize("error", [REFUSED, TimeoutError("too slow"), ValueError("Dataset 6 is gone")])
def test_the_error_for_an_unreachable_source_lists_every_place_and_the_remedy(openml, error, tmp_path):
    openml(error)
    with pytest.raises(FileNotFoundError, match="'letter' was not found") as caught:
        load("letter", data_dir=tmp_path)
    message = str(caught.value)
    for part in [
        str(tmp_path / "letter.npz"),
        "$WHYNEAR_DATA (not set)",
        "bundled with scikit-learn",
        "OpenML data set 6 (not reached: ",
        str(error).strip("<>"),
        "Set the environment variable WHYNEAR_DATA to a folder that holds letter.npz, or pass data_dir=",
        "iris",
    ]:
        assert part in message


def test_entries_of_the_table_are_complete():
    for name, entry in TABLE.items():
        assert {"id", "shape"} <= set(entry)
        assert ("labels" in entry) + ("counts" in entry) + ("begins" in entry) == 1
        assert len(entry.get("names", [])) in (0, len(entry.get("labels", entry.get("counts", []))))
        assert sum(entry.get("counts", [])) in (0, entry["shape"][0]), name
    ids = [entry["id"] for entry in TABLE.values()]
    assert len(set(ids)) == len(ids)


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
