from typing import get_args

import pandas as pd
import pytest

from whynear.data.column_types import features_of
from whynear.data.settings import Categories, Impute

TABLE = pd.DataFrame({"size": [1.0, None, 3.0], "colour": ["red", "blue", "red"]})


@pytest.mark.parametrize(
    "choice",
    [*({"categories": one} for one in get_args(Categories)), *({"impute": one} for one in get_args(Impute))],
    ids=str,
)
def test_every_choice_is_one_of_tables_and_no_other_is(choice):
    assert list(features_of(TABLE, "t", **{"categories": "auto", "impute": "auto", **choice}).X) == ["size", "colour"]
    (name,) = choice
    with pytest.raises(ValueError, match=f"{name} must be one of None, auto"):
        features_of(TABLE, "t", **{name: "other"})
