import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import whynear as wn
from tests.helpers.studies import houses_study, small_study
from whynear.study.maps import maps_of


def test_classes_are_placed_by_the_learned_metric():
    study = small_study()
    maps = maps_of(study.problem, study.model, 0)
    assert_allclose(maps["after"], wn.embed(study.model, study.problem.X, random_state=0))
    assert_allclose(maps["before"], wn.embed(study.model, study.problem.X, method="pca"))


def test_numbers_are_placed_by_their_predictions_and_by_what_differs_among_equal_ones():
    study = houses_study()
    across, up = study.maps["after"].T
    assert_allclose(across, study.model.predict(study.problem.X))
    added = np.array([why.contributions for why in wn.explain(study.model, study.problem.X)])
    alike = added - added.mean(axis=1, keepdims=True)
    assert np.square(up).sum() == pytest.approx(np.linalg.norm(alike - alike.mean(axis=0), 2) ** 2)


def test_a_single_column_is_a_line():
    X = pd.DataFrame({"a": np.arange(30.0)})
    study = wn.study(X.assign(y=X["a"] * 2 + np.sin(X["a"])), "y", splitting=wn.Splitting(folds=2))
    assert np.ptp(study.maps["after"], axis=0)[1] == 0
