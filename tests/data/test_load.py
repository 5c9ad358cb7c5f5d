import shutil

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from whynear.data.catalog import LOADERS, ONLY_AS_FILES
from whynear.datasets import load


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
