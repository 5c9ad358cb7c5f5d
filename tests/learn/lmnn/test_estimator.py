import os
import signal
import subprocess
import sys
import textwrap
import time
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.helpers.lmnn import full_loss, noisy, sorted_problem
from whynear import DiagonalMetric, LocalMetric, load, regularize, save
from whynear.learn.lmnn.estimator import LMNN


@pytest.mark.slow
def test_features_that_separate_classes_become_relevant():
    X, codes = noisy()
    model = LMNN(n_neighbors=3).fit(X[:200], codes[:200])
    relevances = model.metric_.relevances()
    assert relevances[:2].min() > 5 * relevances[2:].max()
    assert (
        model.score(X[200:], codes[200:])
        > 0.9
        > KNeighborsClassifier(3).fit(X[:200], codes[:200]).score(X[200:], codes[200:])
    )


@pytest.mark.slow
@pytest.mark.parametrize(("loader", "least"), [(load_iris, 0.953), (load_breast_cancer, 0.96), (load_digits, 0.96)])
@pytest.mark.filterwarnings("ignore:X holds the same value in every row")
def test_accuracy_on_known_sets(loader, least):
    X, y = loader(return_X_y=True)
    model = LMNN() if loader is load_digits else make_pipeline(StandardScaler(), LMNN())
    assert cross_val_score(model, X, y, cv=5).mean() > least


def test_the_reported_loss_is_that_of_all_impostors_at_the_metric():
    X, codes = noisy()
    weights = np.random.default_rng(0).uniform(0.2, 3.0, len(X))
    model = LMNN(n_neighbors=3, push_weight=0.7, margin=2.0).fit(X, codes, weights)
    problem = sorted_problem(X, codes, weights=weights, push_weight=0.7, margin=2.0)
    assert_allclose(full_loss(model.metric_.omega, problem), 2.0 * model.loss_curve_[-1], rtol=1e-6)
    assert model.n_iter_ == len(model.loss_curve_)
    assert model.loss_curve_[-1] < model.loss_curve_[0]


def test_weights_in_another_unit_change_nothing():
    X, codes = noisy(120, 4)
    weights = np.random.default_rng(0).uniform(0.2, 3.0, len(X))
    one, twice, thrice = (LMNN().fit(X, codes, factor * weights) for factor in (1, 2, 3))
    assert one.metric_ == twice.metric_
    assert_allclose(one.metric_.matrix(), thrice.metric_.matrix(), rtol=1e-6, atol=1e-8)


