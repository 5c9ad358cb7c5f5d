"""Rows that stand in a table more than once, through the command line."""

import pandas as pd
import pytest

from tests.helpers.fault_tables import answer, cases, studied

pytestmark = pytest.mark.usefixtures("figures")

CONTRADICTED = "4 rows share all features with a row of another class: no metric can separate them."


@pytest.mark.slow
def test_duplicate_rows_are_studied_and_counted(tmp_path):
    result = studied(tmp_path, pd.concat([cases(), cases().head(6)]))
    assert result.relevance.loc["size", "verdict"] == "indispensable"
    assert "6 rows repeat the features of an earlier row, which makes held-out results optimistic." in result.caveats


@pytest.mark.slow
def test_duplicate_rows_with_different_labels_are_studied_and_counted(tmp_path):
    result = studied(tmp_path, pd.concat([cases(), cases().head(2).assign(y=["v", "u"])]))
    assert result.relevance.loc["size", "verdict"] in ("indispensable", "undecided")
    assert CONTRADICTED in result.caveats


@pytest.fixture(scope="module")
def at_distance_zero(tmp_path_factory, figures):
    """A study by nearest cases of rows that stand twice; the first stands twice under either label."""
    rows = cases(8)
    table = pd.concat([rows, rows, rows.head(1).assign(y="v"), rows.head(1).assign(y="v")])
    return studied(tmp_path_factory.mktemp("twice"), table, "--learner", "lann")


def test_cases_at_distance_zero_share_the_vote(at_distance_zero):
    table = at_distance_zero.folder.parent / "cases.csv"
    predicted = answer("predict", at_distance_zero.model, table)["predictions"]
    assert [row["probability"] for row in predicted] == [0.5, *[1] * 7, 0.5, *[1] * 7, 0.5, 0.5]
    votes = [
        case["vote"]
        for case in answer("explain", at_distance_zero.model, table, "--row", 1)["neighbors"]
        if case["distance"] == 0
    ]
    assert len(votes) == 4
    assert len(set(votes)) == 1
    assert CONTRADICTED in at_distance_zero.caveats


def test_what_decides_is_not_irrelevant_where_every_case_has_its_own_map(at_distance_zero):
    assert at_distance_zero.relevance.loc["size", "upper"] > 0
