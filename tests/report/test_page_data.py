"""The data that a page shows are those of the study."""

import base64
import json
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import whynear as wn
from tests.helpers.studies import grade_study, hostile, houses_study, numeric_study
from whynear.reject.outcome import Promise
from whynear.report import page_cases
from whynear.report import page_data as module
from whynear.report.page_cases import (
    MOST_IN_REPORT,
    cases_data,
    maps_data,
    others_data,
    packed_rows,
    reasons_data,
    selected_data,
    values_data,
)
from whynear.report.page_data import (
    CODES,
    errors_data,
    facts_of_table,
    how_it_was_done,
    how_well,
    note_on_intervals,
    page_data,
    rejection_data,
)
from whynear.report.plain_numbers import STEPS, all_printable, decimals, short, steps
from whynear.study.errors import ErrorPattern
from whynear.study.interpretation import PlacedRows
from whynear.verdict import StandIn, StandIns


@pytest.fixture(scope="module")
def data(study):
    return page_data(study)


def test_data_are_plain_and_finite(study, data):
    for one in (data, page_data(numeric_study()), page_data(houses_study())):
        assert json.loads(json.dumps(one, allow_nan=False)) == one


def test_features_are_those_of_the_relevance_in_the_order_of_the_table(study, data):
    features, words = data["features"], {code: word for word, code in CODES.items()}
    assert features["names"] == list(study.relevance.feature_names)
    assert [words[code] for code in features["verdict"]] == study.verdicts.verdict.tolist()
    assert_allclose([features["loss"], features["error"]], [study.verdicts.loss, study.verdicts.error], atol=1e-6)
    bounds = [study.relevance.lower, study.relevance.upper]
    assert_allclose([features["lower"], features["upper"]], bounds, rtol=6e-3)
    assert_allclose(features["stability"], study.verdicts.stability, atol=0.0051)
    assert [features["names"][place] for place in features["order"]] == study.frame()["feature"].tolist()
    assert study.relevance.units in features["note"]


def test_a_loss_that_a_page_rounds_is_rounded_only_once(study):
    judged = study.verdicts
    losses = np.full(len(judged.loss), 0.35149384885764495)
    made = page_data(replace(study, verdicts=replace(judged, loss=losses)))
    assert {f"{loss:.1f}" for loss in made["features"]["loss"]} == {"0.4"}


def test_every_sentence_has_its_evidence_on_the_page(study, data):
    sentences = data["finding"]["sentences"]
    assert [text for text, _ in sentences] == list(study.findings.sentences)
    assert {part for _, part in sentences} <= {"methods", "sets", "features", "spectrum"}
    assert sentences[-1][1] == "methods"
    without = page_data(replace(study, findings=replace(study.findings, evidence=())))
    assert {part for _, part in without["finding"]["sentences"]} == {"features"}


def test_stand_ins_have_their_price(study):
    names = study.relevance.feature_names
    pairs = StandIn(names[0], names[2], 1.004, 0.5), StandIn(names[2], names[0], -1.004, 0.5)
    sets = replace(study.verdicts.sets, stand_ins=StandIns(pairs, ((names[0], names[2]),)))
    changed = replace(study, verdicts=replace(study.verdicts, sets=sets))
    assert page_data(changed)["features"]["stand_ins"] == [[0, 2, 1.004, 0.5], [2, 0, -1.004, 0.5]]


def test_sets_are_the_curve_of_the_verdicts(study, data):
    curve, sets = study.verdicts.sets.curve, data["sets"]
    assert [size for size, *_ in sets["curve"]] == curve["n_features"].tolist()
    assert_allclose([score for _, score, *_ in sets["curve"]], curve["score"], atol=1e-4)
    names = data["features"]["names"]
    assert tuple(names[place] for place in sets["best"]) == study.verdicts.sets.best
    assert [tuple(names[j] for j in line[3]) for line in sets["curve"]] == [tuple(one) for one in curve["features"]]


def test_large_sets_are_not_listed(study, monkeypatch):
    monkeypatch.setattr(module, "MOST_MEMBERS", 1)
    assert not any(features for *_, features in page_data(study)["sets"]["curve"][1:])


def test_methods_have_their_scores(study, data):
    lines = data["methods"]["lines"]
    assert [line["score"] for line in lines] == [str(method.score) for method in study.comparison.methods]
    assert [line["right"] for line in lines] == [None] * len(lines)
    assert data["methods"]["chosen"] == study.comparison.chosen
    assert len(lines[0]["folds"]) == 3


