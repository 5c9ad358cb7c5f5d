import re
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from tests.helpers.problems import problem_of
from whynear.tables.column_types import MOST_CATEGORIES, features_of


def as_objects(values):
    return pd.Series(values, dtype=object)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([*map(str, range(17)), "lost", *map(str, range(42))], "text, such as 'lost' in row 18"),
        (as_objects([*range(17), "lost", *range(42)]), "text, such as 'lost' in row 18"),
        (as_objects([None, *range(58), date(2020, 1, 1)]), "dates, such as '2020-01-01' in row 60"),
        ([pd.Timestamp("2020-01-01")] * 60, "dates, such as '2020-01-01 00:00:00' in row 1"),
        ([pd.Timedelta(1, "D")] * 60, "durations, such as '1 days 00:00:00' in row 1"),
        (pd.Categorical([3, 4] * 30), "categories, such as '3' in row 1"),
        ([1 + 2j] * 60, "complex numbers, such as '(1+2j)' in row 1"),
        (["007"] * 60, "numbers written as text, such as '007' in row 1"),
        (["5%", *map(str, range(59))], "numbers written in ways that contradict each other, such as '5%' in row 1"),
        (as_objects([[1]] * 60), "values of type list, such as '[1]' in row 1"),
    ],
)
def test_a_column_is_named_for_what_it_holds_with_the_value_and_row_in_the_way(frame, values, kind):
    with pytest.raises(ValueError, match=re.escape(f"'b' ({kind})")):
        problem_of(frame.assign(b=values), "kind")


@pytest.mark.parametrize("dtype", [object, "string"])
def test_numbers_written_as_text_are_taken_as_numbers_and_that_is_said(frame, dtype):
    written = pd.Series([f" {value:.3f}" for value in frame["b"]], dtype=dtype)
    problem = problem_of(frame.assign(b=written), "kind")
    assert_allclose(problem.X["b"], frame["b"], atol=1e-3)
    assert problem.encoder is None
    assert "Column 'b' holds numbers written as text: taken as numbers." in problem.caveats
    assert not any("written as text" in caveat for caveat in problem_of(frame, "kind").caveats)
    mixed = problem_of(frame.assign(b=as_objects([1, " 2 ", None, "-.5e1", *range(56)])), "kind", impute="median")
    assert mixed.X["b"].tolist()[:4] == pytest.approx([1.0, 2.0, np.nan, -5.0], nan_ok=True)
    assert problem_of(frame.assign(b=["1", "2"] * 30), "kind", categories="onehot").X["b"].tolist() == ["1", "2"] * 30


def test_decimal_commas_are_recognised(frame):
    text = frame["b"].map("{:.2f}".format).str.replace(".", ",")
    problem = problem_of(frame.assign(b=text), "kind")
    assert_allclose(problem.X["b"], frame["b"], atol=0.005)
    assert problem.caveats == ("Column 'b' is written with decimal commas: '0,40' in 'b' was taken as 0.4.",)
    assert problem.encoder.readings == {"b": "number ,"}
    with pytest.raises(ValueError, match=r"numbers that are not written plainly, such as '0,40'.* \(--number 'b'\)"):
        problem_of(frame.assign(b=text), "kind", strict=True)


@pytest.mark.parametrize("as_number", [float, Decimal, np.float32, Fraction])
def test_numbers_kept_as_objects_are_converted(frame, as_number):
    problem = problem_of(frame.assign(b=as_objects([as_number(i / 4) for i in range(60)])), "kind")
    assert problem.X["b"].tolist() == [i / 4 for i in range(60)]
    with pytest.raises(ValueError, match=r"infinity .*1 in column 'b'"):
        problem_of(frame.assign(b=as_objects([10**400, *range(59)])), "kind")


def test_an_encoder_is_made_only_where_it_is_needed(frame):
    numbers = frame[["a", "b"]]
    assert features_of(numbers, "t.csv", categories="auto", impute="auto").encoder is None
    found = features_of(frame, "t.csv", categories="onehot")
    assert (found.encoder.categories, found.encoder.impute, found.notes) == ("onehot", None, [])
    assert features_of(frame, "t.csv", categories="auto", impute="auto").encoder.impute is None
    gaps = numbers.where(numbers > 0.1)
    for impute, indicators in (("median", False), ("auto", True)):
        encoder = features_of(gaps, "t.csv", impute=impute).encoder
        assert (encoder.impute, encoder.indicators) == ("median", indicators)


def test_too_many_categories_are_refused():
    names = pd.DataFrame({"name": [f"n{i}" for i in range(MOST_CATEGORIES + 1)]})
    with pytest.raises(ValueError, match="column 'name' holds 51 different texts, such as 'n0': too many"):
        features_of(names, "t.csv", categories="onehot")
