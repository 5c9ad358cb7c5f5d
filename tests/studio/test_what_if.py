from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import whynear as wn
from tests.helpers.dated_tables import numbers_like_days, visits
from whynear.data.cells import is_dated
from whynear.model.pipeline import FittedPipeline
from whynear.studio.live import Live, case_of, smallest_flips, what_if
from whynear.studio.models import CaseQuery, FlipQuery
from whynear.studio.store import NotFound, Refused
from whynear.study.settings import StudySettings


def test_a_row_is_explained_as_the_library_explains_it(live, iris):
    X, y = iris
    for row in (1, 71, 120):
        answer, why = what_if(live, CaseQuery(row=row)), wn.explain(live.model, X.iloc[row - 1])
        assert answer.prediction == why.prediction
        assert answer.true == y[row - 1]
        assert answer.probabilities == pytest.approx(why.probabilities.to_dict())
        assert [one.label for one in answer.neighbors] == why.neighbors["label"].tolist()
        for one, sq in zip(answer.neighbors, why.neighbors["sq_distance"], strict=True):
            assert sum(one.contributions.values()) == pytest.approx(sq)


def test_prototypes_are_shown_with_the_values_of_the_row_nearest_to_them(live, iris):
    for near in what_if(live, CaseQuery(row=71)).neighbors:
        assert near.kind == "prototype"
        assert near.values == iris[0].iloc[near.nearest_row - 1].to_dict()


def test_changed_values_are_those_of_the_changed_row(live, iris):
    changed = iris[0].iloc[0].copy()
    changed["petal width (cm)"] = 2.5
    answer = what_if(live, CaseQuery(row=1, values={"petal width (cm)": 2.5}))
    assert answer.prediction == wn.explain(live.model, changed).prediction
    assert answer.values == changed.to_dict()


def test_without_a_row_values_are_the_usual_ones(live, iris):
    assert what_if(live, CaseQuery()).values == pytest.approx(iris[0].median().to_dict())


def test_unusual_values_are_flagged(live):
    answer = what_if(live, CaseQuery(row=1, values={"petal length (cm)": 99.0}))
    assert [(one.column, one.kind) for one in answer.unusual] == [("petal length (cm)", "out_of_range")]
    assert "99" in answer.unusual[0].text


def test_a_numeric_target_has_an_interval_and_contributions(measured_live):
    answer = what_if(measured_live, CaseQuery(row=1))
    X = measured_live.problem.X
    assert answer.prediction == pytest.approx(float(measured_live.model.predict(X.iloc[[0]])[0]))
    low, high = answer.interval
    assert low < answer.prediction < high
    mean = float(np.mean(measured_live.problem.y))
    assert mean + sum(answer.contributions.values()) == pytest.approx(answer.prediction)


def test_a_model_of_fewer_features_ignores_changes_of_the_others():
    values = np.random.default_rng(0).normal(size=20)
    rows = pd.DataFrame({"a": values, "colour": ["red", "blue"] * 10, "kind": ["x"] * 10 + ["y"] * 10})
    problem = wn.learn_table(rows, "kind", learner="grlvq").problem
    smaller = FittedPipeline.of(wn.learn_table(rows, "kind", learner="grlvq", reading=wn.Reading(drop="colour")).model)
    live = Live(Path(), "rows", "kind", StudySettings(), problem)
    case = case_of(live, CaseQuery(row=1, values={"colour": "blue", "a": 5}), smaller)
    assert case.to_dict("list") == {"a": [5.0]}


@pytest.mark.parametrize(
    ("query", "kind", "words"),
    [
        ({"row": 999}, NotFound, "no row"),
        ({"values": {"nothing": 1}}, Refused, "'nothing'"),
        ({"values": {"petal width (cm)": "wide"}}, Refused, "takes a number"),
    ],
)
def test_what_is_not_there_is_refused_by_name(live, query, kind, words):
    with pytest.raises(kind, match=words):
        what_if(live, CaseQuery(**query))


def test_dates_are_shown_and_taken_as_dates(dated_live):
    answer = what_if(dated_live, CaseQuery(row=4))
    day, month, year = visits()["visit"][3].split(".")
    assert answer.values["visit"] == f"{year}-{month}-{day}"
    assert answer.values["taken"] == visits()["taken"][3]
    asked = {"visit": "2032-05-06", "taken": "2022-05-06 07:08:09"}
    changed = what_if(dated_live, CaseQuery(row=4, values=asked))
    assert {name: changed.values[name] for name in asked} == asked
    said = next(one.text for one in changed.unusual if one.column == "visit")
    assert said.startswith("'visit' = 2032-05-06, outside the training range 2021-")
    raw = visits().iloc[[3]].drop(columns=["kind", "dose"]).assign(visit="06.05.2032", taken=asked["taken"])
    assert changed.probabilities == pytest.approx(wn.explain(dated_live.model, raw).probabilities.to_dict())
    usual = what_if(dated_live, CaseQuery())
    for text in (answer.model_dump_json(), changed.model_dump_json(), usual.model_dump_json()):
        assert numbers_like_days(text) == []


def test_days_since_1970_are_still_taken(dated_live):
    assert what_if(dated_live, CaseQuery(row=4, values={"visit": 19_118})).values["visit"] == "2022-05-06"


def test_what_is_no_date_is_refused(dated_live):
    with pytest.raises(Refused, match="'visit' takes a date such as 2022-03-04, got 'soon' instead"):
        what_if(dated_live, CaseQuery(row=4, values={"visit": "soon"}))


def test_the_changed_case_is_predicted_otherwise(live):
    found = smallest_flips(live, FlipQuery(row=71))
    assert found.prediction == what_if(live, CaseQuery(row=71)).prediction
    for flip in found.flips:
        values = {change.feature: change.after for change in flip.changes}
        assert what_if(live, CaseQuery(row=71, values=values)).prediction == flip.prediction != found.prediction


def test_only_the_named_features_change_and_the_named_class_is_reached(live):
    found = smallest_flips(live, FlipQuery(row=71, features=["petal width (cm)"], to="setosa"))
    for flip in found.flips:
        assert [change.feature for change in flip.changes] == ["petal width (cm)"]
        assert flip.prediction == "setosa"


def test_a_numeric_target_has_nothing_to_flip(measured_live):
    with pytest.raises(Refused, match="numeric target"):
        smallest_flips(measured_live, FlipQuery(row=1))


def test_a_date_that_was_found_can_be_tried(dated_live):
    asked = {"row": 31, "features": ["visit", "taken"]}
    found = smallest_flips(dated_live, FlipQuery(**asked)).flips[0]
    assert all(is_dated(change.before) and is_dated(change.after) for change in found.changes)
    taken = {change.feature: change.after for change in found.changes}
    assert what_if(dated_live, CaseQuery(row=31, values=taken)).prediction == found.prediction