def test_classes_that_look_at_the_same_features_have_no_profiles(study):
    alike = replace(study, profiles=study.profiles.apply(lambda column: study.profiles.iloc[:, 0]))
    assert page_data(alike)["profiles"] is None
    assert page_data(numeric_study())["profiles"] is None
    different = study.profiles.copy()
    different.iloc[0, 0] += 0.1
    shown = page_data(replace(study, profiles=different))["profiles"]
    place = shown["features"].index(0)
    assert shown["classes"] == [str(name) for name in study.profiles.columns]
    assert_allclose(shown["shares"][place], different.iloc[0], rtol=6e-3)


def test_the_curve_of_the_tolerance_is_shown(study, data):
    found, shown = study.interpretation.tolerance, data["tolerance"]
    assert_allclose([line[0] for line in shown["curve"]], found.curve["tolerance"])
    assert_allclose([line[2] for line in shown["curve"]], found.curve[found.criterion], rtol=1e-3)
    assert shown["choice"] == study.interpretation.choice


def test_settings_have_the_seed_and_the_certificate(study, data):
    facts = dict(data["done"]["facts"])
    assert facts["random_state"] == "0"
    assert facts["certificate"].startswith("worst error ")
    assert "strict" not in facts
    assert data["done"]["python"][0] == "import whynear as wn"


@pytest.mark.slow
def test_spectra_have_bands_in_the_unit_of_their_axis():
    study = grade_study()
    shown = page_data(study)["spectrum"]
    assert page_data(study)["noun"] == "band"
    edges = study.spectra.axis.edges
    assert [(first, last) for _, first, last, _ in shown["bands"]] == [
        (edges[first], edges[last + 1]) for first, last in study.spectra.bands.ranges
    ]
    assert_allclose(shown["weights"], study.spectra.weights, rtol=6e-3)


def test_names_are_printable():
    data = page_data(
        wn.study(
            hostile().rename(columns=lambda name: f"\x1b{name}"),
            "\x1b<i>target</i>",
            learner="grlvq",
            splitting=wn.Splitting(folds=2),
        )
    )
    assert data["features"]["names"][0] == "\ufffd<script>alert(1)</script>"
    assert "\x1b" not in json.dumps(data, ensure_ascii=False)


def test_the_errors_of_classes_are_those_of_the_study(study):
    shown, errors = errors_data(study), study.errors
    assert shown["confusion"] == errors.confusion.tolist()
    assert (shown["n_rows"], shown["n_wrong"]) == (150, errors.n_wrong)
    for (count, recall, predicted, precision), one in zip(shown["by_class"], errors.by_class, strict=True):
        assert (count, predicted) == (one.count, one.predicted)
        assert (recall, precision) == (pytest.approx(one.recall, abs=1e-4), pytest.approx(one.precision, abs=1e-4))
    assert [line[0] for line in shown["worst"]] == [str(error.row) for error in errors.worst]
    assert [line[2] for line in shown["confused"]] == [pair.count for pair in errors.confused]
    assert shown["roc"]["area"] == pytest.approx(errors.roc.area, abs=1e-3)
    assert [held[-1] for held in shown["calibration"]["bins"]] == [held.count for held in errors.calibration.bins]


def test_of_many_classes_the_most_frequent_confusions_are_kept(study, monkeypatch):
    monkeypatch.setattr(module, "MOST_IN_MATRIX", 2)
    monkeypatch.setattr(module, "MOST_PAIRS", 1)
    shown = errors_data(study)
    assert shown["confusion"] == []
    assert [line[2] for line in shown["confused"]] == [study.errors.confused[0].count]


def test_roc_curves_keep_their_ends_and_lose_only_equal_points(study):
    for shown, curve in zip(errors_data(study)["roc"]["curves"], study.errors.roc.curves, strict=True):
        points = list(zip(shown["false_rate"], shown["true_rate"], strict=True))
        assert points[0] == (0, 0)
        assert points[-1] == (1, 1)
        assert len(set(points)) == len(points)
        assert_allclose(sorted(set(shown["false_rate"])), sorted({round(x, 3) for x in curve.false_rate.tolist()}))


def test_a_class_that_is_never_predicted_has_no_precision(study):
    confusion = study.errors.confusion.copy()
    confusion[:, 1] += confusion[:, 0]
    confusion[:, 0] = 0
    errors = errors_data(replace(study, errors=replace(study.errors, confusion=confusion)))
    assert errors["by_class"][0][3] is None


