import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from tests.helpers.learners import Holder
from tests.helpers.strategies import cases, global_metrics
from whynear import (
    DiagonalMetric,
    LinearMetric,
    LocalMetric,
    NullSpaceProjector,
    as_metric,
    load,
    null_space,
    regularize,
    save,
)
from whynear.interpret.null_space import regularized_at

RNG = np.random.default_rng(20)


def dependent(n=20, d=8, rank=3, seed=0):
    """Data that vary in a few directions only."""
    rng = np.random.default_rng(seed)
    return 5 + rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))


@given(global_metrics(st.just(4)), cases(4, st.integers(2, 12)))
def test_regularizing_keeps_every_training_distance(metric, X):
    sq = metric.sq_distances(X)
    assert_allclose(regularize(metric, X).sq_distances(X), sq, rtol=1e-6, atol=1e-9 * (1e-300 + sq.max()))


@given(global_metrics(st.just(4)), cases(4, st.integers(2, 6)))
def test_the_result_is_the_smallest_map_and_regularizing_again_changes_nothing(metric, X):
    smallest = regularize(metric, X).as_learned().relevances().sum()
    assert smallest <= metric.as_learned().relevances().sum() * (1 + 1e-9)
    again = regularize(regularize(metric, X), X).as_learned().relevances().sum()
    assert_allclose(again, smallest, rtol=1e-6, atol=1e-12)


def test_the_result_does_not_depend_on_what_lies_in_the_null_space():
    X = dependent()
    omega = RNG.standard_normal((2, 8))
    centred = X - X.mean(axis=0)
    null = np.linalg.svd(centred)[2][3:]
    noisy = omega + 100 * RNG.standard_normal((2, len(null))) @ null
    assert_allclose(regularize(LinearMetric(omega), X).omega, regularize(LinearMetric(noisy), X).omega, atol=1e-9)
    assert null_space(LinearMetric(noisy), X).removed_norm > 0.9


def test_the_pseudo_inverse_gives_the_same_map():
    X, omega = dependent(), RNG.standard_normal((3, 8))
    centred = X - X.mean(axis=0)
    expected = (omega @ centred.T) @ np.linalg.pinv(centred.T)
    assert_allclose(regularize(LinearMetric(omega), X).omega, expected, atol=1e-9)


@pytest.mark.parametrize("effective_dim", [1, 2, 5, 8])
def test_fewer_directions_equal_principal_components_and_the_loss_is_that_of_equation_nine(effective_dim):
    X, metric = RNG.standard_normal((30, 8)), LinearMetric(RNG.standard_normal((3, 8)))
    pca = PCA(effective_dim).fit(X)
    smooth = regularize(metric, X, effective_dim)
    rebuilt = pca.inverse_transform(pca.transform(X))
    assert_allclose(smooth.sq_distances(X), metric.sq_distances(rebuilt), rtol=1e-8, atol=1e-9)
    projector = NullSpaceProjector(effective_dim).fit(X)
    assert_allclose(projector.transform(X), rebuilt, atol=1e-9)
    report = null_space(metric, X, effective_dim)
    change = (X - X.mean(axis=0)) @ (metric.omega - smooth.omega).T
    assert_allclose(report.loss, np.square(change).sum(), rtol=1e-8, atol=1e-12)
    kept = np.square(smooth.omega).sum() / np.square(metric.omega).sum()
    assert_allclose(report.removed_norm, 1 - kept, atol=1e-9)
    assert (report.rank, report.effective_dim) == (8, effective_dim)


def test_a_diagonal_metric_becomes_a_thin_map():
    X, metric = dependent(), DiagonalMetric(RNG.exponential(size=8))
    smooth = regularize(metric, X)
    assert smooth.omega.shape == (3, 8)
    full = LinearMetric(np.diag(np.sqrt(metric.weights)))
    assert_allclose(smooth.matrix(), regularize(full, X).matrix(), atol=1e-9)
    assert_allclose(null_space(metric, X, 2).loss, null_space(full, X, 2).loss)
    assert_allclose(null_space(metric, X).removed_norm, null_space(full, X).removed_norm)


def test_distances_to_prototypes_stay_when_they_are_counted_in():
    X, prototypes = dependent(), 5 + RNG.standard_normal((2, 8))
    metric = LinearMetric(RNG.standard_normal((2, 8)))
    expected = metric.sq_distances(X, prototypes)
    assert_allclose(regularize(metric, X, prototypes=prototypes).sq_distances(X, prototypes), expected, rtol=1e-8)
    assert not np.allclose(regularize(metric, X).sq_distances(X, prototypes), expected, rtol=1e-3)


@pytest.mark.parametrize("kind", ["weights", "omegas"])
def test_local_maps_are_projected_on_the_rows_they_serve(kind):
    rng = np.random.default_rng(21)
    left, right = dependent(15, 6, 2, seed=1) - 40, dependent(15, 6, 2, seed=2) + 40
    X = np.vstack([left, right])
    anchors = np.array([left.mean(axis=0), right.mean(axis=0)])
    maps = rng.random((2, 6)) if kind == "weights" else rng.standard_normal((2, 6, 6))
    metric = LocalMetric(anchors, **{kind: maps})
    smooth = regularize(metric, X, prototypes=anchors)
    assert_allclose(smooth.sq_distances(left)[:, 0], metric.sq_distances(left)[:, 0], rtol=1e-8)
    assert_allclose(smooth.sq_distances(right)[:, 1], metric.sq_distances(right)[:, 1], rtol=1e-8)
    assert np.linalg.matrix_rank(smooth.omegas[0], tol=1e-8) == 2
    assert (smooth.relevances().sum(axis=1) < metric.relevances().sum(axis=1)).all()
    assert np.linalg.matrix_rank(regularize(metric, X, 1).omegas[1], tol=1e-8) == 1
    with pytest.raises(TypeError, match="one null space per map"):
        null_space(metric, X)


