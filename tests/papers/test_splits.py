import numpy as np
import pytest
from numpy.testing import assert_allclose

from papers.splits import OUTLIERS, Split, fold, load_arrays, spectra
from whynear.datasets import load


@pytest.mark.parametrize(("protocol", "n_folds", "n_train"), [("fifth", 5, 30), ("tenfold", 10, 135)])
def test_folds_cover_all_rows(protocol, n_folds, n_train):
    folds = [fold("iris", protocol, number) for number in range(n_folds)]
    assert {len(data.X) for data in folds} == {n_train}
    assert {len(data.X_test) for data in folds} == {150 - n_train}
    rows = "X" if protocol == "fifth" else "X_test"
    assert sum(len(getattr(data, rows)) for data in folds) == 150


def test_folds_have_all_classes_and_z_scores_of_the_training_rows():
    data = fold("wine", "fifth", 0)
    assert set(data.y) == set(data.y_test) == {0, 1, 2}
    assert_allclose(data.X.mean(axis=0), 0, atol=1e-12)
    assert_allclose(data.X.std(axis=0), 1)
    assert abs(data.X_test.mean(axis=0)).max() > 1e-3


def test_both_parts_are_scaled_by_the_training_rows():
    data = Split(np.array([[0.0], [2.0]]), np.array([0, 1]), np.array([[3.0]]), np.array([1])).scaled()
    assert data.X.tolist() == [[-1.0], [1.0]]
    assert data.X_test.tolist() == [[2.0]]


def test_artificial_data_are_always_the_same():
    X, y = load_arrays("artificial")
    assert X.shape == (2000, 20)
    assert_allclose(X, load_arrays("artificial")[0])
    assert set(y) == {0, 1}


def test_test_spectra_are_used_for_training(real_data, monkeypatch):
    monkeypatch.setenv("WHYNEAR_DATA", str(real_data))
    data, whole = spectra("wine_spectra", None), load("wine_spectra")
    assert (len(data.X), len(data.X_test)) == (30, 91)
    assert len(data.X) == np.sum(whole.split == "test")
    assert len(data.X) + len(data.X_test) + len(OUTLIERS["wine_spectra"]) == len(whole.y)


def test_bins_have_equal_sizes_over_all_spectra(real_data, monkeypatch):
    monkeypatch.setenv("WHYNEAR_DATA", str(real_data))
    data = spectra("tecator", 3)
    sizes = np.bincount(np.concatenate([data.y, data.y_test]))
    assert len(sizes) == 3
    assert np.ptp(sizes) <= 2
