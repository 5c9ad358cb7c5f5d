import numpy as np
import pandas as pd
import pytest

import whynear as wn
from whynear.data.caveats import caveats_of_codes
from whynear.study.settings import grouped

USUAL = [0.5, 1.5, 2.5, 3.0]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([*USUAL, -999, -999], 1),
        ([*USUAL, 9999, 9999, np.nan], 1),
        ([*USUAL, -9999999, -9999999], 1),
        ([*USUAL, 999999999.0, 999999999.0], 1),
        ([*USUAL, 99.9, 99.9], 0),
        ([*USUAL, -999], 0),  # once is a value
        ([*USUAL, -998, -998], 0),
        ([90.0, 95.0, 99.0, 99.0, 98.0], 0),
        ([np.nan, np.nan], 0),
        ([99.0, 99.0], 0),
    ],
)
def test_nines_far_from_all_others_are_named(values, said):
    assert len(caveats_of_codes(pd.DataFrame({"mass": values, "name": "-999"}))) == said


def test_a_code_is_named_with_all_its_digits():
    said = caveats_of_codes(pd.DataFrame({"mass": [*USUAL, -9999999, -9999999]}))[0]
    assert said.startswith("Column 'mass': 2 values are -9999999, far from all others")
    assert said.endswith("take it as one (--missing -9999999).")


def test_a_study_warns_of_them_and_takes_the_advice():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"mass": rng.standard_normal(60).round(2), "size": rng.standard_normal(60)})
    table["kind"] = np.where(table["size"] > 0, "a", "b")
    table.loc[::9, "mass"] = -999
    options = {"learner": "grlvq", "folds": 2, "random_state": 0}
    warned = "7 values are -999, far from all others"
    assert any(warned in caveat for caveat in wn.study(table, "kind", **grouped(options)).caveats)
    assert not any(
        warned in caveat for caveat in wn.study(table, "kind", **grouped({**options, "missing": "-999"})).caveats
    )