def test_the_residuals_of_a_measured_target_are_those_of_the_study():
    study = numeric_study()
    shown = errors_data(study)
    assert shown["typical"] == pytest.approx(study.errors.typical, rel=1e-3)
    assert [line[0] for line in shown["largest"]] == [str(error.row) for error in study.errors.largest]
    assert_allclose(shown["interval"], study.errors.interval, rtol=1e-3)


def test_what_goes_with_large_errors_is_said():
    study = houses_study()
    errors = replace(study.errors, patterns=(ErrorPattern("age", None, None, 1e-4),))
    assert errors_data(replace(study, errors=errors))["patterns"] == ["Errors are larger where “age” is missing."]


def promise(accuracy, given):
    coverage, threshold, needed = (0.91272, 0.5, None) if given else (0.0, np.inf, 900)
    return Promise(accuracy, 0.9, given, coverage, threshold, 132, 120, 1, needed)


def test_promises_certainties_and_rejected_cases_are_those_of_the_study():
    strict, loose = promise(0.99, False), promise(0.95, True)
    held = SimpleNamespace(
        promise=loose,
        sentences=(loose.sentence,),
        certainty=[0.98765, 0.5],
        promises=(strict, loose),
        rejected=(SimpleNamespace(row="r2", reason="ambiguous"),),
    )
    assert loose.sentence.startswith("Accepting 91.2% of the cases")
    assert rejection_data(SimpleNamespace(rejection=held)) == {
        "sentences": [loose.sentence],
        "certainty": [0.988, 0.5],
        "promised": 0.91272,
        "promises": [[0.99, False, 0, 120, 1, 230], [0.95, True, 0.912, 120, 1, None]],
        "rejected": [["r2", "ambiguous"]],
    }
    held.promise = None
    assert rejection_data(SimpleNamespace(rejection=held))["promised"] is None


def test_a_study_without_certainties_has_none(study):
    assert rejection_data(SimpleNamespace(rejection=None)) is None


def test_the_score_to_expect_is_stated_with_its_error(study):
    assert how_well(study).startswith(f"{study.comparison.score} of held-out cases are predicted right: what to expect")
    assert "of the variance is explained" in how_well(numeric_study())


def test_intervals_of_a_mean_metric_are_said_to_be_so(study):
    assert study.relevance.agreement in note_on_intervals(study)
    averaged = replace(study, interpretation=replace(study.interpretation, averaged=True))
    assert note_on_intervals(averaged).endswith("those of their mean.")


def test_the_table_is_described(study):
    facts = dict(facts_of_table(study))
    assert facts["rows, features"] == "150, 5"
    assert facts["classes"] == "0 (50), 1 (50), 2 (50)"
    low, high = numeric_study().problem.range
    assert dict(facts_of_table(numeric_study()))["values"] == f"{low:.4g} to {high:.4g}"


def test_the_steps_name_the_folds_and_what_was_filled_in(study):
    assert "on 3 held-out stratified folds" in how_it_was_done(study)
    assert "filled in" not in how_it_was_done(study)
    assert "after missing values were filled in" in how_it_was_done(houses_study())
    assert "The weights of all categories of a column are summed." in how_it_was_done(houses_study())
    assert "ridge regression, PLS and the mean on 3 held-out folds" in how_it_was_done(houses_study())


def test_one_learner_was_not_chosen_among_others(study):
    alone, chosen = "GMLVQ was compared with plain kNN", "Learners were compared with plain kNN and NCA on 3 held-out"
    assert alone in how_it_was_done(study)
    assert chosen not in how_it_was_done(study)
    accuracy = study.comparison.accuracy.assign(grlvq=study.comparison.accuracy["gmlvq"])
    of_two = how_it_was_done(replace(study, comparison=replace(study.comparison, accuracy=accuracy)))
    assert chosen in of_two
    assert alone not in of_two


# Numbers and names as a page shows them.


numbers = st.floats(-1e9, 1e9).map(lambda number: round(number, 6))


@given(numbers)
def test_short_numbers_are_near(number):
    assert math.isclose(short(number), number, rel_tol=5e-4, abs_tol=1e-12)
    assert abs(decimals(number, 2) - number) <= 0.005 + 1e-6


def test_what_is_not_finite_is_missing():
    for value in (float("nan"), float("inf"), -float("inf")):
        assert short(value) is None
        assert decimals(value, 1) is None


