"""A table of numbers and categories, and ColumnTransformers for it."""

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, RobustScaler, StandardScaler

import whynear as wn

NUMBERS = ["size", "count", "age", "noise"]


def table(n=90, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": 10 * rng.standard_normal(n),
            "colour": rng.choice(["red", "green", "blue"], n),
            "count": rng.integers(0, 9, n),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.uniform(20, 80, n),
            "noise": rng.standard_normal(n),
        }
    )
    y = np.where((frame["size"] > 0) ^ (frame["colour"] == "red"), "yes", "no")
    return frame, y


def model_of(transformer, learner=None, data=None):
    X, y = data or table()
    return make_pipeline(transformer, wn.GMLVQ(random_state=0) if learner is None else learner).fit(X, y)


MIXED = {
    "scaled and one-hot": ColumnTransformer(
        [("cat", OneHotEncoder(), ["sex", "colour"]), ("num", StandardScaler(), ["age", "size"])]
    ),
    "remainder passed": ColumnTransformer(
        [("cat", OneHotEncoder(drop="first"), ["colour"]), ("no", "drop", ["sex"])], remainder="passthrough"
    ),
    "imputed": ColumnTransformer(
        [
            ("num", make_pipeline(SimpleImputer(), MinMaxScaler()), ["size", "age"]),
            ("cat", make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(drop="if_binary")),
             ["colour", "sex"]),
        ],
        remainder=RobustScaler(),
        transformer_weights={"num": 0.5},
    ),
    "by selector": ColumnTransformer(
        [
            ("num", StandardScaler(), make_column_selector(dtype_include=np.number)),
            ("cat", OneHotEncoder(sparse_output=False), make_column_selector(dtype_exclude=np.number)),
        ]
    ),
}  # fmt: skip


def patients(n=70, seed=0):
    """Rows with names, and with numbers, dates, ordered and other categories, and gaps; classes that need all kinds."""
    rng = np.random.default_rng(seed)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, n), unit="D")
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 80, n).astype(float),
            "ward": rng.choice(["A", "B", "C"], n),
            "sex": rng.choice(["f", "m"], n),
            "pain": pd.Categorical(rng.choice(["none", "some", "much"], n), ["none", "some", "much"], ordered=True),
            "admitted": days.strftime("%d.%m.%Y"),
            "dose": rng.uniform(0, 5, n).round(2),
        },
        index=[f"p{number}" for number in range(n)],
    )
    y = np.where((frame["age"] > 50) ^ (frame["ward"] == "A"), "ill", "well")
    frame.loc[frame.index[::9], "age"] = np.nan
    frame.loc["p4", "ward"] = None
    frame.loc[(y == "ill") & (frame["sex"] == "m"), "dose"] = -9.0
    return frame, y


def encoder_of_patients(**settings):
    given = {"readings": {"admitted": "date %d.%m.%Y"}, "missing": {"dose": ("-9",)}, "indicators": True}
    return wn.TableEncoder("onehot", "median", **{**given, **settings})


def model_of_patients(learner=None, rows=slice(None), **settings):
    X, y = patients()
    learner = wn.GRLVQ(random_state=0) if learner is None else learner
    return make_pipeline(encoder_of_patients(**settings), StandardScaler(), learner).fit(X[rows], y[rows])
