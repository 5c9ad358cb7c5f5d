import numpy as np
from numpy.testing import assert_allclose

from tests.helpers.measured_tables import houses, model_of_houses
from whynear.explain.training_values import values_of_cases
from whynear.metric.pipeline import FittedPipeline
from whynear.study.training_rows import remember_rows


def test_cases_have_the_units_of_the_table_and_the_gaps_of_their_rows():
    X, _ = houses()
    model = FittedPipeline.of(model_of_houses())
    numbers = np.array([2, 3])
    filled = values_of_cases(model, model.learner.cases_, numbers)
    assert_allclose(filled, model.numbers(X).iloc[numbers], atol=1e-9)
    remember_rows(model.model, X)
    known = values_of_cases(model, model.learner.cases_, numbers)
    assert np.isnan(known).tolist() == [[False] * 6, [False, True, False, False, False, False]]
