import numpy as np
import pytest

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
