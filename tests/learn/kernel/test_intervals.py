"""Laws of intervals around predicted numbers, and of warnings of rows far from all training rows."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from tests.learn.kernel.test_estimators import drawn, solved
from whynear.data.rows import TimeOrder
from whynear.learn.inputs import FarRowsWarning
from whynear.learn.kernel.estimators import RFM, RFMRegressor
from whynear.learn.kernel.intervals import LeftOut, reach_of, weighted_end
from whynear.learn.kernel.matrices import distances, kernel_of


def table_of(kind, n, d, rng):
    X = rng.standard_normal((n, d))
    if kind == "linear":
        return X, X[:, 0] - X[:, 1] + 0.5 * X[:, 2] + 0.5 * rng.standard_normal(n)
    if kind == "sine and product":
        return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n)
    X = X**3
    return X, np.sqrt(np.abs(X[:, 0])) + X[:, 1] + rng.standard_t(2, n)


KINDS = ["linear", "sine and product", "heavy tails"]


def coverage_of(kind, n, d, seed, n_new=300):
    X, y = table_of(kind, n + n_new, d, np.random.default_rng([seed, n, d, len(kind)]))
    low, high = RFMRegressor(random_state=0).fit(X[:n], y[:n]).predict_interval(X[n:]).T
    return ((low <= y[n:]) & (y[n:] <= high)).mean()


# The law: what a model would predict without each row


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_changes_without_a_row_are_those_of_a_refit(seed, grouped):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 30))
    X, y, new = rng.standard_normal((n, 3)), rng.standard_normal(n), rng.standard_normal((5, 3))
    weights, ridge = rng.uniform(0.2, 3.0, n), 10.0 ** rng.uniform(-4, 1)
    groups = rng.integers(3, 7, n) if grouped else None
    K, K_new = kernel_of(distances(X, order=1), 2.0), kernel_of(distances(new, X, order=1), 2.0)
    left_out = LeftOut.of(K, y, ridge, weights, groups)
    alpha, constant = solved(K, y[:, None], ridge, weights)
    changes = left_out.changes(K_new)
    for row in range(n):
        rest = np.flatnonzero(np.arange(n) != row if groups is None else groups != groups[row])
        without, base = solved(K[np.ix_(rest, rest)], y[rest, None], ridge, weights[rest])
        expected = (K_new @ alpha + constant - K_new[:, rest] @ without - base)[:, 0]
        assert_allclose(changes[:, row], expected, atol=1e-8)


def test_ends_are_the_papers_order_statistics():
    values = np.random.default_rng(0).standard_normal((20, 19))
    ranked = np.sort(values, axis=1)
    for coverage in (0.5, 0.8, 0.9):
        upper = ranked[:, int(np.ceil(coverage * 20 - 1e-9)) - 1]
        assert_array_equal(weighted_end(values, np.ones(19), 1.0, coverage), upper)
        lower = ranked[:, int(np.floor((1 - coverage) * 20 + 1e-9)) - 1]
        assert_array_equal(-weighted_end(-values, np.ones(19), 1.0, coverage), lower)
    assert_array_equal(weighted_end(values, np.ones(19), 1.0, 0.99), ranked[:, -1])


def test_residuals_are_those_of_held_out_predictions():
    X, y = drawn(20)
    model = RFMRegressor(random_state=0).fit(X, y)
    parts = model._intervals()
    residuals = np.empty(len(y))
    residuals[parts.rows] = parts.left_out.residuals
    assert_allclose(np.clip(y - residuals, y.min(), y.max()), model.held_out_, atol=1e-6)


# The share of new targets within their intervals


@pytest.mark.parametrize("kind", KINDS)
def test_nine_of_ten_new_targets_lie_within_their_intervals(kind):
    found = [coverage_of(kind, 60, 5, seed, 100) for seed in range(8)]
    assert 0.84 < np.mean(found) < 0.97


@pytest.mark.slow
def test_mean_coverage_of_a_hundred_draws_is_at_least_nearly_nine_in_ten():
    found = {
        (kind, n, d): np.mean([coverage_of(kind, n, d, seed) for seed in range(9)])
        for kind in KINDS
        for n in (60, 300)
        for d in (5, 20)
    }
    print(pd.Series(found).round(3).to_string())
    assert np.mean(list(found.values())) >= 0.88
    assert min(found.values()) >= 0.84


def measured_tables(folder):
    for name in ("tecator", "wine_spectra", "pac_retention"):
        data = wn.datasets.load(name, folder)
        yield name, pd.DataFrame(np.asarray(data.X)).add_prefix("c"), np.asarray(data.y)
    for name, target, dropped in (("mpg", "mpg", "name"), ("Hitters", "Salary", "rownames")):
        frame = pd.read_csv(folder / "tables" / f"{name}.csv").dropna(subset=[target])
        yield name, frame.drop(columns=[target, dropped]), frame[target].to_numpy(float)
    yield "diabetes", *load_diabetes(return_X_y=True, as_frame=True)


@pytest.mark.slow
def test_held_out_rows_of_real_tables_are_covered_and_seldom_far(real_data):
    found = {}
    for name, X, y in measured_tables(real_data):
        inside, predicted, far = np.zeros(len(y), bool), np.zeros(len(y)), 0
        for train, test in KFold(5, shuffle=True, random_state=0).split(X):
            encoder = wn.TableEncoder("onehot", "median").fit(X.iloc[train], np.asarray(y)[train])
            known, new = (np.asarray(encoder.transform(X.iloc[rows]), float) for rows in (train, test))
            model = RFMRegressor(random_state=0).fit(known, np.asarray(y)[train])
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                predicted[test] = model.predict(new)
            far += sum(int(warning.message.far.sum()) for warning in caught)
            low, high = model.predict_interval(new).T
            inside[test] = (low <= np.asarray(y)[test]) & (np.asarray(y)[test] <= high)
        found[name] = {"coverage": inside.mean(), "far": far / len(y)}
    found = pd.DataFrame(found).T
    print(found.round(3).to_string())
    assert found["coverage"].min() >= 0.86
    assert found["coverage"].mean() >= 0.88
    assert found["far"].max() <= 0.01


@pytest.mark.filterwarnings("ignore:Far from all")
def test_errors_in_folds_are_not_smaller_than_those_of_new_rows():
    X, y = table_of("linear", 360, 20, np.random.default_rng(0))
    model = RFMRegressor("map", "values", random_state=0).fit(X[:60], y[:60])
    new = np.median(np.abs(model.predict(X[60:]) - y[60:]))
    assert np.median(model.errors_in_folds()) > 0.8 * new


# Weights, copies, groups, times, units, files


def test_a_row_of_weight_two_is_two_rows_to_intervals():
    X, y = drawn(21)
    weights = np.where(np.arange(len(X)) < 20, 2.0, 1.0)
    twice = np.concatenate([np.arange(len(X)), np.arange(20)])
    one = RFMRegressor(random_state=0).fit(X, y, weights)
    two = RFMRegressor(random_state=0).fit(X[twice], y[twice])
    assert_allclose(two.predict_interval(X), one.predict_interval(X), atol=1e-8)


def test_intervals_take_the_units_of_the_target_and_the_order_of_no_row():
    X, y = drawn(22)
    model = RFMRegressor(random_state=0).fit(X, y)
    ends, order = model.predict_interval(X), np.random.default_rng(0).permutation(len(X))
    assert_allclose(RFMRegressor(random_state=0).fit(X, 100 * y + 7).predict_interval(X), 100 * ends + 7, rtol=1e-6)
    moved = RFMRegressor(random_state=0).fit(X[order], y[order])
    assert_allclose(moved.predict_interval(X), ends, atol=1e-6)
    assert_allclose(np.vstack([model.predict_interval(X[[row]]) for row in range(5)]), ends[:5], atol=1e-9)
    assert (ends[:, 0] <= model.predict(X)).all()
    assert (model.predict(X) <= ends[:, 1]).all()
    wide = model.predict_interval(X, 0.95)
    assert (wide[:, 0] <= ends[:, 0]).all()
    assert (wide[:, 1] >= ends[:, 1]).all()


def test_intervals_are_for_new_groups_and_for_later_rows():
    rng = np.random.default_rng(23)
    groups = np.repeat(np.arange(40), 4)
    X = rng.standard_normal((40, 3))[groups] + 0.1 * rng.standard_normal((160, 3))
    y = rng.standard_normal(40)[groups] + 0.1 * rng.standard_normal(160)
    alone = RFMRegressor("l1", "values", random_state=0).fit(X, y)
    together = RFMRegressor("l1", "values", random_state=0).fit(X, y, groups=groups)
    width, wide = (np.diff(model.predict_interval(X), axis=1).mean() for model in (alone, together))
    assert wide > 1.5 * width, "a new group is predicted with the spread of groups"
    timed = RFMRegressor("l1", "values", random_state=0).fit(X, y, groups=TimeOrder(np.arange(160)))
    ends = timed.predict_interval(X)
    assert_allclose(ends.mean(axis=1), timed.predict(X), atol=1e-8)
    assert np.ptp(np.diff(ends, axis=1)) < 1e-8


def test_few_rows_give_the_widest_interval_and_say_so():
    X, y = drawn(24, n=8)
    model = RFMRegressor("l1", "values", random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="at least 9 rows that were held out"):
        ends = model.predict_interval(X)
    assert np.isfinite(ends).all()
    with pytest.warns(UserWarning, match="at least 19 rows"):
        assert_allclose(model.predict_interval(X, 0.95), ends)
    groups = np.repeat(np.arange(4), 2)
    with pytest.warns(UserWarning, match="at least 9 groups"):
        RFMRegressor("l1", "values", random_state=0).fit(X, y, groups=groups).predict_interval(X)
    with pytest.raises(ValueError, match="coverage"):
        model.predict_interval(X, 1.0)


def test_many_rows_have_intervals_without_a_model_for_each(monkeypatch):
    X, y = table_of("linear", 300, 5, np.random.default_rng(25))
    model = RFMRegressor("l1", "values", random_state=0).fit(X[:200], y[:200])
    monkeypatch.setattr("whynear.learn.kernel.intervals.LEARNING_ROWS", 100)
    low, high = model.predict_interval(X[200:]).T
    assert ((low <= y[200:]) & (y[200:] <= high)).mean() > 0.8
    assert_allclose(model.errors_in_folds(), np.abs(y[:200] - model.held_out_))


def test_intervals_survive_a_file_and_change_no_attribute(tmp_path):
    X, y = drawn(26)
    for groups in (None, np.arange(60) // 2, TimeOrder(np.arange(60))):
        model = RFMRegressor(random_state=0).fit(X, y, groups=groups)
        before = set(vars(model))
        ends = model.predict_interval(X)
        assert set(vars(model)) == before
        with pytest.warns(UserWarning, match="training"):
            wn.save(model, tmp_path / "model")
        assert_allclose(wn.load(tmp_path / "model").predict_interval(X), ends, atol=1e-9)


# Rows far from all training rows


def test_a_row_beyond_all_others_is_named_and_nearer_ones_are_not():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = RFMRegressor("diagonal", "values", random_state=0).fit(X, y)
    beyond = X.iloc[[3, 4]].set_axis(["usual", "odd"])
    beyond.loc["odd"] += 3 * (X.max() - X.min())
    with pytest.warns(FarRowsWarning, match=r"1 of 2 rows \(first: odd\)|1 of 2 rows \(first: row odd\)") as caught:
        model.predict(beyond)
    assert len(caught) == 1
    assert caught[0].message.far.tolist() == [False, True]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(X)
        model.predict_interval(beyond)
        RFM(random_state=0).fit(X, y > 150).predict(beyond)


def test_reach_is_twice_the_distance_of_nearest_rows_and_stays_in_files(tmp_path):
    X, y = drawn(27)
    model = RFMRegressor("l1", "values", random_state=0).fit(X, y)
    D = model.metric_.sq_distances(X)
    np.fill_diagonal(D, np.inf)
    assert model.reach_ == pytest.approx(2 * np.quantile(D.min(axis=1), 0.99))
    assert reach_of(np.vstack([X, X]), 1) == pytest.approx(reach_of(X, 1)), "copies are one row"
    doubled = wn.MinkowskiMetric(2 * model.metric_.weights, 1)
    assert model.with_metric(doubled).reach_ == pytest.approx(2 * model.reach_)


def test_predicted_tables_have_these_intervals_and_one_warning(tmp_path):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), RFMRegressor("l1", "values", random_state=0)).fit(X, y)
    new = X.iloc[:3].set_axis(["a", "b", "odd"])
    new.loc["odd"] += 3 * (X.max() - X.min())
    with pytest.warns(FarRowsWarning, match=r"1 of 3 rows \(first: row odd\)") as caught:
        found = wn.predict_table(model, new)
    assert len(caught) == 1
    ends = model[-1].predict_interval(model[0].transform(new))
    assert_allclose(found[["low", "high"]], ends)
    why = wn.explain(model, new.loc["a"])
    assert why.interval == pytest.approx(tuple(ends[0]))
