"""Learned kernels of prices and other measured targets, beside forests, boosting and ridge regression."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from whynear.learn.kernel.estimators import RFMRegressor


def stones(n, seed=0):
    """Stones whose sizes are nearly collinear with their weight, and whose prices are as skewed as prices are."""
    rng = np.random.default_rng(seed)
    carat = np.clip(np.exp(rng.normal(-0.4, 0.55, n)), 0.2, 5)
    cut, color, clarity = (rng.integers(0, most, n) for most in (5, 7, 8))
    depth, table = rng.normal(61.7, 1.4, n), rng.normal(57.5, 2.2, n)
    x = 6.45 * np.cbrt(carat) * np.exp(rng.normal(0, 0.01, n))
    y = x * np.exp(rng.normal(0, 0.005, n))
    z = depth / 100 * (x + y) / 2
    quality = 0.06 * cut - 0.09 * color + 0.12 * clarity + 0.02 * clarity * np.log(carat) - 0.01 * np.abs(depth - 61.7)
    price = np.exp(7.9 + 1.75 * np.log(carat) - 0.08 * np.log(carat) ** 2 + quality + 0.1 * rng.standard_normal(n))
    columns = {"carat": carat, "cut": cut, "color": color, "clarity": clarity, "depth": depth, "table": table}
    return pd.DataFrame({**columns, "x": x, "y": y, "z": z}), np.round(price)


def held_out(model, X, y, n_folds=5):
    """Return held-out predictions, and their R2."""
    predicted = np.empty(len(y))
    for train, test in KFold(n_folds, shuffle=True, random_state=0).split(X):
        predicted[test] = clone(model).fit(X.iloc[train], y[train]).predict(X.iloc[test])
    return predicted, r2_score(y, predicted)


BOOSTING = HistGradientBoostingRegressor(random_state=0)


@pytest.mark.filterwarnings("ignore:Far from all")
def test_no_price_is_negative():
    X, y = stones(600)
    predicted, r2 = held_out(RFMRegressor(random_state=0), X, y, 3)
    assert predicted.min() >= y.min() > 0
    assert r2 > held_out(BOOSTING, X, y, 3)[1]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Far from all")
def test_ten_thousand_prices_are_predicted_as_well_as_by_boosting():
    X, y = stones(10_000)
    train, test = next(KFold(5, shuffle=True, random_state=0).split(X))
    model = RFMRegressor(random_state=0).fit(X.iloc[train], y[train])
    predicted = model.predict(X.iloc[test])
    boosted = BOOSTING.fit(X.iloc[train], y[train]).predict(X.iloc[test])
    ends = model.predict_interval(X.iloc[test])
    covered = np.mean((ends[:, 0] <= y[test]) & (y[test] <= ends[:, 1]))
    own, other = r2_score(y[test], predicted), r2_score(y[test], boosted)
    print(f"{model.shape_} {model.columns_}: R2 {own:.4f}, boosting {other:.4f}, coverage {covered:.3f}")
    assert predicted.min() > 0
    assert own >= other - 0.01
    assert covered >= 0.87


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Far from all")
@pytest.mark.parametrize(
    ("name", "target", "dropped", "below"), [("mpg", "mpg", "name", 0.01), ("Hitters", "Salary", "rownames", 0.035)]
)
def test_tables_with_categories_are_predicted_nearly_as_well_as_by_the_best(name, target, dropped, below, real_data):
    frame = pd.read_csv(real_data / "tables" / f"{name}.csv").dropna(subset=[target])
    X, y = frame.drop(columns=[target, dropped]), frame[target].to_numpy(float)
    yardsticks = {
        "forest": RandomForestRegressor(300, random_state=0),
        "boosting": BOOSTING,
        "ridge": make_pipeline(StandardScaler(), RidgeCV(10.0 ** np.arange(-3, 4))),
    }
    kinds = {"RFMRegressor": RFMRegressor(random_state=0), **yardsticks}
    found = {
        kind: held_out(make_pipeline(wn.TableEncoder("onehot", "median"), model), X, y)[1]
        for kind, model in kinds.items()
    }
    print(name, {kind: round(r2, 4) for kind, r2 in found.items()})
    assert found["RFMRegressor"] >= max(found[kind] for kind in yardsticks) - below
