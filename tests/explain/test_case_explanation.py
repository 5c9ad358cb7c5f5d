import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

import whynear as wn
from tests.helpers.measured_tables import houses, model_of_houses
from whynear.explain.case_explanation import values_of_cases, with_caution, write_figure
from whynear.model.pipeline import FittedPipeline
from whynear.model.unusual import UnusualValue
from whynear.study.methods import remember_rows


def test_a_reason_without_unusual_values_stands_alone():
    assert with_caution("predicted 3", ()) == "predicted 3"


def test_three_unusual_values_are_named_and_the_others_counted():
    values = [UnusualValue(name, "filled_in") for name in "abcde"]
    assert with_caution("predicted 3", values) == (
        "predicted 3. Caution, it rests on 'a', which is missing and on 'b', which is missing and on 'c', which is "
        "missing and on 2 more"
    )


@pytest.mark.parametrize(("name", "start"), [("a.svg", b"<?xml"), ("a.PNG", b"\x89PNG"), ("a.pdf", b"%PDF")])
def test_the_extension_sets_the_format(tmp_path, name, start):
    X, y = load_iris(return_X_y=True, as_frame=True)
    write_figure(wn.explain(wn.GRLVQ(random_state=0).fit(X, y), X.iloc[[0]]), tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)


def test_cases_have_the_units_of_the_table_and_the_gaps_of_their_rows():
    X, _ = houses()
    model = FittedPipeline.of(model_of_houses())
    numbers = np.array([2, 3])
    filled = values_of_cases(model, model.learner.cases_, numbers)
    assert_allclose(filled, model.numbers(X).iloc[numbers], atol=1e-9)
    remember_rows(model.model, X)
    known = values_of_cases(model, model.learner.cases_, numbers)
    assert np.isnan(known).tolist() == [[False] * 6, [False, True, False, False, False, False]]
