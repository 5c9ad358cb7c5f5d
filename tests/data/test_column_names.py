import pandas as pd
import pytest

from whynear.data.problem import checked_target
from whynear.data.reading import NamedTable
from whynear.data.settings import Reading

TABLE = NamedTable("t.csv", pd.DataFrame(columns=["age", "day", "kind"]))


def test_the_target_is_a_column_or_known_to_the_table():
    assert checked_target(TABLE, "kind", ["age"], Reading(date=("day=%d/%m/%Y",))) == "kind"
    assert checked_target(NamedTable("iris", TABLE.frame, target="age"), None, [], Reading()) == "age"


@pytest.mark.parametrize(
    ("target", "others", "read_as", "message"),
    [
        (None, [], Reading(), r"t.csv needs a target: name the column to predict \(--target COLUMN\). Its columns are"),
        ("kid", [], Reading(), "has no column 'kid'. Did you mean 'kind'. Its columns are 'age', 'day', 'kind'."),
        ("kind", ["size"], Reading(), "has no column 'size'. Its columns"),
        ("kind", [], Reading(number=("dose",)), "has no column 'dose'"),
        ("kind", [], Reading(date=("dat=%Y",)), "has no column 'dat'. Did you mean 'day'"),
    ],
)
def test_other_names_are_refused_with_the_nearest(target, others, read_as, message):
    with pytest.raises(ValueError, match=message):
        checked_target(TABLE, target, others, read_as)
