"""The data that a page shows are those of the study."""

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import whynear as wn
from tests.helpers.studies import grade_study, hostile, houses_study, numeric_study
from whynear.report import page_data as module
from whynear.report.page_data import CODES, page_data
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
    data = page_data(wn.study(hostile().rename(columns=lambda name: f"\x1b{name}"), "\x1b<i>target</i>", folds=2))
    assert data["features"]["names"][0] == "\ufffd<script>alert(1)</script>"
    assert "\x1b" not in json.dumps(data, ensure_ascii=False)
