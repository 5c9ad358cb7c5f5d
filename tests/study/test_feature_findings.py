"""What a study says about features, in sentences."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor

import whynear as wn
from tests.helpers.studies import houses_study, iris_study, measured
from whynear.model.pipeline import FittedPipeline
from whynear.study.comparison import Comparison
from whynear.study.feature_findings import (
    MOST_NAMED,
    ONE_SIDED_95,
    better_rival,
    caveats_of_models,
    feature_sentences,
    listed_features,
    set_sentences,
    sign_sentence,
    stand_in_sentences,
)
from whynear.verdict import StandIn, StandIns
from whynear.verdict.refits import BetterModel
from whynear.verdict.rules import MOST_LOSS


def judged(words, *, best=("a",), works=True, score=0.9, score_of_all=0.9, by_fold=()):
    """Verdicts on features a, b, ... with these words."""
    names = tuple("abcdefghij"[: len(words)])
    sets = SimpleNamespace(best=best, score=score, score_of_all=score_of_all, lost_error=0.006, by_fold=by_fold)
    found = {"feature_names": names, "verdict": np.array(words), "loss": np.arange(len(words), 0.0, -1)}
    return replace(iris_study().verdicts, **found, p_value=np.zeros(len(words)), sets=sets, works=works)


def test_the_first_sentence_says_how_few_suffice():
    words = ["replaceable", "replaceable", "no evidence"]
    first = set_sentences(judged(words, best=("a", "b"), score=0.88))[0]
    alone = "with “a” and “b” alone, 2.0 ± 0.6 percentage points fewer rows are predicted right than with all"
    assert first == f"2 of 3 features suffice: {alone}."
    assert "no fewer rows are predicted right than with all" in set_sentences(judged(words))[0]


@pytest.mark.parametrize(
    ("by_fold", "said"),
    [
        ([("a", "b"), ("b", "a")], "than with all."),
        (
            [("a", "b"), ("a", "c"), ("a", "d")],
            "1 of 3 folds chooses the same set, the other 2 choose other ones of similar size; “a” is in all of them.",
        ),
        (
            [("c", "d"), ("a", "d"), ("a", "c")],
            "Each of 3 folds chooses another set of similar size; no band is in all of them.",
        ),
    ],
)
def test_a_set_that_not_all_folds_choose_is_said_to_be_one_of_several(by_fold, said):
    *_, last = set_sentences(judged(["replaceable"] * 4, best=("a", "b"), by_fold=by_fold), "band")
    assert last == said or (last.endswith(said) and last.startswith("2 of 4 bands suffice"))


def test_sets_of_one_feature_have_no_other_in_common():
    sentences = set_sentences(judged(["replaceable"] * 2, best=("a",), by_fold=[("a",), ("b",), ("a",)]))
    assert sentences[1:] == ["2 of 3 folds choose the same set, the other one chooses another of similar size."]


def test_a_better_model_of_another_kind_is_a_caveat():
    found = judged(["replaceable"] * 2)
    found.sets.better_model = BetterModel("a random forest", 2_692, 0.768, 0.712)
    assert caveats_of_models(found) == [
        "A random forest predicts 2,692 held-out rows better than metrics and kernel models do (76.8% right against "
        "71.2%): the target may depend on features in a way that no metric shows."
    ]
    assert caveats_of_models(replace(found, works=False)) == []
    assert "76.8% of the variance against" in caveats_of_models(replace(found, measure="R2"))[0]
    found.sets.better_model = BetterModel("a random forest", 2_692, 0.768, 0.712, learner_only=True)
    assert caveats_of_models(found) == [
        "A random forest predicts 2,692 held-out rows better than the learner of this study does (76.8% right against "
        "71.2%): the target may depend on features in a way that its metric does not show."
    ]
    found.sets.better_model = None
    assert caveats_of_models(found) == []


def test_all_features_are_needed_only_if_each_is_indispensable():
    needed = set_sentences(judged(["indispensable"] * 3, best=("a", "b", "c")))[0]
    assert needed == "All 3 features are needed: no smaller set predicts as well."
    words = ["indispensable", "undecided", "no evidence"]
    unknown = set_sentences(judged(words, best=("a", "b", "c")))[0]
    assert unknown == "No smaller set is shown to predict as well as all 3 features."


def test_every_verdict_has_its_sentence():
    said = " ".join(feature_sentences(judged(["indispensable", "replaceable", "no evidence", "undecided"])))
    indispensable = "1 feature is indispensable, no other can replace it: without “a” 4.0 percentage points fewer rows"
    assert f"{indispensable} are predicted right." in said
    replaceable = "1 feature carries information that others carry too: “b”. Leaving it out costs at most"
    assert f"{replaceable} {MOST_LOSS:g} percentage points." in said
    assert "There is no evidence that “c” helps." in said
    assert "1 feature is undecided, because the rows do not settle it: “d”." in said


def test_points_are_explained_at_the_first_of_several_features():
    found = judged(["indispensable"] * 7)
    assert feature_sentences(found)[0] == (
        "7 features are indispensable, no others can replace them: without “a” 7.0 percentage points fewer rows are "
        "predicted right, without “b” 6.0, without “c” 5.0, without “d” 4.0 and without “e” 3.0; and 2 more."
    )
    of_numbers = feature_sentences(replace(found, measure="R2"))[0]
    assert "without “a” 7.0 percentage points less of the variance is explained, without “b” 6.0, " in of_numbers


def test_nothing_is_said_of_features_where_no_model_works():
    said = feature_sentences(judged(["undecided", "no evidence"], works=False))
    assert len(said) == 1
    assert said[0].startswith("No model is shown to predict the target better than chance")
    assert "indispensable" not in said[0]


@pytest.mark.parametrize(("price", "shown"), [(1.26, "1.3 ± 0.5 points lost"), (-0.3, "0.3 ± 0.5 points gained")])
def test_stand_ins_are_named_with_their_price(price, shown):
    found = judged(["replaceable", "replaceable"])
    found.sets.stand_ins = StandIns((StandIn("a", "b", price, 0.5),), (("a", "b"),))
    assert stand_in_sentences(found) == (f"“a” can be replaced by “b” ({shown}).",)


def test_a_sentence_names_the_first_features_and_counts_the_others():
    assert listed_features(["a"]) == "“a”"
    assert listed_features(["a", "b"]) == "“a” and “b”"
    assert listed_features(["x"] * MOST_NAMED + ["y", "z"]).endswith("“x” and 2 more")


def test_features_are_called_what_they_are():
    found = judged(["replaceable", "no evidence", "no evidence"])
    said = " ".join([*set_sentences(found, "band"), *feature_sentences(found, "band")])
    assert "1 of 3 bands suffices" in said
    assert "No single band is shown to be indispensable" in said
    assert "no evidence that 2 bands help" in said
    assert "feature" not in said
    assert "from these bands" in feature_sentences(judged(["undecided"], works=False), "band")[0]


def judged_of_coefficient_signs(*indispensable):
    return SimpleNamespace(named=lambda _: list(indispensable))


def of_models(models):
    return SimpleNamespace(fitted=tuple(FittedPipeline.of(model) for model in models))


def compared(*coefficients, names=("a", "b")):
    """Models of folds with these coefficients."""
    X = pd.DataFrame(np.eye(2, len(names)), columns=list(names))
    learner = wn.MinimumNormRegressor().fit(X, [0.0, 1.0])
    return of_models(learner.with_metric(wn.LinearMetric([row], list(names))) for row in coefficients)


def test_directions_are_said_of_indispensable_features_in_their_order():
    comparison = compared([2.0, -3.0], [2.1, -3.0], [1.9, -3.0])
    assert sign_sentence("y", comparison, judged_of_coefficient_signs("b", "a")) == (
        "With the other features equal, higher “b” goes with lower “y” (-3 per unit) and higher “a” with higher "
        "(+2 per unit)."
    )
    assert sign_sentence("y", comparison, judged_of_coefficient_signs("a")) == (
        "With the other features equal, higher “a” goes with higher “y” (+2 per unit)."
    )


def test_nothing_is_said_of_features_that_are_not_indispensable():
    assert sign_sentence("y", compared([2.0, -3.0], [2.0, -3.0], [2.0, -3.0]), judged_of_coefficient_signs()) is None


def test_nothing_is_said_of_signs_that_differ_between_folds():
    comparison = compared([2.0, -3.0], [0.5, 3.0], [1.0, -1.0])
    assert sign_sentence("y", comparison, judged_of_coefficient_signs("b")) is None


@pytest.mark.parametrize("models", [[], [DummyRegressor().fit([[0.0]], [0.0])] * 3])
def test_nothing_is_said_without_enough_maps(models):
    assert sign_sentence("y", of_models(models), judged_of_coefficient_signs("a")) is None
    assert sign_sentence("y", compared([2.0, 1.0], [2.0, 1.0]), judged_of_coefficient_signs("a")) is None


def test_a_study_says_the_true_directions_and_nothing_of_categories():
    finding = houses_study().finding()
    assert "With the other features equal, higher “size” goes with higher “price” (+" in finding
    assert "higher “age” with lower (-" in finding
    assert "higher “town”" not in finding
    assert "higher “noise”" not in finding


@pytest.mark.slow
def test_a_study_that_loses_to_another_method_says_nothing_of_directions():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.uniform(-2, 2, 150), "b": rng.uniform(-2, 2, 150)})
    study = wn.study(
        X.assign(y=X["a"] ** 2 + 0.3 * X["b"] + 0.05 * rng.standard_normal(150)),
        "y",
        learner="minimum norm",
        splitting=wn.Splitting(folds=3),
    )
    assert study.findings.sentences[0].startswith("Plain kNN predicts better than the linear map")
    assert "With the other features equal" not in study.finding()


def test_names_are_printable():
    comparison = compared([2.0, -3.0], [2.0, -3.0], [2.0, -3.0], names=("\x1b[2J", "b"))
    assert "\x1b" not in sign_sentence("\x07", comparison, judged_of_coefficient_signs("\x1b[2J"))


# Simple methods that predict better than the model of a study.


RNG = np.random.default_rng(0)


def of_numbers(true, own, **rivals):
    """A comparison of numeric predictions."""
    by_method = {"minimum norm": own, "plain kNN": own, "ridge": own, "PLS": own, **rivals}
    return _comparison("r2", "minimum norm", true, own, by_method)


def of_classes(true, own, plain, nca=None):
    """A comparison of predicted classes."""
    by_method = {"gmlvq": own, "plain kNN": plain, "NCA with kNN": own if nca is None else nca}
    return _comparison("accuracy", "gmlvq", true, own, by_method)


def _comparison(measure, chosen, true, own, by_method):
    predictions, scores = (
        pd.DataFrame({"true": true, "predicted": own}),
        pd.DataFrame({name: [0.0] for name in by_method}),
    )
    more = {"scores": scores, "by_method": pd.DataFrame(by_method), "models": (), "places": np.arange(len(true))}
    return Comparison(scores, chosen, pd.Series([0.0]), predictions, measure, **more)


TRUE = RNG.standard_normal(200)
GOOD, FAIR, POOR = (TRUE + size * RNG.standard_normal(200) for size in (0.2, 0.3, 0.5))


def test_the_best_rival_is_named_with_both_scores():
    comparison = of_numbers(TRUE, POOR, PLS=GOOD, ridge=FAIR)
    sentence = better_rival(comparison)
    scores = f"{comparison.score_of('PLS').value:.1%} against {comparison.score.value:.1%}"
    assert sentence.startswith(f"PLS predicts better than the linear map ({scores} of the variance explained): what ")
    assert better_rival(of_numbers(TRUE, POOR, ridge=GOOD)).startswith("Ridge predicts better")


@pytest.mark.parametrize("grouped", [False, True])
def test_a_rival_that_is_better_on_rows_that_count_is_named(grouped):
    rows, groups = np.arange(200), pd.Series(np.arange(200) // 2) if grouped else None
    labels, flipped = np.where(TRUE > 0, "u", "v"), np.where(TRUE > 0, "v", "u")
    half = rows < 100
    one, other = (np.where(part & (rows % 3 == 0), flipped, labels) for part in (half, ~half))
    numbers = of_numbers(TRUE, np.where(half, POOR, GOOD), PLS=np.where(half, GOOD, POOR))
    for comparison in (of_classes(labels, one, other), numbers):
        for heavy, better in ((half, True), (~half, False)):
            for light in (0.0, 0.1):
                weights = pd.Series(np.where(heavy, 1.0, light))
                said = better_rival(replace(comparison, weights=weights, groups=groups))
                assert (said is not None) == better
        assert better_rival(comparison) is None


def test_plain_knn_suggests_a_target_that_is_not_linear():
    sentence = better_rival(of_numbers(TRUE, POOR, **{"plain kNN": GOOD}))
    assert sentence.startswith("Plain kNN predicts better than the linear map")
    assert "not linear" in sentence
    assert "--bins 3" in sentence


def test_equal_and_worse_rivals_are_not_named():
    assert better_rival(of_numbers(TRUE, GOOD)) is None
    assert better_rival(of_numbers(TRUE, GOOD, ridge=POOR, PLS=POOR)) is None


def test_a_difference_that_does_not_show_in_the_scores_is_not_stated():
    close, closer = TRUE + 1e-4, TRUE + 1e-5
    assert better_rival(of_numbers(TRUE, close, ridge=closer)) is None


@pytest.mark.parametrize("gained", range(1, 8))
def test_plain_knn_is_tested_by_the_rows_that_only_one_predicts_right(gained):
    true, own, plain = np.full(100, "u"), np.full(100, "u"), np.full(100, "u")
    own[:gained], plain[-2:] = "v", "v"
    differences = np.repeat([1.0, 0.0, -1.0], [gained, 98 - gained, 2])
    clear = differences.mean() > ONE_SIDED_95 * differences.std(ddof=1) / 10
    sentence = better_rival(of_classes(true, own, plain))
    assert (sentence is not None) == clear == (gained >= 7)
    if clear:
        assert sentence.startswith("Plain kNN predicts better than the learned metric (98.0% against 93.0% of held-out")


def test_nca_is_no_rival_because_it_learns_a_metric_too():
    true, wrong = np.full(50, "u"), np.repeat(["v", "u"], 25)
    assert better_rival(of_classes(true, wrong, wrong, nca=true)) is None


def test_noise_seldom_makes_a_rival_better():
    found, rng = 0, np.random.default_rng(0)
    for _ in range(200):
        predicted = TRUE + 0.5 * rng.standard_normal((2, 200))
        found += better_rival(of_numbers(TRUE, predicted[0], ridge=predicted[1], PLS=predicted[1] + 1)) is not None
    assert found <= 20


@pytest.mark.slow
def test_studies_where_the_model_predicts_well_do_not_name_a_rival():
    assert better_rival(iris_study().comparison) is None
    study = wn.study(measured(), "y", splitting=wn.Splitting(folds=3))
    assert "suffice" in study.findings.sentences[0]
    assert study.findings.sentences[-1].startswith("A linear map of")


@pytest.mark.slow
def test_the_finding_of_a_measured_target_that_is_not_linear_starts_with_plain_knn():
    X = pd.DataFrame(np.random.default_rng(1).standard_normal((200, 2)), columns=["a", "b"])
    table = X.assign(y=np.cos(2 * X["a"]) + X["b"] ** 2)
    study = wn.study(table, "y", learner="minimum norm", splitting=wn.Splitting(folds=3))
    assert study.finding().startswith("Plain kNN predicts better than the linear map (")
    assert study.findings.sentences[-1].startswith("A linear map of")
    assert not any("kNN" in caveat for caveat in study.caveats)


@pytest.mark.slow
def test_the_finding_of_classes_that_no_global_metric_separates_starts_with_plain_knn():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-1, 1, (300, 2)), columns=["a", "b"])
    cells = np.floor(3 * (X["a"] + 1)) + np.floor(3 * (X["b"] + 1))
    study = wn.study(
        X.assign(y=np.where(cells % 2 == 0, "u", "v")), "y", learner="grlvq", splitting=wn.Splitting(folds=3)
    )
    assert study.finding().startswith("Plain kNN predicts better than the learned metric (")
    assert study.findings.sentences[-1].startswith("GRLVQ predicts")
    assert not any("kNN" in caveat for caveat in study.caveats)


def test_a_rival_must_be_better_over_groups_where_rows_belong_together():
    true = np.repeat(["u", "v"], 100)
    own = np.where(np.arange(200) < 20, "v", true)  # wrong in twenty rows, which are of one group
    comparison = of_classes(true, own, true)
    assert better_rival(comparison) is not None
    assert better_rival(replace(comparison, groups=pd.Series(np.arange(200) // 20))) is None
