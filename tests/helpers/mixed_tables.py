"""A table of numbers and categories, and ColumnTransformers for it."""

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)

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