def test_a_local_map_that_serves_no_row_is_projected_on_all_rows():
    X = dependent()
    metric = LocalMetric([X[0], X[0] + 1e6], weights=np.ones((2, 8)))
    with pytest.warns(UserWarning, match="1 of 2 maps serve fewer than two rows"):
        smooth = regularize(metric, X)
    assert np.linalg.matrix_rank(smooth.omegas[1], tol=1e-8) == 3


def test_a_pipeline_is_regularized_in_the_coordinates_its_learner_saw():
    X = pd.DataFrame(dependent() * np.logspace(-2, 2, 8), columns=[f"c{i}" for i in range(8)])
    metric = LinearMetric(RNG.standard_normal((2, 8)))
    pipeline = make_pipeline(StandardScaler(), Holder(metric)).fit(X)
    Z = pipeline[0].transform(X)
    expected = regularize(metric, Z, 2)
    for smooth in (regularize(pipeline, X, 2), regularize(as_metric(pipeline), X, 2)):
        assert smooth.feature_names == tuple(X.columns)
        assert_allclose(smooth.as_learned().omega, expected.omega, atol=1e-9)
        assert_allclose(smooth.sq_distances(X), expected.sq_distances(Z), rtol=1e-8, atol=1e-9)


def test_a_metric_learned_behind_the_projector_is_stated_in_the_columns():
    X = dependent()
    pipeline = make_pipeline(NullSpaceProjector(2), Holder(LinearMetric(RNG.standard_normal((2, 8))))).fit(X)
    expected = pipeline[-1].metric_.sq_distances(pipeline[0].transform(X))
    assert_allclose(as_metric(pipeline).sq_distances(X), expected, rtol=1e-8, atol=1e-9)


def test_an_offset_does_not_raise_the_rank():
    X = dependent(40, 60)
    metric = LinearMetric(RNG.standard_normal((1, 60)))
    assert null_space(metric, X + 1e6).rank == null_space(metric, X).rank == 3


def test_the_euclidean_metric_behind_the_projector_is_thin_and_survives_a_file(tmp_path):
    X = dependent()
    projector = NullSpaceProjector(2).fit(X)
    metric = as_metric(projector)
    assert metric.omega.shape == (2, 8)
    projected = projector.transform(X)
    assert_allclose(metric.sq_distances(X), LinearMetric(np.eye(8)).sq_distances(projected), atol=1e-9)
    save(projector, tmp_path / "projector")
    assert_allclose(load(tmp_path / "projector").transform(X), projected)


def test_the_projector_is_a_scikit_learn_transformer():
    check_estimator(NullSpaceProjector(), on_skip=None)


@pytest.mark.parametrize("effective_dim", [0, 4, -1])
def test_more_directions_than_the_data_have_are_refused(effective_dim):
    with pytest.raises(ValueError, match=f"effective_dim={effective_dim} is not among the 3 directions"):
        regularize(LinearMetric(np.eye(8)), dependent(), effective_dim)


def test_one_row_cannot_be_regularized_on():
    with pytest.raises(ValueError, match="at least 2 rows"):
        regularize(LinearMetric(np.eye(2)), [[1.0, 2.0]])


def test_a_constant_column_keeps_no_weight():
    X = np.column_stack([RNG.standard_normal(9), np.full(9, 3.0)])
    assert_allclose(regularize(LinearMetric(np.eye(2)), X).relevances(), [1, 0], atol=1e-12)


@pytest.mark.slow
def test_seven_thousand_genes_take_megabytes(real_data):
    script = """
        import numpy as np, whynear as wn
        from tests.helpers.memory import peak_bytes
        X = wn.datasets.load("leukemia_allaml").X
        metric = wn.LinearMetric(np.random.default_rng(0).standard_normal((1, X.shape[1])), list(X.columns))
        before = peak_bytes()
        smooth = wn.regularize(metric, X)
        wn.regularize(wn.DiagonalMetric(np.ones(X.shape[1]), list(X.columns)), X, 5)
        wn.NullSpaceProjector().fit_transform(X)
        assert wn.null_space(metric, X).rank == 71
        print(peak_bytes() - before)
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 60 << 20


@pytest.mark.parametrize("kind", ["linear", "diagonal", "local"])
def test_several_dimensions_at_once_are_those_one_by_one(kind):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((30, 4)) @ rng.standard_normal((4, 6))
    metric = {
        "linear": LinearMetric(rng.standard_normal((3, 6))),
        "diagonal": DiagonalMetric(rng.random(6), scale=rng.random(6) + 0.5),
        "local": LocalMetric(X[:2], rng.random((2, 6))),
    }[kind]
    for K, found in zip((1, 2, 4), regularized_at(metric, X, (1, 2, 4)), strict=True):
        assert_allclose(found.sq_distances(X), regularize(metric, X, K).sq_distances(X), atol=1e-12)
