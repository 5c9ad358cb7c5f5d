import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from tests.helpers.lmnn import noisy
from whynear.learn.lmnn.estimator import LMNN


def test_an_inner_search_chooses_parameters():
    X, codes = noisy(90, 4)
    grid = {"n_neighbors": (1, 3), "n_components": (None, 2), "push_weight": (0.1, 0.5)}
    model = LMNN(tune=grid, random_state=0).fit(X, codes)
    results = model.search_results_
    best = int(np.argmax(results["mean_accuracy"]))
    assert model.best_params_ == {name: results[name][best] for name in grid}
    assert model.n_votes_ == model.best_params_["n_neighbors"]
    assert model.metric_ == LMNN(**model.best_params_).fit(X, codes).metric_


def test_the_default_grid_of_an_inner_search_fits_the_data():
    X, codes = noisy(36, 3)
    results = LMNN(tune=True, cv=2, random_state=0, max_iter=20).fit(X, codes).search_results_
    assert len(results["mean_accuracy"]) == 4 * 2 * 3
    assert set(results["n_components"]) == {None, 2}


def test_held_out_rows_count_by_their_weights_and_those_of_their_classes():
    X, codes = noisy(90, 4)
    labels, weights = np.array(["a", "b", "c"])[codes], np.random.default_rng(0).uniform(0.5, 2.0, 90)
    model = LMNN(n_neighbors=3, tune={"n_components": [1]}, class_weight={"b": 3.0}, random_state=0, max_iter=20)
    (found,) = model.fit(X, labels, weights).search_results_["mean_accuracy"]
    weights[labels == "b"] *= 3.0
    expected = []
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, labels):
        one = LMNN(n_neighbors=3, n_components=1, max_iter=20).fit(X[train], labels[train], weights[train])
        expected.append(one.score(X[test], labels[test], weights[test]))
    assert found == pytest.approx(np.mean(expected))
    plain = LMNN(n_neighbors=3, tune={"n_components": [1]}, random_state=0, max_iter=20).fit(X, labels)
    assert found != pytest.approx(plain.search_results_["mean_accuracy"][0])


def test_class_weights_can_be_tried():
    X, codes = noisy(60, 3)
    grid = {"class_weight": [None, "balanced", {0: 5.0}]}
    model = LMNN(tune=grid, random_state=0, max_iter=20).fit(X, codes)
    assert len(model.search_results_["mean_accuracy"]) == 3
    assert model.metric_ == LMNN(**model.best_params_, max_iter=20).fit(X, codes).metric_


@pytest.mark.filterwarnings("ignore:n_neighbors")
def test_an_inner_search_copes_with_small_classes():
    X, codes = noisy(30, 4)
    codes[:2] = [3, 4]
    assert 4 in LMNN(tune={"n_neighbors": [1, 2]}, cv=5, random_state=0).fit(X, codes).classes_
    with pytest.raises(ValueError, match="tune=False"):
        LMNN(tune=True).fit(X[:3], [0, 1, 2])


@pytest.mark.filterwarnings("ignore:LMNN did not converge in max_iter=3")
def test_inner_fits_do_not_call_back():
    X, codes = noisy(60, 4)
    steps = []
    model = LMNN(tune={"n_neighbors": [2, 3]}, max_iter=3, tol=0.1, callback=steps.append).fit(X, codes)
    alone = []
    LMNN(**model.best_params_, max_iter=3, tol=0.1, callback=alone.append).fit(X, codes)
    assert steps == alone
