"""The data of a page for its script."""

import json
from types import SimpleNamespace

import pytest
from numpy.testing import assert_allclose

import whynear as wn
from tests.helpers.studies import hostile, houses_study, numeric_study
from whynear.report.page_script import script_data, stand_ins
from whynear.verdict import StandIn, StandIns


@pytest.fixture(scope="module")
def data(study):
    return json.loads(script_data(study))


def test_features_are_those_of_the_relevance_in_the_order_of_the_table(study, data):
    assert [feature[0] for feature in data["features"]] == list(study.relevance.feature_names)
    _, verdict, lost, error, lower, upper, _ = zip(*data["features"], strict=True)
    assert_allclose([lower, upper], [study.relevance.lower, study.relevance.upper], rtol=1e-3)
    assert_allclose([lost, error], [study.verdicts.loss, study.verdicts.error], atol=0.051)
    assert list(verdict) == study.verdicts.verdict.tolist()


def test_cases_have_their_rows_classes_and_groups(study, data):
    cases = data["cases"]
    assert cases["rows"] == [str(row) for row in range(1, 151)]
    assert cases["true"] == study.problem.y.tolist()
    assert cases["predicted"] == study.comparison.predictions["predicted"].tolist()
    assert len(cases["probability"]) == 150
    assert sorted(row for rows in cases["groups"].values() for row in rows) == list(range(150))


def test_levels_are_one_digit_a_case_and_reasons_name_features_by_position(study, data):
    assert all(len(levels) == 150 and set(levels) <= set("01234.") for levels in data["levels"].values())
    reason = study.reasons[3]
    found = data["why"][str(reason.place)]
    assert found["text"] == reason.text
    assert [study.relevance.feature_names[part[0]] for part in found["parts"]] == [p.feature for p in reason.parts]
    assert found["near"][2] == f"{reason.nearest.kind} {reason.nearest.name}"
    first = reason.parts[0]
    assert found["parts"][0][3] == f"{study.problem.X[first.feature].iloc[reason.place]:.4g}"
    assert found["parts"][0][3:] == [f"{value:.4g}" for value in first.values]


def test_numeric_targets_have_no_probabilities_and_one_group():
    cases = json.loads(script_data(numeric_study()))["cases"]
    assert "probability" not in cases
    assert list(cases["groups"]) == ["class-0"]
    assert cases["true"][0] == f"{numeric_study().problem.y[0]:.4g}"


def test_reasons_of_a_numeric_target_say_what_each_feature_adds():
    study = houses_study()
    data = json.loads(script_data(study))
    reason = study.reasons[3]
    found = data["why"][str(reason.place)]
    assert found["text"] == reason.text
    for part, (place, added, value, mean) in zip(reason.parts, found["adds"], strict=True):
        assert data["features"][place][0] == part.feature
        assert added == pytest.approx(part.contribution, rel=1e-3)
        assert (value == "missing") == (part.value is None)
        assert (mean == "") == (part.mean is None) == (part.feature == "town")


def test_no_name_ends_the_element_or_is_not_json():
    found = wn.study(hostile(), "<i>target</i>", learner="grlvq", folds=2)
    text = script_data(found)
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text)["features"][0][0] == "<script>alert(1)</script>"


def test_stand_ins_are_named_cheapest_first():
    pairs = StandIn("a", "c", 1.0, 0.5), StandIn("a", "b", 0.2, 0.5), StandIn("b", "a", -0.2, 0.5)
    judged = SimpleNamespace(feature_names=("a", "b", "c"), stand_ins=StandIns(pairs, (("a", "b", "c"),)))
    assert stand_ins(SimpleNamespace(verdicts=judged)) == {"a": "b, c", "b": "a"}
