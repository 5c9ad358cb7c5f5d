import numpy as np
import pytest
from sklearn.datasets import load_iris

import whynear as wn
from whynear.explain.explanation import explain_cases
from whynear.study import reasons, spread
from whynear.study.reasons import SHOWN_PARTS, reasons_of
from whynear.study.voters import voters_of


@pytest.fixture(scope="module")
def study():
    iris = load_iris(as_frame=True).frame[::3].reset_index(drop=True)
    return wn.study(iris, "target", learner="grlvq", folds=3)


def quiet(_step, _share):
    pass


def test_every_case_of_a_small_table_is_explained_by_a_model_without_it(study):
    assert [reason.place for reason in study.reasons] == list(range(50))
    for reason in study.reasons[::10]:
        why = wn.explain(study.comparison.model_without(reason.place).model, study.problem.X.iloc[[reason.place]])
        assert reason.text == repr(why)
        assert (reason.nearest.label, reason.other.label) == (why.nearest.label, why.nearest_other.label)
        assert len(reason.parts) == min(SHOWN_PARTS, 4)
        assert (reason.voters, reason.unusual) == (voters_of(why), why.unusual)
        for part in reason.parts:
            assert part.nearest == why.nearest.contributions[part.feature]
            assert part.other == why.nearest_other.contributions[part.feature]


def test_cases_explained_before_are_not_explained_again(study, monkeypatch):
    explained = []
    monkeypatch.setattr(
        reasons, "explain_cases", lambda model, rows: explained.extend(rows.index - 1) or explain_cases(model, rows)
    )
    found = reasons_of(study.problem.X, study.comparison, study.cases, quiet)
    assert found == study.reasons
    assert sorted([*explained, *(case.place for case in study.cases)]) == list(range(50))


def test_wrong_predictions_come_before_others_where_not_all_can_be_explained(study, monkeypatch):
    monkeypatch.setattr(spread, "MOST_EXPLAINED", 20)
    places = [reason.place for reason in reasons_of(study.problem.X, study.comparison, study.cases, quiet)]
    assert study.comparison.wrong.any()
    assert set(np.flatnonzero(study.comparison.wrong)[:10]) <= set(places)
    assert {case.place for case in study.cases} <= set(places)
    assert len(places) < 40
