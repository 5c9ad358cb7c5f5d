"""A table with numbers, categories, gaps and names, its measured target, and models of it."""

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn

TOWNS = ["Bonn", "Köln", "Trier"]


def houses(n=80, gaps=True, seed=0):
    """Size and town raise the price, age lowers it, and noise does nothing."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "size": rng.normal(50, 10, n).round(1),
            "age": rng.integers(1, 40, n).astype(float),
            "town": rng.choice(TOWNS, n),
            "noise": rng.standard_normal(n).round(3),
        },
        index=pd.Index([f"h{i:02d}" for i in range(n)], name="id"),
    )
    price = 3 * table["size"] - 2 * table["age"] + 40 * (table["town"] == "Köln") + rng.normal(0, 4, n)
    if gaps:
        table.loc[["h03", "h17"], "age"] = np.nan
    return table, price.round(1).rename("price")


def numbers(n=60, seed=1):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal([5, 0, 100], [1, 2, 30], (n, 3)), columns=["a", "b", "c"])
    return X, pd.Series(10 + 4 * X["a"] - 3 * X["b"] + rng.normal(0, 0.5, n), name="y")


def model_of_houses():
    X, y = houses()
    encoder = wn.TableEncoder("onehot", "median")
    return make_pipeline(encoder, StandardScaler(), wn.MinimumNormRegressor()).fit(X, y)


def write_houses(path, n=80):
    X, y = houses(n)
    X.assign(price=y).to_csv(path)
    return path
