import numpy as np
import pandas as pd

from whynear.data.caveats import filled_in, remarks_on, unchanging

Y = np.repeat(["u", "v"], 30)


def test_columns_that_say_nothing_are_named():
    X = pd.DataFrame({"a": range(60), "same": 1.0, "empty": np.nan, "once": [5.0, np.nan] * 30})
    assert unchanging(X) == [
        "Columns without any value carry no information: 'empty'.",
        "Columns that never change carry no information: 'same'.",
        "Columns with one value beside gaps carry no information, unless the gaps do: 'once'.",
    ]


def test_repeated_rows_are_counted():
    assert remarks_on(pd.DataFrame({"a": [*range(59), 0]}), Y) == [
        "1 row repeats the features of an earlier row, which makes held-out results optimistic.",
        "2 rows share all features with a row of another class: no metric can separate them.",
    ]


def test_filled_values_are_counted_and_informative_gaps_named():
    X = pd.DataFrame({"told": [np.nan] * 25 + [1.0, 2.0] * 17 + [1.0], "b": [np.nan, *range(59)]})
    counted, informative = filled_in(X, Y, "auto")
    assert counted.startswith("26 missing values were filled in by the median of the column")
    assert informative == (
        "Whether a value is missing depends on the target in column 'told': the column has an indicator of it; "
        "--impute median leaves it out."
    )
    assert counted.endswith(
        "in 2 columns, the most (25) in 'told'; the model does the same when it predicts; --strict refuses them."
    )
    assert len(filled_in(X, Y, "median")) == 1
    assert filled_in(X, Y, None) == []


def test_filled_categories_are_named_with_the_one_that_fills_them():
    X = pd.DataFrame({"sex": [None, "m", None, "f", "m", *["m", "f"] * 27, "m"], "a": [np.nan, *range(59)]})
    numbers, categories = filled_in(X, Y, "median")
    assert numbers == (
        "1 missing value was filled in by the median of the column, in column 'a'; the model does the same when it "
        "predicts."
    )
    assert categories == (
        "2 missing categories were filled in by the most frequent one of the column, 2 by 'm' in 'sex'; the model does "
        "the same when it predicts."
    )
    assert filled_in(X[["sex"]], Y, "median") == [categories]
