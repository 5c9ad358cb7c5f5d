import signal
import subprocess
import sys
import time
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from tests.helpers.lvq import IRIS, LEARNERS, cost, scaled
from whynear.learn.blocks import Cases
from whynear.learn.lvq.objective import Squashing
from whynear.metric.projection import principal_directions
from whynear.testing import check_learner


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner",
    [
        pytest.param(wn.GMLVQ(n_prototypes=2, map_init="random"), marks=pytest.mark.slow),
        wn.GMLVQ(solver="adam", squashing="swish", max_iter=60),
        pytest.param(wn.LGRLVQ(n_prototypes=2, prototype_init="means", squashing="identity"), marks=pytest.mark.slow),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:Class .* different rows", "ignore:GMLVQ did not converge in max_iter=60")
def test_other_settings_belong_too(learner):
    # It asks that weight alone moves nearly all predictions to one class, which moderate margins do not.
    check_learner(
        learner, {"check_class_weight_classifiers": "other settings keep the prototypes of light classes near"}
    )


@pytest.mark.parametrize("learner", LEARNERS)
def test_repeats_and_weights_and_the_order_of_rows_say_the_same(learner):
    X, y = IRIS
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 4, size=len(X))
    order = rng.permutation(counts.sum())
    repeated = np.repeat(np.arange(len(X)), counts)[order]
    weighted = learner(n_prototypes=2, random_state=0).fit(X, y, sample_weight=2.5 * counts)
    copied = learner(n_prototypes=2, random_state=0).fit(X[repeated], y[repeated])
    assert weighted.metric_ == copied.metric_
    assert_array_equal(weighted.predict_proba(X), copied.predict_proba(X))


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_matrix_has_the_trace_one(learner):
    relevances = learner(n_prototypes=2, random_state=0).fit(*IRIS).metric_.relevances()
    assert_allclose(relevances.sum(axis=-1), 1)


@pytest.mark.parametrize("learner", LEARNERS)
def test_shift_and_scale_of_the_table_change_nothing_but_the_prototypes(learner):
    X, y = IRIS
    one, other = learner().fit(X, y), learner().fit(1000 * X - 5000, y)
    assert_allclose(other.metric_.relevances(), one.metric_.relevances(), atol=1e-3)
    assert_allclose(other.prototypes_, 1000 * one.prototypes_ - 5000, atol=20)
    assert_array_equal(one.predict(X), other.predict(1000 * X - 5000))


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_loss_of_the_curve_is_the_cost_of_the_metric(learner):
    X, y = scaled()
    model = learner(tol=1e-4).fit(X, y)
    cases = Cases(X, y, np.full(len(X), 1 / len(X)))
    expected = cost(model.metric_, model.prototypes_, model.prototype_labels_, cases, Squashing.SIGMOID, 5.0)
    assert model.loss_curve_[-1] == pytest.approx(expected, rel=1e-6)
    assert (np.diff(model.loss_curve_) <= 0).all()
    assert model.n_iter_ == len(model.loss_curve_)


def test_a_full_metric_costs_less_than_a_diagonal_one_and_local_ones_fit_better():
    X, y = scaled()
    global_, diagonal = wn.GMLVQ().fit(X, y).loss_curve_[-1], wn.GRLVQ().fit(X, y).loss_curve_[-1]
    assert global_ < diagonal
    assert wn.LGMLVQ().fit(X, y).score(X, y) >= wn.LGRLVQ().fit(X, y).score(X, y) - 0.01


def test_predictions_are_those_of_the_nearest_prototype():
    X, y = IRIS
    for learner in LEARNERS:
        model = learner(n_prototypes=2, random_state=1).fit(X, y)
        metric = model.metric_
        sq = metric.sq_distances(X) if len(metric) > 1 else metric.sq_distances(X, model.prototypes_)
        assert_array_equal(model.predict(X), model.prototype_labels_[sq.argmin(axis=1)])
        assert_array_equal(model.predict(X), model.classes_[model.decision_function(X).argmax(axis=1)])


def test_non_convergence_warns_and_the_callback_gets_each_step():
    steps = []
    with pytest.warns(ConvergenceWarning, match="GMLVQ did not converge in max_iter=3"):
        model = wn.GMLVQ(max_iter=3, callback=steps.append).fit(*scaled())
    assert [step.loss for step in steps] == model.loss_curve_


