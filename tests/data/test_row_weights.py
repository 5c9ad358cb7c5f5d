"""The column with the weights of the rows."""

import re

import numpy as np
import pytest

from tests.helpers.problems import problem_of
from whynear.data.problem import problem_from
from whynear.data.settings import Reading, Splitting
from whynear.datasets import open_table


@pytest.fixture
def weighted(frame):
    return frame.assign(size=np.arange(60) % 4)


def test_the_column_of_weights_is_no_feature_and_goes_along(weighted):
    problem = problem_of(weighted, "kind", weight="size")
    assert list(problem.X) == ["a", "b"]
    assert problem.weights.name == "size"
    assert problem.weights.tolist() == (np.arange(60) % 4).tolist()
    assert problem.rows(np.array([3, 2])).weights.tolist() == [3, 2]
    assert problem_of(weighted, "kind", drop="size").weights is None


def test_weights_may_be_text_the_index_or_the_times_too(weighted):
    for table, settings in (
        (weighted.assign(size=weighted["size"].astype(str)), {}),
        (weighted.set_index("size"), {}),
        (weighted, {"time": "size"}),
        (weighted, {"drop": "size"}),
    ):
        problem = problem_of(table, "kind", weight="size", **settings)
        assert problem.weights.tolist() == weighted["size"].tolist()
        assert list(problem.X) == ["a", "b"]


def test_weights_and_times_are_read_as_the_table_is_written(tmp_path, weighted):
    """The column a shows that 1.250 is more than a thousand."""
    sizes = np.where(np.arange(60) % 2, 500, 1250) + np.arange(60)
    texts = {
        "a": weighted["a"].map("{:.2f}".format).str.replace(".", ","),
        "size": [f"{n:,}".replace(",", ".") for n in sizes],
    }
    weighted.assign(**texts).to_csv(tmp_path / "t.csv", sep=";", index=False)
    halves = weighted.assign(size=[f"{n},5" for n in sizes], a=texts["a"])
    for table, expected in ((open_table(tmp_path / "t.csv"), sizes), (open_table(halves), sizes + 0.5)):
        assert problem_from(table, "kind", reading=Reading(weight="size")).weights.tolist() == expected.tolist()
        assert problem_from(table, "kind", splitting=Splitting(time="size")).times.tolist() == expected.tolist()
    with pytest.raises(ValueError, match="column 'size' holds '<5' in row 1; a weight must be a finite number"):
        problem_of(weighted.assign(size=["<5", *["7"] * 59]), "kind", weight="size")


def test_rows_that_are_left_out_leave_their_weights_too(weighted):
    problem = problem_of(weighted.assign(kind=["rare", *weighted["kind"][1:]]), "kind", weight="size")
    assert len(problem.weights) == len(problem.y) == 59


@pytest.mark.parametrize(
    ("value", "weight", "message"),
    [
        (None, "sise", "has no column 'sise'. Did you mean 'size'?"),
        (None, "kind", "column 'kind' is the target, and cannot hold weights too. Choose another column (--weight)."),
        (-2, "size", "column 'size' holds '-2.0' in row 8; a weight must be a finite number, and not negative."),
        (np.nan, "size", "column 'size' holds no value in row 8; a weight must be a finite number"),
        (np.inf, "size", "column 'size' holds 'inf' in row 8; a weight must be a finite number"),
        ("much", "size", "column 'size' holds 'much' in row 8; a weight must be a finite number"),
    ],
)
def test_what_is_no_weight_is_refused_by_row_and_value(weighted, value, weight, message):
    if value is not None:
        size = weighted["size"].astype(object if isinstance(value, str) else float)
        size.iloc[7] = value
        weighted = weighted.assign(size=size)
    with pytest.raises(ValueError, match=re.escape(message)):
        problem_of(weighted, "kind", weight=weight)


def test_weights_of_zero_alone_are_refused(weighted):
    with pytest.raises(ValueError, match="column 'size' holds no weight above zero, so that no row counts"):
        problem_of(weighted.assign(size=0), "kind", weight="size")
