"""The choice of a learner within a fold."""

import numpy as np
import pandas as pd
import pytest

from whynear.study import comparison
from whynear.study.comparison import FoldAnswers, parts_within, simplest_of_the_best
from whynear.study.fits import Answer, FitRows
from whynear.study.folds import Fold
from whynear.study.methods import Methods

NAMES = ("grlvq", "gmlvq")


def fold_of(y):
    X = pd.DataFrame({"x": np.arange(len(y), dtype=float)})
    return Fold(1, X, y, np.arange(len(y))[: len(y) // 2 * 2 - 4], np.arange(len(y))[-4:])


def test_parts_within_a_fold_divide_its_training_rows():
    fold = fold_of(np.array(["u", "v"] * 20))
    parts = parts_within(fold, NAMES, 0)
    assert len(parts) == 3
    assert sorted(np.concatenate([part.test for part in parts])) == list(fold.train)
    for part in parts:
        assert (part.fold, part.names, part.within) == (1, NAMES, True)
        assert not set(part.train) & set(part.test)
        assert not {*part.train, *part.test} & set(fold.test)


def test_of_many_rows_a_sample_is_divided(monkeypatch):
    monkeypatch.setattr(comparison, "INNER_ROWS", 12)
    parts = parts_within(fold_of(np.array(["u", "v"] * 20)), NAMES, 0)
    assert sum(len(part.test) for part in parts) == 12


def test_where_every_class_has_one_row_nothing_is_chosen():
    assert parts_within(fold_of(np.array(list("abcdefgh"))), NAMES, 0) == []


@pytest.mark.parametrize(("good", "chosen"), [("grlvq", "grlvq"), ("gmlvq", "gmlvq")])
def test_the_learner_that_is_right_within_the_fold_is_chosen_and_the_models_of_others_are_dropped(good, chosen):
    y = np.array(["u", "v"] * 20)
    fold = fold_of(y)
    within = parts_within(fold, NAMES, 0)
    outer = FitRows(1, fold.train, fold.test, NAMES)
    found = FoldAnswers(fold, NAMES, "accuracy", np.unique(y), [outer, *within])
    models = {name: Methods(0).fitted(name, *fold.known) for name in NAMES}
    for part in (outer, *within):
        for name in NAMES:
            predicted = y[part.test] if name == good else np.full(len(part.test), "u")
            found.add(Answer(part, name, predicted, None, None, None if part.within else models[name]))
    assert found.chosen == chosen
    assert found.model is models[chosen]
    assert found.scores == {name: 1.0 if name == good else 0.5 for name in NAMES}
    assert found.shares.shape == (4, 2)
    assert all(answer.model is None for answer in found.answers.values())


def test_the_first_column_within_a_standard_error_of_the_best_is_chosen():
    best = [0.8, 0.9, 1.0]  # mean 0.9, standard error 0.058
    assert simplest_of_the_best(pd.DataFrame({"simple": [0.85] * 3, "complex": best})) == "simple"
    assert simplest_of_the_best(pd.DataFrame({"simple": [0.84] * 3, "complex": best})) == "complex"
    assert simplest_of_the_best(pd.DataFrame({"simple": [0.84], "complex": [0.85]})) == "complex"