@given(st.lists(numbers, min_size=1, max_size=30))
def test_steps_keep_order_and_place(values):
    held = steps(values)
    assert all(0 <= step <= STEPS for step in held["steps"])
    order = sorted(range(len(values)), key=values.__getitem__)
    assert [held["steps"][k] for k in order] == sorted(held["steps"])
    width = max(values) - min(values)
    for value, step in zip(values, held["steps"], strict=True):
        assert abs(min(values) + width * step / STEPS - value) <= width / STEPS + 1e-9


def test_names_are_printable_wherever_they_stand():
    assert all_printable({"a": [("\x1b", 1.5)], "b": None}) == {"a": [["\ufffd", 1.5]], "b": None}


def rows(n, names=None, true=None, seed=0):
    rng = np.random.default_rng(seed)
    maps = {name: rng.standard_normal((n, 2)) for name in ("before", "after")}
    classes = np.array(["b", "a", "c"])[rng.integers(0, 3, n)] if true is None else true
    return PlacedRows(pd.RangeIndex(1, n + 1) if names is None else pd.Index(names), classes, maps, n)


def read(packed):
    """The header, the five arrays as whole steps, and the bytes of the names; another reading of the same format."""
    length = int.from_bytes(packed[:4], "little")
    header = json.loads(packed[4 : 4 + length])
    n, at, arrays = header["count"], 4 + length, []
    for _ in range(5):
        assert at % 4 == 0
        arrays.append(np.frombuffer(packed, "<u2", n, at))
        at += 4 * -(-n // 2)
    return header, arrays, packed[at:]


@pytest.mark.parametrize("n", [1, 2, 7])
def test_rows_are_read_as_they_were_packed(n):
    others = rows(n)
    header, arrays, names = read(packed_rows(others, ["a", "b", "c"]))
    for array, (name, axis) in zip(arrays[:4], [("before", 0), ("before", 1), ("after", 0), ("after", 1)], strict=True):
        least, most = header["maps"][name][axis]
        assert_allclose(least + array * (most - least) / 65_535, others.maps[name][:, axis], atol=1e-4)
    assert np.array(["a", "b", "c"])[arrays[4]].tolist() == others.true.tolist()
    assert np.frombuffer(names, "<i4").tolist() == others.names.tolist()
    assert header["values"] is None


def test_measured_values_and_names_of_text():
    others = rows(3, names=["x", "two\nlines", "ç"], true=np.array([1.0, 2.0, 4.0]))
    header, arrays, names = read(packed_rows(others, []))
    assert header["values"] == [1, 4]
    assert arrays[4].tolist() == [0, 21_845, 65_535]
    assert names.decode().split("\n") == ["x", "two lines", "ç"]
    assert header["names"] == "text"


def test_numbers_too_large_for_four_bytes_are_text():
    header, _, names = read(packed_rows(rows(2, names=[1, 2**40]), ["a", "b", "c"]))
    assert (header["names"], names) == ("text", b"1\n1099511627776")


def test_a_report_has_a_sample():
    others = rows(100_000)
    data = others_data(others, ["a", "b", "c"])
    assert (data["total"], data["count"]) == (100_000, MOST_IN_REPORT)
    header, _, _ = read(base64.b64decode(data["packed"]))
    assert header["count"] == MOST_IN_REPORT
    assert len(data["packed"]) < 300_000
    assert others_data(None, ["a"]) is None


# The cases of a study for its page.


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
    for near, held in zip(found["near"], (reason.nearest, reason.other), strict=True):
        assert near[2:] == [held.kind, str(held.name), *([str(held.row)] if held.kind == "prototype" else [])]
    first = reason.parts[0]
    assert found["parts"][0][1] == pytest.approx(first.adds, rel=1e-3)
    assert found["parts"][0][2] == [f"{value:.4g}" for value in first.values]
    assert found["voters"]["columns"] == list(reason.voters.columns)
    assert [tuple(line) for line in found["voters"]["lines"]] == list(reason.voters.lines)
    assert_allclose(found["voters"]["parts"], reason.voters.parts, rtol=6e-3)
    names = [study.relevance.feature_names[place] for place in found["voters"]["features"]]
    assert tuple(names) == reason.voters.features


def test_reasons_of_a_numeric_target_say_what_each_feature_adds():
    study = houses_study()
    shown = reasons_data(study, places_of(study))
    for reason in study.reasons:
        found = shown[str(reason.place)]
        assert found["near"] == []
        for part, (place, (added,), (value, mean)) in zip(reason.parts, found["parts"], strict=True):
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
    order = [name in {places.get(one, one) for one in shown} for name, _ in found["unusual"]]
    assert order == sorted(order, reverse=True)
