"""What a study says about features, in sentences."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests.helpers.studies import iris_study
from whynear.study.feature_findings import (
    MOST_NAMED,
    caveats_of_models,
    feature_sentences,
    listed_features,
    set_sentences,
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
