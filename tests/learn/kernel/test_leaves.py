"""Laws of leaves: one kernel model whose kernel is zero between leaves, exact without each row, smooth at borders."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import whynear as wn
from whynear.learn.kernel import leaves as parts
from whynear.learn.kernel.estimators import RFM, RFMRegressor
from whynear.learn.kernel.learning import Rows
from whynear.learn.kernel.leaves import Kernel, Leaves, fit_leaves


@pytest.fixture(autouse=True)
def small_leaves(monkeypatch):
    monkeypatch.setattr(parts, "WHOLE_ROWS", 100)
    monkeypatch.setattr(parts, "LEAF_ROWS", 50)


def drawn(seed, n=150, d=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * [3.0, 1.0, 0.1]
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(n)


def spreads(X):
    return X.std(axis=0)


def test_rows_belong_to_leaves_that_pass_into_each_other_at_borders():
    X, _ = drawn(0, 1000)
    leaves = Leaves.of(X, spreads)
    leaves.check(3)
    shares = leaves.shares(X)
    own = np.bincount(shares.argmax(axis=1))
    assert own.max() <= 60
    assert own.min() >= 30
    assert_allclose(shares.sum(axis=1), 1)
    assert 0.4 < (shares.max(axis=1) == 1).mean() < 0.9
    line = np.column_stack([np.linspace(-9, 9, 100_001), np.zeros(100_001), np.zeros(100_001)])
    assert np.abs(np.diff(leaves.shares(line), axis=0)).max() < 0.05, "a share jumps"


@pytest.mark.parametrize("n_values", [1, 2, 3, 7])
def test_rows_with_few_values_are_cut_between_them(n_values):
    rng = np.random.default_rng(n_values)
    X = rng.integers(0, n_values, (1000, 3)).astype(float)
    leaves = Leaves.of(X, spreads)
    leaves.check(3)
    shares = leaves.shares(X)
    assert_allclose(shares.sum(axis=1), 1)
    assert shares.any(axis=0).all()
    assert leaves.n_leaves >= min(n_values, 2)


def test_arrays_of_no_tree_are_refused():
    X, _ = drawn(1, 400)
    arrays = vars(Leaves.of(X, spreads))
    wrong = {
        "columns": arrays["columns"] + 3,
        "knots": -arrays["knots"],
        "children": np.zeros_like(arrays["children"]),
    }
    for name, array in wrong.items():
        with pytest.raises(ValueError, match="cuts_"):
            Leaves(**{**arrays, name: array}).check(3)


@pytest.mark.parametrize("order", [1, 2])
def test_a_row_is_left_out_of_all_its_leaves_exactly(order):
    X, target = drawn(2)
    weights, ridge, kernel = np.random.default_rng(3).uniform(0.5, 2, len(X)), 0.1, Kernel(order, 2.0)
    leaves = Leaves.of(X, spreads)
    shares = leaves.shares(X)
    model = fit_leaves(leaves, X, lambda rows: Rows(X[rows], target[rows, None], weights[rows]), kernel, ridge)

    def outputs(left_out):
        """Predictions of all rows by leaves without one, at the constant for which all coefficients sum to zero."""
        parts = []
        for of_leaf in shares.T:
            rows = np.flatnonzero((of_leaf > 0) & (np.arange(len(X)) != left_out))
            parts.append((rows, np.linalg.inv(kernel.of(X[rows]) + np.diag(ridge / weights[rows]))))
        total = sum(inverse.sum() for _, inverse in parts)
        constant = sum((inverse @ target[rows]).sum() for rows, inverse in parts) / total
        found = [kernel.of(X, X[rows]) @ inverse @ (target[rows] - constant) for rows, inverse in parts]
        return constant + (shares * np.column_stack(found)).sum(axis=1)

    whole = outputs(-1)
    found = sum(
        shares[:, leaf] * (kernel.of(X, X[rows]) @ model.alphas[leaf])[:, 0] for leaf, rows in enumerate(model.rows)
    )
    assert_allclose(model.constant + found, whole, atol=1e-9)
    on_borders = np.flatnonzero(shares.max(axis=1) < 1)
    assert len(model.rows) > 2
    for row in (*on_borders[:15], 0, 1, 2):
        assert_allclose(model.held_out[row, 0], outputs(row)[row], atol=1e-9)


@pytest.mark.filterwarnings("ignore:X holds the same value")
def test_rows_that_no_cut_separates_give_one_model_of_some_of_them():
    target = np.random.default_rng(4).standard_normal(300)
    model = RFMRegressor("l1", "values", random_state=0).fit(
        np.column_stack([np.arange(300) % 2, np.ones(300)]), target
    )
    assert np.count_nonzero(model.coefficients_) <= 200
    found = model.predict([[0.0, 1.0], [1.0, 1.0]])
    assert_allclose(found, [target[::2].mean(), target[1::2].mean()], atol=0.3)
    assert np.isfinite(model.held_out_).all()


def test_a_smooth_target_is_predicted_as_well_on_borders_as_inside():
    rng = np.random.default_rng(5)
    X, new = rng.uniform(-3, 3, (600, 2)), rng.uniform(-2.8, 2.8, (2000, 2))
    model = RFMRegressor("diagonal", "values", max_steps=1, random_state=0).fit(X, np.sin(X).sum(axis=1))
    off = np.abs(model.predict(new) - np.sin(new).sum(axis=1))
    on_border = Leaves(**model.cuts_).shares(new).max(axis=1) < 1
    assert off[on_border].mean() < 3 * off[~on_border].mean()


@pytest.mark.parametrize("shape", ["l1", "diagonal", "map"])
def test_scaling_and_permuting_rows_change_no_prediction(shape):
    X, target = drawn(6)
    order, (new, _) = np.random.default_rng(7).permutation(len(X)), drawn(8)
    model = RFMRegressor(shape, "values", random_state=0).fit(X, target)
    moved = RFMRegressor(shape, "values", random_state=0).fit((X * [3, 1, 0.5] + 7)[order], target[order])
    assert model.leaves_.max() > 1
    assert_allclose(moved.predict(new * [3, 1, 0.5] + 7), model.predict(new), atol=1e-6)
    assert_allclose(moved.held_out_, model.held_out_[order], atol=1e-6)


@pytest.mark.parametrize("kind", [RFM, RFMRegressor])
def test_shares_add_up_and_a_file_keeps_the_leaves(kind, tmp_path):
    X, target = drawn(9)
    model = kind("l1", "ranks", random_state=0).fit(X, target > 0 if kind is RFM else target)
    new, _ = drawn(10, 20)
    outputs = model.evidence(new).support()
    if kind is RFM:
        assert_allclose(outputs[:, 1] - outputs[:, 0], model.decision_function(new), atol=1e-9)
    else:
        assert_allclose(outputs[:, 0], model.predict(new), atol=1e-9)
    inside = np.flatnonzero(Leaves(**model.cuts_).shares(new).max(axis=1) == 1)[0]
    alone = model.evidence(new[[inside]])
    leaf = Leaves(**model.cuts_).shares(new)[inside].argmax()
    assert set(alone.indices[0]) == set(model.members_[model.leaves_ == leaf]), "evidence is the rows of one leaf"
    with pytest.warns(UserWarning, match="training"):
        wn.save(model, tmp_path / "model")
    again = wn.load(tmp_path / "model")
    assert_array_equal(again.predict(new), model.predict(new))
    model.cuts_["children"] = model.cuts_["children"] * 0
    with pytest.warns(UserWarning, match="training"):
        wn.save(model, tmp_path / "model")
    with pytest.raises(ValueError, match="cuts_"):
        wn.load(tmp_path / "model")


def test_groups_are_left_out_together_within_leaves():
    X, _ = drawn(11)
    groups = np.repeat(np.arange(50), 3)
    noise = np.random.default_rng(12).standard_normal((50, 3))[groups] + 1e-6 * X
    target = np.random.default_rng(13).standard_normal(50)[groups]
    own = RFMRegressor("l1", "values", random_state=0).fit(noise, target, groups=groups)
    assert own.leaves_.max() > 1
    assert np.corrcoef(own.held_out_, target)[0, 1] < 0.5, "rows of its group predict a row"
    alone = RFMRegressor("l1", "values", random_state=0).fit(noise, target)
    assert np.corrcoef(alone.held_out_, target)[0, 1] > 0.9


@pytest.mark.slow
def test_memory_is_that_of_one_leaf(monkeypatch):
    monkeypatch.setattr(parts, "WHOLE_ROWS", 2000)
    monkeypatch.setattr(parts, "LEAF_ROWS", 2000)
    X, target = drawn(14, 12_000)
    leaves = Leaves.of(X, spreads)

    def rows_of(rows):
        return Rows(X[rows].astype(np.float32), target[rows, None].astype(np.float32), np.ones(len(rows)))

    tracemalloc.start()
    fit_leaves(leaves, X, rows_of, Kernel(1, 2.0), 0.1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.5 * 4 * 2000**2 + parts.PREDICTION_BYTES
