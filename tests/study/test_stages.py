"""What the stages of a study do with the rows of its problem."""

import numpy as np
import pandas as pd
import pytest

import whynear as wn
from whynear.study import stages


def test_a_long_table_is_sampled_and_says_so(monkeypatch):
    monkeypatch.setattr(stages, "COMPARED_ROWS", 100)
    y = np.arange(5000) % 2
    study = wn.study(
        pd.DataFrame({"a": y + np.random.default_rng(0).random(5000), "y": y}),
        "y",
        learner="grlvq",
        splitting=wn.Splitting(folds=2),
    )
    assert any("Of 5,000 rows, a random 100 were used" in caveat for caveat in study.caveats)


def test_one_row_more_than_can_be_compared_is_no_difficulty(monkeypatch):
    monkeypatch.setattr(stages, "COMPARED_ROWS", 60)
    table = pd.DataFrame({"a": np.random.default_rng(0).random(61), "y": np.arange(61) % 2})
    study = wn.study(table, "y", learner="grlvq", splitting=wn.Splitting(folds=2))
    assert any("Of 61 rows, a random 60" in caveat for caveat in study.caveats)


def test_more_classes_than_can_be_compared_are_refused(monkeypatch):
    monkeypatch.setattr(stages, "COMPARED_ROWS", 60)
    table = pd.DataFrame({"a": np.arange(62) / 3, "y": [f"c{i % 31}" for i in range(62)]})
    with pytest.raises(ValueError, match=r"'y' has 31 classes, too many .* the 60 rows that are compared. Merge"):
        wn.study(table, "y")


def test_the_time_left_is_said_for_each_learner_and_the_share_only_grows():
    said, shares = [], []
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.random(60), "b": rng.random(60), "y": np.arange(60) % 2})

    def report(step, share):
        said.append(step)
        shares.append(share)

    wn.study(table, "y", learner="gmlvq", splitting=wn.Splitting(folds=2), progress=report)
    fits = [step for step in said if "left for this step" in step]
    assert [step.partition(", about")[0] for step in fits] == [
        f"compare learners, fold {fold} of 2: {method}"
        for fold in (1, 2)
        for method in ("NCA with kNN", "GMLVQ", "plain kNN")  # the longest first
    ]
    assert shares == sorted(shares)