def test_verbose_prints_the_loss(capsys):
    wn.GRLVQ(verbose=True, tol=1e-2).fit(*IRIS)
    assert "[GRLVQ] iteration    1, loss" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("setting", "value"), [("squashing", "tanh"), ("solver", "sgd"), ("prototype_init", "x"), ("map_init", "y")]
)
def test_unknown_settings_are_refused_by_name(setting, value):
    with pytest.raises(ValueError, match=rf"{setting} must be one of .*, got '{value}' instead"):
        wn.GMLVQ(**{setting: value}).fit(*IRIS)
    with pytest.raises(ValueError, match="sigma must be a finite number > 0, got 0 instead"):
        wn.GMLVQ(sigma=0).fit(*IRIS)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tol": -1.0}, "tol must be a finite number >= 0, got -1.0"),
        ({"max_iter": 2.5}, "max_iter must be an integer >= 1, got 2.5"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1, got 0"),
        ({"n_components": 2.0}, "n_components must be an integer >= 1, got 2.0"),
        ({"n_components": 0}, "n_components must be an integer >= 1, got 0"),
        ({"effective_dim": "two"}, "effective_dim must be an integer >= 1, got 'two'"),
        ({"n_components": 4, "effective_dim": 2}, "n_components=4 asks for more directions than effective_dim=2"),
        ({"learning_rate": np.nan}, "learning_rate must be a finite number > 0, got nan"),
    ],
    ids=str,
)
def test_settings_out_of_range_are_refused_by_name(settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        wn.GMLVQ(**settings).fit(*IRIS)
    with pytest.raises((ValueError, TypeError), match=message):
        wn.LGMLVQ(**settings).partial_fit(*IRIS, classes=[0, 1, 2])


def test_stages_share_the_iterations():
    with pytest.warns(ConvergenceWarning):
        model = wn.GMLVQ(sigma=100.0, max_iter=2).fit(*IRIS)
    assert model.n_iter_ == 2


INTERRUPTED = """
import numpy as np, whynear as wn
X = np.random.default_rng(0).standard_normal((20_000, 60))
wn.GMLVQ(max_iter=10**6, tol=0, callback=lambda step: print(step.n_iter, flush=True)).fit(X, np.arange(20_000) % 5)
"""


def test_an_interrupt_stops_learning_within_a_second():
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    start = time.perf_counter()
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert time.perf_counter() - start < 20  # one second, and the end of a process on a busy machine
    assert error.decode().strip().endswith("KeyboardInterrupt")


def test_predicts_with_a_regularized_metric():
    X, y = scaled()
    model = wn.GMLVQ().fit(X, y)
    same = model.with_metric(wn.regularize(model, X))
    assert_array_equal(same.predict(X), model.predict(X))
    local = wn.LGMLVQ(random_state=0).fit(X, y)
    assert_array_equal(local.with_metric(wn.regularize(local, X)).predict(X), local.predict(X))
    with pytest.raises(ValueError, match="other anchors than the prototypes"):
        local.with_metric(wn.LocalMetric(2 * local.prototypes_, omegas=local.metric_.omegas))


def test_names_come_from_the_table_through_a_scaler():
    table = load_breast_cancer(as_frame=True)
    model = make_pipeline(StandardScaler(), wn.GMLVQ(tol=1e-3)).fit(table.data, table.target)
    assert wn.as_metric(model).feature_names == tuple(table.data.columns)
    assert isinstance(wn.relevance_intervals(model, table.data, effective_dim=8).frame(), pd.DataFrame)


@pytest.mark.parametrize("learner", LEARNERS)
def test_predictions_from_evidence_are_those_of_predict_to_the_bit(learner):
    X, y = load_wine(return_X_y=True)
    model = learner(n_prototypes=2, max_iter=5, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    rows = np.vstack([X, model.prototypes_, (model.prototypes_[:1] + model.prototypes_[2:3]) / 2])
    labels, probabilities = model.predictions_from(model.evidence(rows))
    assert_array_equal(labels, model.predict(rows))
    assert_array_equal(probabilities, model.predict_proba(rows))


def test_low_rank():
    X, y = scaled()
    model = wn.GMLVQ(n_components=2).fit(X, y)
    assert model.metric_.omega.shape == (2, 30)
    assert model.transform(X).shape == (len(X), 2)
    assert model.get_feature_names_out().tolist() == ["gmlvq0", "gmlvq1"]
    assert model.score(X, y) > 0.96
    with pytest.raises(ValueError, match=r"n_components=31 asks for more .* features \(30\)"):
        wn.GMLVQ(n_components=31).fit(X, y)


@pytest.mark.parametrize("learner", [wn.GMLVQ, wn.LGMLVQ])
def test_regularization_during_training_leaves_nothing_to_remove_after_it(learner):
    X, y = scaled()
    model = learner(effective_dim=4).fit(X, y)
    kept = principal_directions(X, 4)
    omega = model.metric_.omega if learner is wn.GMLVQ else model.metric_.omegas
    assert_allclose(kept.project(omega), omega, atol=1e-10)
    assert model.score(X, y) > 0.93
    with pytest.raises(ValueError, match="effective_dim=31 is not among the 30 directions"):
        learner(effective_dim=31).fit(X, y)


def test_copies_and_weights_count_in_the_directions():
    X, y = IRIS
    rng = np.random.default_rng(0)
    counts = np.where(np.arange(150) % 5, 1, 20 * rng.integers(1, 5, 150))
    table, labels = np.repeat(X, counts, axis=0), np.repeat(y, counts)
    kept = principal_directions(table, 2)
    assert not np.allclose(kept.project(np.eye(4)), principal_directions(X, 2).project(np.eye(4)), atol=1e-3)
    for learner in (wn.GMLVQ(effective_dim=2), wn.GMLVQ(effective_dim=2, count_prototypes=True)):
        copied = learner.fit(table, labels).metric_
        if not learner.count_prototypes:
            assert_allclose(kept.project(copied.omega), copied.omega, atol=1e-10)
            assert_allclose(wn.regularize(copied, table, 2).matrix(), copied.matrix(), atol=1e-10)
        assert learner.fit(X, y, sample_weight=counts).metric_ == copied


def test_prototypes_can_count_among_the_rows_that_give_the_directions():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)) * [1.0, 3.0, 3.0]  # the classes differ along the direction of least variance
    y = np.arange(60) % 2
    X[:, 0] += 2.0 * y
    means = np.array([X[y == c].mean(axis=0) for c in (0, 1)])
    model = wn.GMLVQ(effective_dim=2, count_prototypes=True).fit(X, y)
    kept = principal_directions(np.vstack([X, means]), 2)
    assert_allclose(kept.project(model.metric_.omega), model.metric_.omega, atol=1e-8)
    assert not np.allclose(kept.kept @ kept.kept.T, principal_directions(X, 2).project(np.eye(3)), atol=1e-4)


