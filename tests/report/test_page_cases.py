"""The cases of a study for its page."""

import pytest
from numpy.testing import assert_allclose

from tests.helpers.studies import houses_study, numeric_study
from whynear.report import page_cases
from whynear.report.page_cases import cases_data, maps_data, reasons_data, selected_data, values_data


def places_of(study):
    return {name: place for place, name in enumerate(study.relevance.feature_names)}


def test_cases_have_their_rows_and_classes(study):
    cases, found = cases_data(study), study.comparison.predictions
    assert cases["rows"] == [str(row) for row in range(1, 151)]
    for name in ("true", "predicted"):
        assert [study.errors.classes[code] for code in cases[name]] == found[name].tolist()
    assert_allclose(cases["probability"], found["probability"], atol=5.1e-4)


def test_numeric_targets_have_values_and_no_probabilities():
    study = numeric_study()
    cases = cases_data(study)
    assert "probability" not in cases
    assert_allclose(cases["true"], study.shown.y, rtol=1e-3)
    assert_allclose(cases["predicted"], study.comparison.predictions["predicted"], rtol=1e-3)


def test_maps_are_those_of_the_study_but_for_a_step(study):
    for name, shown in maps_data(study).items():
        for axis, column in zip("xy", study.maps[name].T, strict=True):
            held = shown[axis]
            step = (held["most"] - held["least"]) / 9_999
            assert_allclose([held["least"] + step * one for one in held["steps"]], column, atol=2 * step)


def test_values_are_those_of_the_table(study, monkeypatch):
    values = values_data(study, places_of(study))
    assert [place for place, _ in values] == study.verdicts.order.tolist()
    for place, column in values:
        assert_allclose(column, study.problem.X.iloc[:, place], rtol=1e-3)
    monkeypatch.setattr(page_cases, "MOST_VALUES", 300)
    assert len(values_data(study, places_of(study))) == 2


def test_missing_values_and_categories_stay():
    study = houses_study()
    values = {study.relevance.feature_names[place]: column for place, column in values_data(study, places_of(study))}
    assert values["town"] == study.shown.X["town"].tolist()
    assert [value is None for value in values["age"]] == study.shown.X["age"].isna().tolist()


def test_reasons_name_features_by_position(study):
    shown = reasons_data(study, places_of(study))
    reason = study.reasons[3]
    found = shown[str(reason.place)]
    assert found["text"] == reason.text
    assert [study.relevance.feature_names[part[0]] for part in found["parts"]] == [p.feature for p in reason.parts]
    assert found["near"][2:] == [reason.nearest.kind, str(reason.nearest.name)]
    first = reason.parts[0]
    assert found["parts"][0][1] == pytest.approx(first.adds[0], rel=1e-3)
    assert found["parts"][0][3:] == [f"{value:.4g}" for value in first.values]
    assert [tuple(line) for line in found["voters"]["lines"]] == list(reason.voters.lines)
    assert_allclose(found["voters"]["parts"], reason.voters.parts, rtol=6e-3)
    names = [study.relevance.feature_names[place] for place in found["voters"]["features"]]
    assert tuple(names) == reason.voters.features


def test_reasons_of_a_numeric_target_say_what_each_feature_adds():
    study = houses_study()
    shown = reasons_data(study, places_of(study))
    for reason in study.reasons:
        found = shown[str(reason.place)]
        for part, (place, added, value, mean) in zip(reason.parts, found["adds"], strict=True):
            assert study.relevance.feature_names[place] == part.feature
            assert added == pytest.approx(part.adds[0], rel=1e-3)
            assert (value == "missing") == (part.values[0] is None)
            assert (mean == "") == (part.values[1] is None) == (part.feature == "town")
        assert [text for _, text in found["unusual"]] == [str(one) for one in reason.unusual]
    assert any(found["unusual"] for found in shown.values())


def test_selected_cases_have_a_heading_and_a_sentence(study):
    for line, case in zip(selected_data(study), study.cases, strict=True):
        assert line["kind"] == f"A {case.kind} case of “{case.true}”"
        assert line["place"] == case.place
        assert line["text"].lower() == f"{case.why!s}.".lower()
    lines = {line["kind"] for line in selected_data(houses_study())}
    assert {"A case with the median error", "The largest overestimate", "The case with most unusual values"} <= lines


def test_of_many_unusual_values_a_few_are_listed_those_that_explain_first(monkeypatch):
    study = houses_study()
    places = places_of(study)
    reason = next(one for one in study.reasons if one.unusual)
    shown = {part.feature for part in reason.parts} | set(reason.voters.features)
    found = reasons_data(study, places)[str(reason.place)]
    assert found["more_unusual"] == 0
    assert len(found["unusual"]) == len(reason.unusual)
    monkeypatch.setattr(page_cases, "MOST_UNUSUAL", 0)
    none = reasons_data(study, places)[str(reason.place)]
    assert (none["unusual"], none["more_unusual"]) == ([], len(reason.unusual))
    order = [one.column in shown for one in page_cases._unusual_first(reason)]
    assert order == sorted(order, reverse=True)