def test_the_map_serves_the_rows_that_weigh_more():
    """The first two classes differ along one feature, the last two along another, and one direction is kept."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2, 3], 40)
    X = 0.5 * rng.standard_normal((160, 2)) + np.array([[-1, 0], [1, 0], [0, -1], [0, 1]])[codes]
    for heavy, feature in (([0, 1], 0), ([2, 3], 1)):
        weights = np.where(np.isin(codes, heavy), 20.0, 1.0)
        relevances = LMNN(n_components=1, max_iter=1000).fit(X, codes, weights).metric_.relevances()
        assert relevances[feature] > 0.7 * relevances.sum()


def test_no_impostors_at_all_is_a_normal_case():
    X, codes = make_blobs(60, 4, centers=3, cluster_std=0.1, center_box=(-100, 100), random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LMNN().fit(X, codes)
    assert model.score(X, codes) == 1
    assert np.linalg.norm(model.metric_.omega) > 0


def test_without_any_targets_the_start_is_kept():
    with pytest.warns(UserWarning, match="n_neighbors=5"):
        model = LMNN().fit([[0.0, 0.0], [1.0, 3.0], [9.0, 1.0]], ["a", "b", "c"])
    assert_allclose(model.metric_.matrix() / model.metric_.matrix()[0, 0], np.eye(2), atol=1e-12)
    assert_array_equal(model.predict([[8.0, 1.0]]), ["c"])


def test_rows_that_are_all_the_same_are_never_certain():
    model = LMNN(n_neighbors=1).fit(np.ones((6, 2)), [0, 0, 0, 1, 1, 1])
    assert_allclose(model.predict_proba([[1.0, 1.0]]), [[0.5, 0.5]])


def test_small_classes_shrink_the_targets_and_are_named():
    X, codes = noisy(60)
    labels = np.array(["cat", "dog", "eel"])[codes]
    labels[:2] = "ant"
    with pytest.warns(UserWarning, match=r"n_neighbors=3 .*'ant' \(2 rows\)"):
        model = LMNN(n_neighbors=3).fit(X, labels)
    assert "ant" in model.classes_


def test_the_answer_does_not_depend_on_the_unit_or_the_origin():
    X, codes = noisy(150, 5)
    plain = LMNN().fit(X, codes)
    for factor in (1e-90, 1e-3, 1e3, 1e90):
        scaled = LMNN().fit(X * factor, codes)
        assert_allclose(scaled.metric_.omega * factor, plain.metric_.omega, rtol=1e-3, atol=1e-3)
    shifted = LMNN().fit(X + 100, codes)
    assert_allclose(shifted.metric_.matrix(), plain.metric_.matrix(), rtol=1e-3, atol=1e-3)


def test_the_margin_states_the_unit_only():
    X, codes = noisy(150, 5)
    one, four = (LMNN(margin=margin).fit(X, codes).metric_ for margin in (1.0, 4.0))
    assert_allclose(four.omega, 2 * one.omega, rtol=1e-6, atol=1e-8)


def test_a_full_map_is_the_same_from_either_start():
    X, codes = noisy(150, 5)
    identity, pca = (LMNN(init=init).fit(X, codes).metric_ for init in ("identity", "pca"))
    assert_allclose(identity.matrix(), pca.matrix(), rtol=1e-6, atol=1e-8)
    assert identity == LMNN().fit(X, codes).metric_


@pytest.mark.parametrize("init", ["auto", "pca", "identity"])
@pytest.mark.parametrize("n_components", [1, 2, 5])
def test_low_rank_maps_have_n_components_rows(init, n_components):
    X, codes = noisy(150, 5)
    X[:, 4] = X[:, 3]  # four directions only
    model = LMNN(init=init, n_components=n_components).fit(X, codes)
    assert model.metric_.omega.shape == (n_components, 5)
    assert model.transform(X).shape == (150, n_components)
    assert model.get_feature_names_out().tolist() == [f"lmnn{i}" for i in range(n_components)]


@pytest.mark.parametrize("init", ["auto", "pca", "identity"])
def test_more_features_than_rows_need_no_square_array(init):
    rng = np.random.default_rng(0)
    X, codes = rng.standard_normal((30, 3000)), np.arange(30) % 2
    X[:, 0] += 20 * codes
    LMNN(n_neighbors=2, init=init).fit(X[:, :40], codes)
    tracemalloc.start()
    model = LMNN(n_neighbors=2, init=init).fit(X, codes)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3000 * 3000 * 8 / 4
    assert len(model.metric_.omega) <= 30
    assert model.score(X, codes) == 1


@pytest.mark.slow
def test_no_array_of_all_pairs_is_made():
    rng = np.random.default_rng(0)
    X, codes = rng.standard_normal((20_000, 10)), np.arange(20_000) % 4
    X[:, 0] += 8 * codes
    LMNN().fit(X[:200], codes[:200])
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        LMNN(max_iter=3).fit(X, codes)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6  # all pairs in float32 are 1600 MB


def test_more_passes_find_targets_under_the_learned_map():
    X, codes = noisy(300, 12, seed=3)
    once, thrice = LMNN(n_passes=1).fit(X, codes), LMNN(n_passes=3).fit(X, codes)
    assert thrice.n_iter_ > once.n_iter_
    assert thrice.loss_curve_[-1] < once.loss_curve_[-1]


def test_running_out_of_iterations_warns():
    X, codes = noisy()
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model = LMNN(max_iter=2).fit(X, codes)
    assert model.n_iter_ == 2


def test_iterations_are_printed_and_passed_to_the_callback(capsys):
    X, codes = noisy(100, 4)
    steps = []
    model = LMNN(verbose=True, callback=steps.append).fit(X, codes)
    assert [step.n_iter for step in steps] == list(range(1, model.n_iter_ + 1))
    assert capsys.readouterr().out.count("[LMNN] iteration") == model.n_iter_


def test_an_exception_in_the_callback_ends_the_fit():
    class Enough(Exception):
        pass

    def stop(step):
        if step.n_iter == 2:
            raise Enough

    X, codes = noisy()
    with pytest.raises(Enough):
        LMNN(callback=stop).fit(X, codes)


@pytest.mark.slow
def test_ctrl_c_in_the_middle_stops_soon():
    script = """
        import numpy as np
        from whynear.learn.lmnn.estimator import LMNN
        rng = np.random.default_rng(0)
        X, y = rng.standard_normal((6000, 20)), rng.integers(0, 10, 6000)
        LMNN().fit(X[:200], y[:200])  # compiles or loads
        begun = []
        show = lambda step: begun or begun.append(print("running", flush=True))
        try:
            LMNN(tol=1e-12, max_iter=10000, callback=show).fit(X, y)
        except KeyboardInterrupt:
            print("stopped", flush=True)
            raise
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "running\n"
        os.kill(process.pid, signal.SIGINT)
        start = time.perf_counter()
        assert process.stdout.readline() == "stopped\n"
        assert time.perf_counter() - start < 20  # a second on a quiet machine; all the work takes minutes
        process.communicate(timeout=60)
    assert process.returncode not in (0, None)


