"""The results of a study as sentences, and its caveats."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import whynear as wn
from tests.helpers.problems import problem_of
from tests.helpers.studies import iris_study, measured, numeric_study, rows_of_two_classes
from whynear.study.findings import (
    _caveats,
    _caveats_of_numbers,
    _prediction,
    caveats_of_stronger_models,
    caveats_of_width,
    deciding_columns,
    findings_of,
)

NOISE = np.random.default_rng(0).random(40)


def test_the_finding_says_it_in_words_and_numbers():
    study = iris_study()
    text = study.finding()
    assert re.search(r"predicts \d+\.\d% ± \d+\.\d% of held-out cases right, plain kNN \d+\.\d%", text)
    assert f"predicts {study.comparison.score} of held-out cases right" in text
    assert study.frame()["feature"][0] in text


def test_every_sentence_names_its_evidence():
    found = iris_study().findings
    assert len(found.evidence) == len(found.sentences)
    by_part = {part: [] for part in found.evidence}
    for part, sentence in zip(found.evidence, found.sentences, strict=True):
        by_part[part].append(sentence)
    about_set, *about_folds = by_part["sets"]
    assert "suffice" in about_set or "No smaller set" in about_set
    assert [sentence for sentence in about_folds if "folds choose" not in sentence] == []
    (about_methods,) = by_part["methods"]
    assert "of held-out cases right" in about_methods


@pytest.mark.parametrize(("by", "said"), [("gmlvq", "3 of 3 folds. "), ("lmnn", "1 of 3 folds, so which of them is")])
def test_a_learner_that_few_folds_choose_is_undecided(by, said):
    study = iris_study()
    held_out = study.comparison.predictions
    comparison = replace(
        study.comparison,
        accuracy=study.comparison.accuracy.assign(lmnn=0.9),
        predictions=held_out.assign(by=np.where(held_out["fold"] == 1, "gmlvq", by)),
    )
    text = _prediction(study.problem, comparison, study.interpretation)
    assert f"GMLVQ is the simplest of 2 learners near the best, chosen in {said}" in text


def test_verdicts_of_models_that_predict_much_better_than_the_learner_are_a_caveat():
    study = numeric_study()
    expected, error = study.comparison.expected, study.comparison.expected_error

    def said(score):
        curve = study.verdicts.sets.curve.copy()
        curve.loc[curve.index[-1], "score"] = score
        return caveats_of_stronger_models(
            study.comparison, replace(study.verdicts, sets=replace(study.verdicts.sets, curve=curve))
        )

    much = expected + max(3 * error, 0.1)
    assert said(much) == [
        f"The models that were refitted for the verdicts explain {much:.1%} of the variance, the model that predicts "
        f"{expected:.1%}: the verdicts say what the features hold, and this model uses only a part of it. For "
        "predictions alone, also try another one, such as a kernel model."
    ]
    assert said(expected + 0.5 * error) == []
    assert said(expected + 0.019) == []
    assert said(expected - much) == []


def test_caveats_stand_before_the_notes_on_how_the_table_was_read():
    study = iris_study()
    problem = replace(study.problem, decisions=("Read so.",))
    given = ("Read so.", "A value is far from all others.")
    said = findings_of(problem, study.comparison, study.interpretation, study.verdicts, given).caveats
    assert said[-2:] == given[::-1]


def test_a_column_that_decides_alone_is_a_caveat():
    table = rows_of_two_classes(40, a=np.tile([0.0, 1.0], 20) + 0.1 * NOISE, b=NOISE)
    study = wn.study(table, "y", learner="grlvq", splitting=wn.Splitting(folds=3))
    assert any("'a' alone tells the classes apart" in caveat for caveat in study.caveats)
    assert deciding_columns(table[["a", "b"]], table["y"].to_numpy()) == ["a"]


def test_as_many_features_as_rows_are_a_caveat_with_both_counts():
    X = np.random.default_rng(0).random((20, 1_001))
    for n_features, is_said in [(19, False), (20, True), (1_001, True)]:
        table = rows_of_two_classes(20, **{f"x{j}": X[:, j] for j in range(n_features)})
        said = caveats_of_width(problem_of(table, "y"))
        assert len(said) == is_said
        counts = f"With {n_features:,} features and only 20 rows, many different maps fit the rows equally well"
        assert all(caveat.startswith(counts) for caveat in said)


@pytest.mark.slow
def test_a_study_of_more_features_than_rows_says_so():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((30, 40))).add_prefix("x")
    study = wn.study(X.assign(y=np.where(X["x0"] > 0, "u", "v")), "y", learner="grlvq", splitting=wn.Splitting(folds=2))
    (said,) = (caveat for caveat in study.caveats if "With 40 features and only 30 rows" in caveat)
    assert "not determined by the data" in said


def test_one_feature_is_enough():
    table = pd.DataFrame({"a": np.arange(40.0), "y": np.arange(40) // 20})
    study = wn.study(table, "y", learner="grlvq", splitting=wn.Splitting(folds=2))
    assert study.finding().startswith("The only feature is needed. 1 feature is indispensable, no other")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_the_finding_states_the_known_truth(seed):
    data = wn.datasets.make_relevance(200, random_state=seed)
    study = wn.study(data.X.assign(kind=data.y), "kind", learner="grlvq", splitting=wn.Splitting(folds=2))
    text = study.finding()
    assert re.match(r"[23] of 8 features suffice: with “", text)
    members = study.verdicts.sets.best
    assert "strong_0" in members
    assert {name[:6] for name in members} == {"strong", "weak_0"}
    assert "1 feature is indispensable, no other can replace it: without “strong_0” " in text
    assert "3 features carry information that others carry too: " in text
    found = study.frame().set_index("feature")["verdict"]
    words = {"strong": {"indispensable"}, "weak": {"replaceable"}, "irrelevant": {"no evidence", "undecided"}}
    for name, strength in zip(data.X.columns, data.strength, strict=True):
        assert found[name] in words[strength], name
    assert all("noise" not in sentence and "strong" not in sentence for sentence in study.findings.stand_ins)


@pytest.mark.slow
def test_measurements_of_noise_are_a_caveat():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((100, 6))).add_prefix("x").assign(y=rng.standard_normal(100))
    study = wn.study(table, "y")
    assert study.comparison.expected < 0.1
    assert any("hardly better than the mean" in caveat for caveat in study.caveats)


@pytest.mark.slow
def test_a_copy_of_a_measured_target_is_suspected():
    study = wn.study(measured().assign(copy=lambda table: 2 * table["y"] + 1), "y", splitting=wn.Splitting(folds=2))
    assert any("'copy' says the same as the target" in caveat for caveat in study.caveats)


@pytest.mark.slow
def test_a_category_that_decides_is_suspected():
    outcome = np.tile(["yes", "no"], 40)
    table = pd.DataFrame({"z": np.random.default_rng(0).random(80), "code": np.char.add("c", outcome)}).assign(
        outcome=outcome
    )
    study = wn.study(
        table, "outcome", learner="grlvq", reading=wn.Reading(categories="onehot"), splitting=wn.Splitting(folds=2)
    )
    assert any("'code' alone tells the classes apart" in caveat for caveat in study.caveats)


def test_a_column_determines_the_classes_by_thresholds_or_by_categories():
    y = np.repeat(["u", "v", "w"], 10)
    X = pd.DataFrame(
        {
            "threshold": np.arange(30.0),
            "tied": np.repeat([0.0, 1.0, 1.0], 10),
            "there and back": np.repeat([0.0, 1.0, 0.0], 10),
            "category": y,
            "names": [f"row {i}" for i in range(30)],
            "gap": [np.nan, *np.arange(29.0)],
        }
    )
    assert deciding_columns(X, y) == ["threshold", "category"]


def test_two_known_values_do_not_make_a_copy_of_the_target():
    study, known = numeric_study(), np.full(numeric_study().problem.y.shape, np.nan)
    known[:2] = study.problem.y[:2]
    problem = replace(study.problem, X=study.problem.X.assign(seldom=known))
    assert not any("'seldom'" in caveat for caveat in _caveats_of_numbers(problem, study.comparison))
    known[:5] = study.problem.y[:5]
    problem = replace(study.problem, X=study.problem.X.assign(seldom=known))
    assert any("'seldom' says the same" in caveat for caveat in _caveats_of_numbers(problem, study.comparison))


def test_intervals_that_are_not_exact_are_counted_by_features():
    study = iris_study()
    certificate = replace(study.relevance.certificate, unknowns=1)
    found = replace(study.interpretation, relevance=replace(study.relevance, certificate=certificate))
    said = _caveats(study.problem, study.comparison, found)
    start = "The interval of 1 feature is not exact, because its calculation (a linear program) did not finish"
    assert said[-1] == f"{start}; treat its bounds as unknown."
