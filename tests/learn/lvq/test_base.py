import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from tests.helpers.lvq import IRIS, LEARNERS, cost, scaled
from whynear.learn.blocks import Cases
from whynear.learn.lvq.objective import Squashing
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
