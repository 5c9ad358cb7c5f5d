"""Explanations stated in the columns of the table, where an encoder made several columns of one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from whynear.explain.explanation import Explanation, NearCase
from whynear.metric.encoder import Summing


def summed_by_column(why: Explanation, row: pd.DataFrame, encoder: Summing) -> Explanation:
    """Return the explanation with the parts of each column of the table summed; ``row`` is the case before encoding."""
    features = pd.Index(encoder.feature_names_in_, name="feature")

    def summed(values: pd.Series[float]) -> pd.Series[float]:
        return pd.Series(encoder.sums(values), features, name=values.name)

    def near(case: NearCase) -> NearCase:
        values = pd.Series(encoder.decoded(case.values), features, name="value", dtype=object)
        return replace(case, values=values, contributions=summed(case.contributions))

    gap = why.held_off_by
    if len(gap):
        gap = summed(gap.loc[why.values.index]).sort_values(ascending=False, kind="stable")
    return replace(
        why,
        values=pd.Series(shown_values(row), features, name="value", dtype=object),
        neighbor_values=pd.DataFrame(
            [encoder.decoded(values) for values in why.neighbor_values.to_numpy()],
            why.neighbor_values.index,
            features,
            dtype=object,
        ),
        contributions=pd.DataFrame(encoder.sums(why.contributions), why.contributions.index, features),
        relevances=summed(why.relevances),
        nearest=near(why.nearest),
        nearest_other=None if why.nearest_other is None else near(why.nearest_other),
        held_off_by=gap,
    )


def shown_values(row: pd.DataFrame) -> list[Any]:
    """Return the values of a case, None for missing ones; a value of another kind, such as a list, stays."""
    return [None if pd.api.types.is_scalar(value) and pd.isna(value) else value for value in row.iloc[0]]