@pytest.mark.slow
def test_more_columns_than_rows_need_no_square_matrix_of_columns():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 4000)), np.arange(30) % 2
    X[:, :50] += y[:, None]
    tracemalloc.start()
    model = wn.GMLVQ(max_iter=20).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.metric_.omega.shape[0] <= 29
    assert peak < 64 << 20  # a square matrix of 4,000 columns has 128 MB
    regular = wn.regularize(model.metric_, X)
    assert_allclose(regular.matrix()[:50, :50], model.metric_.matrix()[:50, :50], atol=1e-8)


@pytest.mark.slow
def test_memory_stays_in_proportion_to_the_table():
    X, y = make_classification(30_000, 40, n_informative=10, random_state=0)
    model = wn.GMLVQ(max_iter=5)
    tracemalloc.start()
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * X.nbytes


def test_a_diagonal_metric_keeps_the_names_of_its_columns():
    table = load_iris(as_frame=True)
    model = wn.GRLVQ().set_output(transform="pandas").fit(table.data, table.target)
    mapped = model.transform(table.data)
    assert mapped.columns.tolist() == table.feature_names
    assert_allclose(wn.LinearMetric(np.eye(4)).sq_distances(mapped.to_numpy()), model.metric_.sq_distances(table.data))


def test_weights_are_one_set_for_all_prototypes_or_one_for_each():
    assert wn.GRLVQ(tol=1e-2).fit(*IRIS).metric_.weights.shape == (4,)
    local = wn.LGRLVQ(tol=1e-2).fit(*IRIS)
    assert local.metric_.weights.shape == (3, 4)
    assert_allclose(local.metric_.anchors, local.prototypes_)


# Prototype learners on streams and in batches.


def test_random_batches_end_near_the_cost_of_lbfgs():
    X, y = make_classification(3000, 10, n_informative=5, random_state=0)
    exact = wn.GMLVQ(random_state=0).fit(X, y)
    batches = wn.GMLVQ(solver="adam", max_iter=60, tol=1e-4, random_state=0).fit(X, y)
    assert batches.score(X, y) > exact.score(X, y) - 0.02


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_stream_is_learned_part_by_part(learner):
    X, y = make_classification(3000, 8, n_informative=4, n_classes=3, random_state=0)
    model = learner(random_state=0, batch_size=50)
    for start in range(0, 3000, 300):
        part = slice(start, start + 300)
        model.partial_fit(X[part], y[part], classes=[0, 1, 2])
    start = learner(random_state=0).partial_fit(X[:50], y[:50], classes=[0, 1, 2])
    assert model.n_iter_ == 10
    assert model.score(X, y) > start.score(X, y)
    again = learner(random_state=0).fit(X[:500], y[:500])
    before = again.metric_
    assert again.partial_fit(X[500:600], y[500:600]).metric_ != before


