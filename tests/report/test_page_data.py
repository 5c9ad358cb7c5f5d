"""The data that a page shows are those of the study."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import whynear as wn
from tests.helpers.studies import grade_study, hostile, houses_study, numeric_study
from whynear.reject.promise import Promise
from whynear.report import page_data as module
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
from whynear.study.errors import ErrorPattern
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
            hostile().rename(columns=lambda name: f"\x1b{name}"), "\x1b<i>target</i>", splitting=wn.Splitting(folds=2)
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
