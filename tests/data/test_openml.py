from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils import Bunch

from whynear.data.catalog import TABLE
from whynear.datasets import load

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
