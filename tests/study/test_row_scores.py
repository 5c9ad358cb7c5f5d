"""What each held-out row adds to a score, and the error of a difference of two scores."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import whynear as wn
from tests.helpers.studies import iris_study, numeric_study, small_study
from whynear.study.comparison import RowScores, error_of_difference, row_scores

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("study", [small_study, numeric_study])
def test_the_mean_of_the_parts_is_the_score_also_when_it_was_written(study):
    held = row_scores(study().comparison)
    assert held.parts.mean() == pytest.approx(study().comparison.expected)
    assert RowScores.from_dict(json.loads(json.dumps(study().to_dict()["row_scores"]))) == held


def test_studies_of_the_same_rows_are_compared_by_rows_whatever_their_folds_and_columns():
    names = (iris_study().comparison, small_study().comparison)
    first, second = map(row_scores, names)
    assert first.rows != second.rows  # the classes of one are numbers, those of the other names
    same = error_of_difference(first, replace(second, rows=first.rows))
    assert same == pytest.approx(np.std(second.parts - first.parts, ddof=1) / np.sqrt(150))


def test_the_error_is_that_of_drawing_the_rows_again():
    parts = RNG.integers(0, 2, 300) * 1.0
    other = np.where(RNG.random(300) < 0.1, 1 - parts, parts)
    first, second = (RowScores("these", held) for held in (parts, other))
    drawn = RNG.integers(300, size=(4_000, 300))
    gaps = other[drawn].mean(axis=1) - parts[drawn].mean(axis=1)
    assert error_of_difference(first, second) == pytest.approx(gaps.std(), rel=0.05)


def test_rows_of_a_group_are_not_independent_and_one_group_says_nothing():
    parts, other = np.repeat([1.0, 0.0, 1.0, 0.0], 5), np.repeat([1.0, 1.0, 1.0, 0.0], 5)
    first, second = RowScores("these", parts, np.repeat(np.arange(4), 5)), RowScores("these", other)
    for one, two in ((first, second), (second, first)):
        assert error_of_difference(one, two) == pytest.approx(0.25)
    assert error_of_difference(replace(first, groups=np.zeros(20, dtype=int)), second) is None


def test_other_rows_and_older_files_have_no_error_of_rows():
    one = RowScores("these", np.ones(4))
    for other in (RowScores("others", np.ones(4)), RowScores("these", np.ones(3)), None):
        assert error_of_difference(one, other) is None


@pytest.mark.parametrize(
    "held", [{"parts": [1.0, 0.0], "groups": [0]}, {"parts": [[1.0]], "groups": None}, {"parts": ["x"], "groups": None}]
)
def test_parts_that_do_not_fit_together_are_refused(held):
    with pytest.raises(ValueError, match=r"row_scores has no part|could not convert"):
        RowScores.from_dict({"rows": "these", **held})


def test_an_undefined_score_has_no_parts():
    assert RowScores.from_dict({"rows": "these", "parts": [None, None], "groups": None}) is None


def test_weighted_rows_and_groups_are_those_that_count():
    X = pd.DataFrame(RNG.standard_normal((60, 2)), columns=["a", "b"])
    table = X.assign(y=np.where(X["a"] > 0, "u", "v"), w=np.arange(60) % 3, who=np.arange(60) // 2)
    study = wn.study(
        table, "y", learner="grlvq", splitting=wn.Splitting(folds=2, group="who"), reading=wn.Reading(weight="w")
    )
    held = row_scores(study.comparison)
    assert (len(held.parts), len(held.groups), len(np.unique(held.groups))) == (40, 40, 30)
    assert held.parts.mean() == pytest.approx(study.comparison.expected)
