from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from whynear.data.cells import as_text, holds_strings, is_code, missing_signs, spelling


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([1, 2], ["1", "2"]),
        ([1.0, np.nan], ["1", None]),
        ([1.5, 2.0], ["1.5", "2"]),
        ([" a", "b "], ["a", "b"]),
        ([True, False], ["True", "False"]),
        ([True, None], ["True", None]),
        ([9007199254740993, -9007199254740992], ["9007199254740993", "-9007199254740992"]),
        ([1.0, "x", 0.1 + 0.2], ["1", "x", "0.30000000000000004"]),
        ([Decimal("1.50"), np.inf], ["1.5", "inf"]),
        (pd.Categorical([3, 4]), ["3", "4"]),
    ],
)
def test_values_as_text(values, texts):
    found = as_text(pd.Series(values))
    assert [None if pd.isna(value) else value for value in found] == texts


@pytest.mark.parametrize(
    ("values", "codes", "where"),
    [
        (["?", " ? ", "a"], ("?",), [True, True, False]),
        ([-999.0, 1.0], ("-999",), [True, False]),
        ([np.inf, 1.0], ("inf", "?"), [True, False]),
        (pd.Series(["?", 5, -999], dtype=object), ("?", "-999"), [True, False, False]),
        ([1.0, 2.0], (), [False, False]),
    ],
)
def test_codes_are_found_as_texts_and_as_numbers(values, codes, where):
    assert is_code(pd.Series(values), codes).tolist() == where


def test_signs_for_missing_values_are_none_among_other_signs():
    assert missing_signs(pd.Series(["?", "5", " - "])) == ("-", "?")
    assert missing_signs(pd.Series(["+", "-"])) == ()
    assert missing_signs(pd.Series(["-", "-"])) == ("-",)
    assert missing_signs(pd.Series(["y", "n"])) == ()
    assert missing_signs(pd.Series(["1", "n/a", " "])) == ("", "n/a")


def test_what_a_column_and_a_value_are():
    assert holds_strings(pd.Series(["a", None]))
    assert not holds_strings(pd.Series([1.0]))
    assert not holds_strings(pd.Series(pd.Categorical(["a"])))
    assert [spelling(value) for value in (" ? ", -999.0, 0.5)] == ["?", "-999", "0.5"]


def test_whole_numbers_that_no_float_holds_are_spelled():
    assert spelling(10**310) == "1" + "0" * 310
