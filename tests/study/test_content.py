"""The content of study.json."""

import json

import pytest

from tests.helpers.studies import iris_study, numeric_study
from whynear.study.content import FORMAT, content


def test_the_content_is_json_and_holds_what_the_study_holds():
    study = iris_study()
    held = content(study)
    assert json.loads(json.dumps(held, allow_nan=False)) == held
    assert held["format"] == FORMAT
    assert (held["source"], held["target"], held["rows"]) == ("The table", "target", 150)
    assert (held["chosen"], held["measure"]) == ("gmlvq", "accuracy")
    assert held["accuracy"] == study.accuracy.to_dict("list")
    assert held["expected_scores"] == study.comparison.expected_scores.tolist()
    assert (held["expected"], held["expected_error"]) == (study.comparison.expected, study.comparison.expected_error)
    assert held["errors"]["confusion"] == study.errors.confusion.tolist()
    assert held["errors"]["accuracy"] == held["expected"]
    assert held["relevance"]["upper"] == study.relevance.upper.tolist()
    assert [column["column"] for column in held["columns"]] == list(study.problem.X)
    assert set(held["profiles"]) == {"0", "1", "2"}
    assert held["maps"]["after"] == study.maps["after"].tolist()
    assert [case["kind"] for case in held["cases"]] == [case.kind for case in study.cases]
    assert held["caveats"] == list(study.caveats)
    assert held == study.to_dict()


def test_a_numeric_target_has_other_scores_and_explanations():
    held = content(numeric_study())
    assert held["measure"] == "r2"
    assert held["expected_scores"] == held["accuracy"]["minimum norm"]
    assert held["errors"]["typical"] == numeric_study().errors.typical
    first = held["cases"][0]
    assert first["kind"] == "typical"
    assert first["why"]["mean_prediction"] + sum(first["why"]["contributions"]) == pytest.approx(
        first["why"]["prediction"]
    )
    assert list(held["maps"]) == ["before", "after"]
