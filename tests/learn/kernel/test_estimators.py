"""Laws of learned kernels: exact leave-one-out, true gradients, and what may not change the model."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import whynear as wn
from whynear.data.rows import TimeOrder
from whynear.learn.kernel.estimators import RFM, RFMRegressor
from whynear.learn.kernel.learning import SHAPES, Coordinates, Rows, mapped, order_of, steps
from whynear.learn.kernel.matrices import distances, gradients, kernel_of, weight_gradients
from whynear.learn.kernel.ridge import fit_ridge
from whynear.testing import check_learner, check_metric

EVERY = pytest.mark.parametrize(("shape", "columns"), [(s, c) for s in SHAPES for c in ("values", "ranks")])


def drawn(seed, n=60, d=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * rng.uniform(0.1, 20, d) + rng.uniform(-5, 5, d)
    target = np.sin(X[:, 0] / X[:, 0].std()) + 0.3 * X[:, 1] / X[:, 1].std() + 0.1 * rng.standard_normal(n)
    return X, target


def solved(K, Y, ridge, weights):
    """The bordered system of a kernel model with a free constant, solved as it stands."""
    n = len(K)
    system = np.block([[K + ridge * np.diag(1 / weights), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    found = np.linalg.solve(system, np.vstack([Y, np.zeros((1, Y.shape[1]))]))
    return found[:-1], found[-1]


@pytest.mark.parametrize("seed", range(200))
def test_predictions_of_rows_left_out_are_those_of_a_refit_without_them(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(8, 40)), int(rng.integers(1, 4))
    X, Y = rng.standard_normal((n, 3)), rng.standard_normal((n, k))
    weights, ridge = rng.uniform(0.2, 3.0, n), 10.0 ** rng.uniform(-4, 1)
    K = kernel_of(distances(X, order=int(rng.integers(1, 3))), rng.uniform(0.5, 4))
    groups = rng.integers(0, 5, n) if seed % 2 else None
    model = fit_ridge(K, Y, ridge, weights, groups)
    alpha, constant = solved(K, Y, ridge, weights)
    assert_allclose(model.alpha, alpha, atol=1e-8)
    assert_allclose(model.constant, constant, atol=1e-8)
    for row in rng.permutation(n)[:4]:
        without = np.flatnonzero(np.arange(n) != row if groups is None else groups != groups[row])
        if len(without) < 2:
            continue
        alpha, constant = solved(K[np.ix_(without, without)], Y[without], ridge, weights[without])
        assert_allclose(model.held_out[row], K[row, without] @ alpha + constant, atol=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_derivatives_are_those_of_finite_differences(seed):
    rng = np.random.default_rng(seed)
    Z, alpha, X = rng.standard_normal((30, 3)), rng.standard_normal((30, 2)), rng.standard_normal((4, 3))
    width, step = 2.0, 1e-6

    def model(rows, order):
        return kernel_of(distances(rows, Z, order=order), width) @ alpha

    def slopes(order):
        moved = step * np.eye(3)
        return np.stack([(model(X + e, order) - model(X - e, order)) / (2 * step) for e in moved], axis=-1)

    D = distances(X, Z, order=2)
    of_order_two = -gradients(X, Z, kernel_of(D.copy(), width), D, alpha) / width
    assert_allclose(of_order_two, slopes(2), atol=1e-6)
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    squares = weight_gradients(X, Z, kernel_of(distances(X, Z, order=1), width), alpha, weights)
    expected = weights @ np.square(slopes(1)).sum(axis=1) / weights.sum()
    assert_allclose(squares / width**2, expected, atol=1e-6)


@EVERY
def test_the_metric_measures_what_was_learned(shape, columns):
    X, target = drawn(0)
    weights = np.ones(len(X))
    coordinates = Coordinates.of(X, weights, columns)
    rows = Rows(coordinates.inside(X), target[:, None], weights)
    *_, last = steps(rows, shape, 2, np.arange(len(X)))
    metric = coordinates.metric(last.weights, shape, list("abcd"))
    D = distances(mapped(rows.X, last.weights), order=order_of(shape))
    assert_allclose(metric.sq_distances(X), D if shape == "l1" else D**2, atol=1e-8)
    check_metric(metric, X)


@EVERY
def test_scaling_shifting_and_permuting_change_no_prediction(shape, columns):
    X, target = drawn(1)
    y, order = target > np.median(target), np.random.default_rng(2).permutation(len(X))
    new, _ = drawn(3)
    model = RFM(shape=shape, columns=columns, random_state=0).fit(X, y)
    moved = RFM(shape=shape, columns=columns, random_state=0).fit((X * [3, 1, 0.5, 100] + 7)[order], y[order])
    assert_allclose(moved.predict_proba(new * [3, 1, 0.5, 100] + 7), model.predict_proba(new), atol=1e-6)
    assert_allclose(moved.held_out_, model.held_out_[order], atol=1e-6)


def test_monotone_maps_of_columns_change_nothing_behind_ranks():
    X, target = drawn(4)
    bent = np.column_stack([np.exp(X[:, 0] / 10), X[:, 1] ** 3, X[:, 2], np.arctan(X[:, 3])])
    model, other = (RFMRegressor("l1", "ranks", random_state=0).fit(table, target) for table in (X, bent))
    assert_allclose(other.predict(bent), model.predict(X), atol=1e-8)
    assert_array_equal(other.metric_.relevances(), model.metric_.relevances())


@pytest.mark.parametrize("shape", ["l1", "diagonal"])
def test_copied_columns_get_equal_weights(shape):
    X, target = drawn(5)
    model = RFMRegressor(shape, "values", random_state=0).fit(np.hstack([X, X[:, :1]]), target)
    relevances = model.metric_.relevances()
    assert relevances[0] == pytest.approx(relevances[-1], rel=1e-9)


def test_a_row_of_weight_two_is_two_rows():
    X, target = drawn(6)
    weights = np.where(np.arange(len(X)) < 20, 2.0, 1.0)
    twice = np.concatenate([np.arange(len(X)), np.arange(20)])
    model = RFMRegressor(random_state=0).fit(X, target, weights)
    assert_allclose(RFMRegressor(random_state=0).fit(X[twice], target[twice]).predict(X), model.predict(X), atol=1e-9)


@pytest.mark.filterwarnings("ignore:Far from all")
@pytest.mark.parametrize("kind", [RFM, RFMRegressor])
def test_shares_of_training_rows_add_up_to_the_prediction(kind):
    X, target = drawn(7)
    y = np.where(target > 0.5, "high", np.where(target > -0.5, "middle", "low")) if kind is RFM else target
    model = kind(random_state=0).fit(X, y)
    new, _ = drawn(8)
    evidence = model.evidence(new)
    outputs = evidence.support()
    if kind is RFM:
        assert_array_equal(model.classes_[outputs.argmax(axis=1)], model.predict(new))
        assert_allclose(outputs.sum(axis=1), 1, atol=1e-9)
    else:
        assert_allclose(outputs[:, 0], model.predict(new), atol=1e-9)
    parts = model.metric_.contributions_at(new[0], model.cases_, evidence.indices[0])
    assert_allclose(parts.sum(axis=1), evidence.sq_distances[0], atol=1e-8)


@EVERY
@pytest.mark.parametrize("kind", [RFM, RFMRegressor])
def test_a_model_without_columns_has_the_metric_of_the_others(kind, shape, columns):
    X, target = drawn(16)
    model = kind(shape, columns, random_state=0).fit(X, target > np.median(target) if kind is RFM else target)
    less, moved = model.without([0, 3]), X + np.array([100.0, 0, 0, -7])
    assert_array_equal(less.metric_.relevances()[[0, 3]], 0)
    assert_allclose(less.predict(moved), less.predict(X))
    assert_allclose(model.without([]).evidence(X).support(), model.evidence(X).support(), atol=1e-6)
    nothing = model.without([0, 1, 2, 3])
    assert len(np.unique(nothing.predict(X))) == 1


def test_chosen_settings_are_not_chosen_again():
    X, target = drawn(17)
    model = RFMRegressor(random_state=0).fit(X, target)
    again = RFMRegressor(**model.chosen_settings(), random_state=0).fit(X, target)
    assert not hasattr(again, "search_results_")
    assert_allclose(again.predict(X), model.predict(X), atol=1e-9)


@pytest.mark.filterwarnings("ignore:Far from all")
def test_numbers_stay_within_the_range_of_the_targets():
    rng = np.random.default_rng(9)
    X = rng.exponential(size=(150, 2))
    y = np.exp(2 * X[:, 0]) * (X[:, 1] > 0.5)
    predicted = RFMRegressor(random_state=0).fit(X, y).predict(10 * rng.standard_normal((1000, 2)))
    assert predicted.min() >= y.min()
    assert predicted.max() <= y.max()


def test_rows_of_a_group_and_later_rows_are_left_out_together():
    X, target = drawn(10)
    groups = np.repeat(np.arange(20), 3)
    noise = np.random.default_rng(11).standard_normal((20, 4))[groups]
    own = RFMRegressor("l1", "values", random_state=0).fit(noise, target[groups], groups=groups)
    assert np.corrcoef(own.held_out_, target[groups])[0, 1] < 0.5, "rows of its group predict a row"
    alone = RFMRegressor("l1", "values", random_state=0).fit(noise + 1e-6 * np.arange(60)[:, None], target[groups])
    assert np.corrcoef(alone.held_out_, target[groups])[0, 1] > 0.9
    timed = RFMRegressor(random_state=0).fit(X, target, groups=TimeOrder(np.arange(60)))
    assert np.isfinite(timed.held_out_).all()


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.ones((10, 2)), np.arange(10) % 2),
        (np.column_stack([np.ones(10), np.arange(10)]), np.arange(10) > 4),
        (np.arange(4.0)[:, None], ["a", "b", "b", "b"]),
        (np.arange(2.0)[:, None], ["a", "b"]),
    ],
    ids=["all rows alike", "a constant column", "a class of one row", "two rows"],
)
@pytest.mark.filterwarnings("ignore:X holds the same value")
def test_small_and_degenerate_tables_give_finite_predictions(X, y):
    model = RFM(random_state=0).fit(X, y)
    for found in (model.predict_proba(X), model.held_out_, model.metric_.relevances(), model.coefficients_):
        assert np.isfinite(found).all()
    number = RFMRegressor(random_state=0).fit(X, np.arange(len(X), dtype=float))
    assert np.isfinite(number.predict(X)).all()


def test_an_interrupt_ends_the_fit():
    def stop(step):
        raise KeyboardInterrupt

    X, target = drawn(12)
    with pytest.raises(KeyboardInterrupt):
        RFMRegressor(callback=stop).fit(X, target)


def test_parity_of_two_columns_is_learned():
    rng = np.random.default_rng(13)
    X = rng.standard_normal((400, 10))
    y = X[:, 0] * X[:, 1] > 0
    model = RFM(random_state=0).fit(X, y)
    shares = model.metric_.mean_shares()
    assert shares[:2].min() > 3 * shares[2:].max()
    assert (model.classes_[model.held_out_.argmax(axis=1)] == y).mean() > 0.85


@pytest.mark.parametrize("kind", [RFM, RFMRegressor])
def test_it_survives_a_file(kind, tmp_path):
    X, target = drawn(14)
    names = [f"row {i}" for i in range(len(X))]
    model = kind("l1", "ranks", random_state=0).fit(pd.DataFrame(X, names), target > 0 if kind is RFM else target)
    with pytest.warns(UserWarning, match="training"):
        wn.save(model, tmp_path / "model")
    again = wn.load(tmp_path / "model")
    assert again.metric_ == model.metric_
    assert_array_equal(again.predict(X), model.predict(X))
    assert again.row_names_.tolist() == names


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_passes_the_checks_of_learners(shape):
    check_learner(RFM(shape=shape))


def test_a_metric_of_another_order_is_refused():
    X, target = drawn(18)
    model = RFMRegressor("l1", "values", random_state=0).fit(X, target)
    assert_allclose(model.with_metric(model.metric_).predict(X), model.predict(X))
    with pytest.raises(ValueError, match="order 3"):
        model.with_metric(wn.MinkowskiMetric(np.ones(4), 3))
