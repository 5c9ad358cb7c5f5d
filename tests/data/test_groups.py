"""The column that says which rows belong together."""

import numpy as np
import pandas as pd
import pytest

from tests.helpers.problems import problem_of


@pytest.fixture
def visits(frame):
    """Sixty visits of twenty patients, each patient with visits of both kinds."""
    return frame.assign(patient=np.repeat([f"P{number}" for number in range(15)], 4))


def test_the_column_of_groups_is_no_feature_and_goes_along(visits):
    problem = problem_of(visits, "kind", group="patient")
    assert list(problem.X) == ["a", "b"]
    assert problem.groups.name == "patient"
    assert problem.groups.tolist() == np.repeat(np.arange(15), 4).tolist()
    assert problem.groups.index.equals(problem.X.index)
    assert problem_of(visits, "kind", drop="patient").groups is None


def test_groups_may_be_dropped_columns_the_index_or_numbers(visits):
    numbers = np.repeat(np.arange(15), 4)
    for table, settings in (
        (visits, {"drop": "patient", "group": "patient"}),
        (visits, {"index": "patient", "group": "patient"}),
        (visits.set_index("patient"), {"group": "patient"}),
        (visits.assign(patient=numbers), {"group": "patient"}),
        (
            visits.assign(patient=[f" P{number}" if row % 2 else f"P{number} " for row, number in enumerate(numbers)]),
            {"group": "patient"},
        ),
    ):
        problem = problem_of(table, "kind", **settings)
        assert list(problem.X) == ["a", "b"]
        assert problem.groups.tolist() == numbers.tolist()


def test_rows_that_are_left_out_leave_their_groups_too(visits):
    table = visits.assign(kind=["rare", *visits["kind"][1:]])
    problem = problem_of(table, "kind", group="patient")
    assert len(problem.groups) == len(problem.y) == 59


def test_a_class_of_a_single_group_is_left_out_and_said(visits):
    table = visits.assign(kind=["rare", "rare", *visits["kind"][2:]])
    problem = problem_of(table, "kind", group="patient")
    assert set(problem.y) == {"u", "v"}
    assert len(problem.groups) == len(problem.X) == 58
    caveat = "Classes within a single 'patient' cannot be held out together with it and were left out: 'rare'."
    assert caveat in problem.caveats


@pytest.mark.parametrize(
    ("change", "group", "message"),
    [
        ({}, "pateint", "has no column 'pateint'. Did you mean 'patient'?"),
        ({}, "kind", r"column 'kind' is the target, and cannot .* Choose another column \(--group\)"),
        ({"patient": "P1"}, "patient", r"column 'patient' holds the single group 'P1'; at least two .* \(--group\)"),
        (
            {"patient": ["", None, *["P1", "P2"] * 29]},
            "patient",
            r"names no group in 2 rows \(first: row 1\). Fill in what is missing, or",
        ),
        (
            {"patient": ["P1", "P2"] * 30},
            "patient",
            r"every row of 2 classes \('u', 'v'\) has the same 'patient'; .* Choose another column \(--group\), or add",
        ),
    ],
)
def test_groups_that_cannot_be_held_out_are_refused(visits, change, group, message):
    with pytest.raises(ValueError, match=message):
        problem_of(visits.assign(**change), "kind", group=group)


def test_numbers_need_two_groups_only():
    table = pd.DataFrame({"a": np.arange(60.0), "y": np.linspace(0, 1, 60) ** 2, "site": np.repeat(["N", "S"], 30)})
    assert problem_of(table, "y", group="site").groups.nunique() == 2
