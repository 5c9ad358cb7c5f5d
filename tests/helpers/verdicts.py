"""Tables as the modules of verdicts take them."""

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression, LogisticRegression

from whynear.datasets import make_truth
from whynear.verdict import StandIn, StandIns, SufficientSets, Verdicts
from whynear.verdict.rules import WORDS
from whynear.verdict.table import feature_columns, target_of


def classes(y, groups=None):
    return target_of(LogisticRegression(), y, groups)


def measured(y, groups=None):
    return target_of(LinearRegression(), y, groups)


def of_kind(kind, seed=0):
    """Columns and target of a table whose truth is known, and the truth."""
    data = make_truth(kind, seed)
    return feature_columns(data.X), classes(data.y), data


def two_of_four(n=120, seed=3):
    """Two columns that decide the class together, two that do not."""
    X = np.random.default_rng(seed).standard_normal((n, 4))
    frame = pd.DataFrame(X, columns=["one", "two", "noise_0", "noise_1"])
    return frame, (X[:, 0] + X[:, 1] > 0).astype(int)


def with_categories_and_gaps(n=160, seed=0):
    """A table of a decisive category, a decisive number with gaps, a useless number and a useless category."""
    rng = np.random.default_rng(seed)
    colour, size = rng.choice(["red", "green", "blue"], n), rng.standard_normal(n)
    y = np.where((colour == "red") ^ (size > 0), "yes", "no")
    X = pd.DataFrame(
        {"colour": colour, "size": size, "noise": rng.standard_normal(n), "sex": rng.choice(["f", "m"], n)}
    )
    X.loc[::20, "size"] = np.nan
    X.loc[5::20, "sex"] = None
    return X, y


def made_up(names=("a", "b", "c", "d"), n_resamples=20):
    """Verdicts that nothing was computed for, one of each word in turn."""
    d = len(names)
    pairs = (StandIn(names[0], names[1], 0.5, 0.9), StandIn(names[1], names[0], -0.5, 0.9))
    stand_ins = StandIns(pairs, ((names[0], names[1]),))
    columns = ["n_features", "score", "error", "excess", "excess_error", "features"]
    rows = [(1, 0.7, 0.03, 0.2, 0.01, (names[0],)), (d, 0.9, 0.0, 0.0, 0.0, tuple(names))]
    sets = SufficientSets(
        (names[0],), pd.DataFrame(rows, columns=columns), {names[0]: (names[1],)}, stand_ins, "accuracy"
    )
    return Verdicts(
        feature_names=tuple(names),
        verdict=np.array([WORDS[j % 4] for j in range(d)]),
        loss=np.linspace(9, -1, d),
        error=np.ones(d),
        p_value=np.linspace(0, 1, d),
        effect=np.linspace(0.5, 0, d),
        q_value=np.linspace(0, 1, d),
        stability=np.full(d, 0.9 if n_resamples else np.nan),
        n_resamples=n_resamples,
        score=0.9,
        works=True,
        measure="accuracy",
        sets=sets,
    )
