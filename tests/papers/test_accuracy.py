import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from papers import lann
from papers.accuracy import DATASET_SIZES, accuracy, accuracy_cells, classifier, mean_accuracy
from papers.plans import load_plan
from papers.splits import fold, load_arrays
from tests.helpers.reproduction import lines_of
from whynear.learn.registry import LEARNERS

SMALL_SETS = ["ionosphere", "artificial", "outdoor", "image_segmentation", "wine", "iris"]


@pytest.mark.slow
def test_lann_reaches_the_published_accuracy_and_gains_over_knn(result_of):
    values = {
        (dataset, learner): mean_accuracy(accuracy_cells(dataset, learner, "fifth", {}), result_of)
        for dataset in SMALL_SETS
        for learner in ("kNN", "LANN")
    }
    lines = lines_of("lann-table1-fifth", values)
    assert [dataset for dataset in SMALL_SETS if not lines[dataset, "LANN"].met] == []
    gains = [values[dataset, "LANN"].value - values[dataset, "kNN"].value for dataset in SMALL_SETS]
    assert np.mean(gains) >= lines["mean gain over kNN", "LANN"].criterion
    assert min(gains) >= lines["smallest gain over kNN", "LANN"].criterion
    knn = [lines[dataset, "kNN"].difference for dataset in SMALL_SETS]
    assert np.median(np.abs(knn)) < 0.015  # the protocol is that of the published table


def test_there_is_a_cell_for_each_fold_of_the_table():
    cells = accuracy_cells("iris", "LANN", "fifth", load_plan("lann-table1-fifth").settings["learners"])
    assert [cell.arguments["number"] for cell in cells] == [0, 1, 2, 3, 4]
    assert set(cells) <= set(lann.table1("fifth").cells)
    assert set(accuracy_cells("iris", "LANN", "fifth", {})) == set(cells)
    assert len(accuracy_cells("iris", "LANN", "tenfold", {})) == 10


def test_settings_for_wide_sets_leave_the_others_unchanged():
    wide = {"LGMLVQ": {"sigma": 2, "wide": {"above": 200, "sigma": 3, "n_components": 30}}}

    def settings_on(dataset):
        return accuracy_cells(dataset, "LGMLVQ", "fifth", wide)[0].arguments["settings"]

    assert settings_on("usps") == {"sigma": 3, "n_components": 30}
    assert settings_on("iris") == {"sigma": 2}


def test_large_tables_and_local_maps_have_a_large_weight():
    (small, *_), (large, *_), (local, *_) = (
        accuracy_cells(*pair, "fifth", {}) for pair in (("iris", "kNN"), ("isolet", "kNN"), ("isolet", "LGMLVQ"))
    )
    assert small.weight < large.weight < local.weight


@pytest.mark.parametrize("dataset", ["artificial", "breast_cancer", "digits", "iris", "wine"])
def test_sizes_are_those_of_the_data(dataset):
    assert load_arrays(dataset)[0].shape == DATASET_SIZES[dataset]


def test_learners_are_found_by_name():
    assert type(classifier("GMLVQ", {})) is LEARNERS["gmlvq"]
    assert isinstance(classifier("boosting", {"max_iter": 3}), HistGradientBoostingClassifier)
    assert classifier("NCA", {"n_components": 2})[0].n_components == 2
    assert classifier("kNN", {}).n_neighbors == 5


def test_the_accuracy_of_a_fold_is_the_share_predicted_correctly():
    data = fold("iris", "tenfold", 0)
    predicted = classifier("kNN", {}).fit(data.X, data.y).predict(data.X_test)
    assert accuracy("iris", "kNN", "tenfold", 0, {}) == {"accuracy": np.mean(predicted == data.y_test)}
