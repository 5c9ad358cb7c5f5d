"""Held-out rows with a copy among the rows they were predicted from."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import whynear as wn
from tests.helpers.studies import of_patients, rows_of_two_classes
from whynear.data.rows import TimeOrder
from whynear.study.comparison import compare
from whynear.study.feature_findings import caveats_of_copies, copies_across_folds
from whynear.study.methods import Methods

NOISE = np.random.default_rng(0).standard_normal((60, 2))


@pytest.fixture(scope="module")
def twice():
    """Rows without a pattern, of which forty stand twice: their copies are predicted right, the others by chance."""
    rows = rows_of_two_classes(60, a=NOISE[:, 0], b=NOISE[:, 1])
    return pd.concat([rows, rows[:40]], ignore_index=True)


def compared(table, **settings):
    X, y = table[["a", "b"]], table["y"].to_numpy()
    return X, compare(X, y, ["lmnn"], Methods(0), n_folds=5, report=lambda *_: None, **settings)


def test_only_copies_in_other_folds_count(twice):
    X, comparison = compared(twice)
    fold = comparison.predictions["fold"]
    pairs = [(row, row + 60) for row in range(40) if fold[row] != fold[row + 60]]
    assert np.flatnonzero(copies_across_folds(X, fold)).tolist() == sorted(sum(pairs, ()))


def test_the_score_without_copies_is_said(twice):
    X, comparison = compared(twice)
    copied = copies_across_folds(X, comparison.predictions["fold"])
    (said,) = caveats_of_copies(X, comparison)
    assert said.startswith(f"{copied.sum()} held-out rows have a copy among the rows they were predicted from; of the")
    right = 1 - comparison.wrong[~copied].mean()
    assert f"of the others, {right:.1%} ± " in said
    assert said.endswith("are predicted right.")
    assert right < comparison.expected - 0.1


def test_the_score_without_copies_counts_rows_by_their_weights(twice):
    X, comparison = compared(twice)
    copied = copies_across_folds(X, comparison.predictions["fold"])
    weights = pd.Series(np.random.default_rng(0).uniform(0.1, 3.0, 100))
    (said,) = caveats_of_copies(X, replace(comparison, weights=weights))
    assert f"of the others, {np.average(~comparison.wrong[~copied], weights=weights[~copied]):.1%} ± " in said
    (said,) = caveats_of_copies(X, replace(comparison, weights=pd.Series(1.0 * copied)))
    assert said == f"{copied.sum()} held-out rows have a copy among the rows they were predicted from."


def test_copies_that_are_held_out_together_are_no_caveat(twice):
    groups = pd.Series(twice.index % 60, name="patient")
    assert caveats_of_copies(*compared(twice, groups=groups)) == []


def test_copies_of_measured_rows_are_said_too():
    X, y = pd.DataFrame(np.vstack([NOISE, NOISE[:20]]), columns=["a", "b"]), np.tile(NOISE[:, 0], 2)[:80]
    settings = {"n_folds": 5, "effective_dim": None, "report": lambda *_: None}
    (said,) = caveats_of_copies(X, compare(X, y, (), Methods(0), **settings))
    assert said.endswith("of the variance is explained.")


def test_a_table_of_copies_says_nothing_about_new_rows():
    rows = rows_of_two_classes(20, a=NOISE[:20, 0], b=NOISE[:20, 1])
    X, comparison = compared(pd.concat([rows] * 6, ignore_index=True))
    assert caveats_of_copies(X, comparison) == [
        "Every held-out row has a copy among the rows it was predicted from: nothing here says how well new rows are "
        "predicted."
    ]


def test_a_study_says_it():
    table = of_patients(20, 2)
    table = pd.concat([table, table[:6]], ignore_index=True).drop(columns="patient")
    study = wn.study(table, "y", learner="grlvq", splitting=wn.Splitting(folds=3))
    (said,) = (caveat for caveat in study.caveats if "a copy among the rows" in caveat)
    assert said == caveats_of_copies(study.problem.X, study.comparison)[0]


def test_one_row_with_a_copy_is_one_row():
    rows = rows_of_two_classes(60, a=NOISE[:, 0], b=NOISE[:, 1])
    rows.loc[59, ["a", "b"]] = rows.loc[0, ["a", "b"]]
    X, comparison = compared(rows, groups=TimeOrder(np.arange(60.0), "day"))
    (said,) = caveats_of_copies(X, comparison)
    assert said.startswith("1 held-out row has a copy among the rows it was predicted from; of the others, ")