def test_another_metric_predicts():
    X, codes = noisy()
    frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(12)])
    model = LMNN().fit(frame, codes)
    assert model.metric_.feature_names == tuple(frame.columns)
    twin = model.with_metric(regularize(model.metric_, frame))
    assert_allclose(twin.predict_proba(frame[::7]), model.predict_proba(frame[::7]), atol=1e-6)
    plain = model.with_metric(DiagonalMetric(np.ones(12), list(frame.columns)))
    expected = KNeighborsClassifier(5, weights="distance").fit(X, codes).predict(X + 0.1)
    assert_array_equal(plain.predict(frame + 0.1), expected)


def test_it_survives_a_file_after_a_search(tmp_path):
    X, codes = noisy(90, 4)
    model = LMNN(tune={"n_neighbors": [1, 3]}, random_state=0).fit(X, codes)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.best_params_ == model.best_params_


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be"),
        ({"n_neighbors": 2.5}, "n_neighbors must be"),
        ({"push_weight": 1.0}, "push_weight must be"),
        ({"margin": -1}, "margin must be"),
        ({"tol": 0}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"n_components": 13}, "n_components=13 .* 12 features"),
        ({"init": "lda"}, "init must be"),
    ],
)
def test_senseless_parameters_are_refused_by_name(parameter, message):
    with pytest.raises(ValueError, match=message):
        LMNN(**parameter).fit(*noisy(60))


@pytest.mark.filterwarnings("ignore:LMNN did not converge in max_iter=3")
def test_a_tuned_start_is_the_one_that_is_used():
    X, codes = noisy(60, 4)
    tuned = LMNN(tune={"init": ["pca"]}, max_iter=3, tol=0.1, init="identity").fit(X, codes)
    assert tuned.metric_ == LMNN(init="pca", max_iter=3, tol=0.1).fit(X, codes).metric_
    assert tuned.best_params_ == {"init": "pca"}
    tuned.set_params(tune=False).fit(X, codes)
    assert not hasattr(tuned, "best_params_")
    assert not hasattr(tuned, "search_results_")


@pytest.mark.parametrize("values", [3, "3", []])
def test_values_to_tune_must_be_lists(values):
    with pytest.raises(TypeError, match="tune must give a list of values to try for n_neighbors, got"):
        LMNN(tune={"n_neighbors": values}).fit(*noisy(60, 4))


def test_a_local_metric_is_refused():
    X, codes = noisy(40, 3)
    model = LMNN(max_iter=5, tol=0.1).fit(X, codes)
    with pytest.raises(ValueError, match=r"LMNN measures by one metric .* metric is local, with 40"):
        model.with_metric(LocalMetric(X, weights=np.ones_like(X)))


def test_evidence_and_probabilities_agree_where_copies_contradict():
    X, codes = noisy(60, 3)
    X[1:4], codes = X[0], np.r_[0, 1, 1, 1, codes[4:]]
    model = LMNN(n_neighbors=2, max_iter=5, tol=0.1).fit(X, codes)
    evidence = model.evidence(X)
    assert_allclose(evidence.support(), model.predict_proba(X))
    assert_allclose(evidence.support()[0], [0.25, 0.75, 0])


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