def test_a_stream_names_its_classes_first_and_keeps_to_them():
    X, y = IRIS
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        wn.GMLVQ().partial_fit(X, y)
    model = wn.GMLVQ().partial_fit(X[:60], y[:60], classes=[0, 1, 2])
    assert model.predict(X).shape == y.shape
    with pytest.raises(ValueError, match="y holds 7, which is not among the classes"):
        model.partial_fit(X[:1], [7])
    with pytest.raises(ValueError, match="not the same as on the first call"):
        model.partial_fit(X, y, classes=[0, 1])


def test_a_learner_saved_in_mid_stream_goes_on(tmp_path):
    X, y = IRIS
    model = wn.GMLVQ(random_state=0).partial_fit(X, y, classes=[0, 1, 2])
    wn.save(model, tmp_path / "model")
    assert wn.load(tmp_path / "model").partial_fit(X, y).metric_ == model.partial_fit(X, y).metric_


@pytest.mark.parametrize("learner", LEARNERS)
def test_rows_of_weight_zero_are_no_part_of_a_stream(learner):
    X, y = IRIS
    weights = np.where(y == 1, 0.0, 1.0)
    one = learner(random_state=0).partial_fit(X, y, classes=[0, 1, 2], sample_weight=weights)
    other = learner(random_state=0).partial_fit(X[y != 1], y[y != 1], classes=[0, 1, 2])
    assert one.metric_ == other.metric_


def test_a_batch_counts_by_its_weights():
    X, y = make_classification(400, 5, random_state=0)
    wrong, weights = np.arange(400) % 2 == 1, np.ones(400)
    y[wrong], weights[wrong] = 1 - y[wrong], 1e-9
    settings = {"solver": "adam", "batch_size": 1, "max_iter": 20, "tol": 1e-3, "random_state": 0}
    model = wn.GMLVQ(**settings).fit(X, y, sample_weight=weights)
    clean = wn.GMLVQ(random_state=0).fit(X[~wrong], y[~wrong])
    assert model.score(X[~wrong], y[~wrong]) > clean.score(X[~wrong], y[~wrong]) - 0.05
    batches = wn.GMLVQ(batch_size=1, random_state=0).partial_fit(X, y, classes=[0, 1], sample_weight=weights)
    assert batches.score(X[~wrong], y[~wrong]) > 0.7


@pytest.mark.parametrize("learner", [wn.GMLVQ, wn.LGMLVQ])
def test_a_stream_may_vary_in_more_directions_than_its_first_part(learner):
    X, y = make_classification(600, 8, n_informative=4, random_state=0)
    model = learner(random_state=0, batch_size=20).partial_fit(X[:3], y[:3], classes=[0, 1])
    assert model.metric_.omega.shape == (8, 8) if learner is wn.GMLVQ else model.metric_.omegas.shape == (2, 8, 8)
    model.partial_fit(X[3:], y[3:])
    assert (np.linalg.svd(next(iter(model.metric_)).omega, compute_uv=False) > 1e-6).all()
    with pytest.raises(ValueError, match=r"a row for each of the 2001 features .* Give n_components"):
        learner().partial_fit(np.random.default_rng(0).standard_normal((4, 2001)), [0, 1, 0, 1], classes=[0, 1])


def test_a_single_row_hardly_changes_how_certain_a_stream_is():
    X, y = IRIS
    model = wn.GMLVQ(random_state=0).fit(X, y)
    before = model.certainty_
    for i in (0, 60, 120):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    assert model.certainty_ == pytest.approx(before, rel=0.1)


@pytest.mark.parametrize("seed", [np.int64(3), 3, "a generator"], ids=str)
def test_a_stream_is_the_same_with_the_same_seed(seed):
    X, y = IRIS
    models = [
        wn.GMLVQ(
            n_prototypes=2, batch_size=10, random_state=np.random.RandomState(3) if seed == "a generator" else seed
        )
        for _ in range(2)
    ]
    for model in models:
        model.partial_fit(X, y, classes=[0, 1, 2]).partial_fit(X, y)
    assert models[0].metric_ == models[1].metric_


def test_a_twin_goes_its_own_way():
    X, y = IRIS
    model = wn.GMLVQ(random_state=0).partial_fit(X, y, classes=[0, 1, 2])
    again = wn.GMLVQ(random_state=0).partial_fit(X, y, classes=[0, 1, 2])
    model.with_metric(model.metric_).partial_fit(X[::-1], y[::-1])
    assert model.partial_fit(X, y).metric_ == again.partial_fit(X, y).metric_


def test_a_stream_keeps_the_names_of_its_columns():
    table = load_iris(as_frame=True)
    model = wn.GMLVQ().fit(table.data, table.target)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.partial_fit(table.data.to_numpy(), table.target)
    assert model.metric_.feature_names == tuple(table.feature_names)
