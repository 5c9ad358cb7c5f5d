import numpy as np
import pandas as pd

import whynear as wn
from tests.helpers.measured_tables import houses
from whynear.study.voters import MOST_FEATURES, MOST_VOTERS, near_rows_of, voters_of


def test_the_rows_that_vote_are_listed_with_their_values():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((40, 6)), columns=list("abcdef"), index=[f"p{row}" for row in range(40)])
    why = wn.explain(wn.LMNN(n_neighbors=10).fit(X, np.where(X["c"] > 0, "up", "down")), X.iloc[5] + 0.1)
    found = voters_of(why)
    assert len(found.lines) == MOST_VOTERS
    assert len(found.features) == len(found.values) == MOST_FEATURES
    assert found.values == tuple(f"{X.loc['p5', name] + 0.1:.4g}" for name in found.features)
    name, label, distance, vote, *values = found.lines[0]
    assert (name, label) == (why.nearest.name, "up" if X.loc[name, "c"] > 0 else "down")
    assert (distance, vote) == (f"{why.nearest.distance:.3g}", f"{why.neighbors['vote'][0]:.3g}")
    assert values == [f"{X.loc[name, feature]:.4g}" for feature in found.features]
    assert found.parts == tuple(map(tuple, why.contributions[list(found.features)][:MOST_VOTERS].to_numpy()))


def test_the_rows_near_a_measured_target_are_listed_with_their_values():
    X, y = houses()
    why = wn.explain(wn.learn_table(X.assign(price=y), "price").model, X.loc[["h05"]])
    found = near_rows_of(why)
    assert len(found.lines) == len(why.neighbors)
    assert found.features == tuple(why.ranked.index)
    assert found.parts[1] == tuple(why.neighbor_contributions.iloc[1][list(found.features)])
    name, measured, _, distance, *values = found.lines[1]
    assert (measured, distance) == (f"{y[name]:.4g}", f"{why.neighbors['distance'][1]:.4g}")
    assert values[found.features.index("town")] == X.loc[name, "town"]


def test_categories_and_gaps_are_shown_as_they_are():
    table = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0] * 10, "colour": ["red", "red", "blue", "blue"] * 10})
    model = wn.learn_table(table.assign(y=table["colour"]), "y", learner="lmnn", categories="onehot", impute="median")
    found = voters_of(wn.explain(model.model, table.iloc[[2]].assign(size=None)))
    assert dict(zip(found.features, found.values, strict=True)) == {"size": "missing", "colour": "blue"}
    assert found.lines[0][4 + found.features.index("colour")] == "blue"
