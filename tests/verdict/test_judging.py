from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import whynear as wn
from tests.helpers.notebook_html import shown
from tests.helpers.verdicts import classes, two_of_four, with_categories_and_gaps
from whynear import LinearMetric, relevance_intervals
from whynear.datasets import make_truth
from whynear.utils.progress import silent
from whynear.verdict import judging, sufficient_sets, verdicts
from whynear.verdict.judging import _part, _with_many_rows, _with_members, resampled_verdicts
from whynear.verdict.kernel_ridge import KernelModels
from whynear.verdict.refits import JudgedTable
from whynear.verdict.rules import (
    AGREED,
    INDISPENSABLE,
    NO_EVIDENCE,
    REPLACEABLE,
    UNDECIDED,
    WORDS,
    Costs,
    Evidence,
    Information,
    decide,
)
from whynear.verdict.table import feature_columns, target_of
from whynear.work.processes import Processes

LEARNER = LogisticRegression()
COLUMNS = ["feature", "verdict", "loss_without", "loss_error", "p_value", "effect", "q_value", "stability"]
MORE = ("relevance linear", "linear 200", "interaction")
TWO_OF_FOUR = {"one": "indispensable", "two": "indispensable", "noise_0": "no evidence", "noise_1": "no evidence"}


def words(found):
    return dict(zip(found.feature_names, found.verdict.tolist(), strict=True))


def judged(X, y, learner=LEARNER, seed=0, n_resamples=4, **options):
    return verdicts(learner, X, y, random_state=seed, n_resamples=n_resamples, **options)


def same_but_undecided(one, other):
    """Whether two verdicts on each feature agree, or one of them is that the rows do not settle it."""
    return all(word == other[name] or "undecided" in (word, other[name]) for name, word in one.items())


@pytest.fixture(scope="module")
def linear():
    data = make_truth("relevance linear", 0)
    return judged(data.X, data.y), data


@pytest.fixture(scope="module")
def small():
    X, y = two_of_four()
    return judged(X, y), X, y


def test_verdicts_agree_with_the_truth(linear):
    found, data = linear
    right = {"strong": "indispensable", "weak": "replaceable", "irrelevant": "no evidence"}
    assert words(found) == {name: right[word] for name, word in zip(data.X, data.strength, strict=True)}
    assert found.works
    assert found.score > 0.9


@pytest.mark.slow
def test_relevance_adds_its_bounds_and_changes_no_verdict(small):
    found, X, y = small
    relevance = relevance_intervals(LinearMetric([[1.0, 1.0, 0.0, 0.0]], list(X)), X)
    other = judged(X, y, relevance=relevance)
    frame = other.frame()
    assert list(frame) == [*COLUMNS, "lower", "upper"]
    assert_allclose(frame["upper"], relevance.upper)
    pd.testing.assert_frame_equal(frame[COLUMNS], found.frame())


@pytest.mark.slow
def test_the_same_seed_gives_the_same_answer_on_any_number_of_threads(small):
    found, X, y = small
    assert judged(X, y, n_jobs=2) == found
    assert judged(X, y, seed=1) != found


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner",
    [
        LEARNER,
        KNeighborsClassifier(),
        RandomForestClassifier(20, random_state=0),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_any_classifier_gives_the_same_verdicts_on_a_clear_table(learner):
    X, y = two_of_four()
    assert words(judged(X, y, learner)) == TWO_OF_FOUR


@pytest.mark.slow
def test_an_array_gives_the_same_verdicts_as_a_table(small):
    found, X, y = small
    from_array = judged(X.to_numpy(), y.tolist())
    assert from_array.feature_names == ("x0", "x1", "x2", "x3")
    assert from_array.verdict.tolist() == found.verdict.tolist()
    assert_allclose(from_array.loss, found.loss)
    assert_allclose(judged(X.to_numpy().tolist(), y).loss, found.loss)


def test_a_regressor_has_points_of_r2():
    X, _ = two_of_four()
    y = X["one"] - X["two"] + np.random.default_rng(0).normal(0, 0.3, 120)
    found = judged(X, y, LinearRegression())
    assert words(found) == TWO_OF_FOUR
    assert found.measure == "R2"
    assert found.loss[0] > 30


def test_a_pipeline_takes_a_table_with_categories_and_gaps():
    X, y = with_categories_and_gaps()
    steps = make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_exclude=np.number)),
        (SimpleImputer(), make_column_selector(dtype_include=np.number)),
    )
    found = judged(X, y, make_pipeline(steps, RandomForestClassifier(20, random_state=0)))
    assert found.named("indispensable") in [("colour", "size"), ("size", "colour")]
    assert "replaceable" not in words(found).values()


@pytest.mark.slow
def test_rows_of_a_group_are_held_out_together():
    groups = np.arange(120) // 4
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))[groups] + 0.01 * rng.standard_normal((120, 3))
    y = rng.permutation(np.arange(30) % 2)[groups]  # only the memory of a group's other rows can predict it
    learner = KNeighborsClassifier(1)
    assert judged(X, y, learner, n_resamples=1).works
    together = judged(X, y, learner, n_resamples=1, groups=groups)
    assert not together.works
    assert set(together.verdict) <= {"undecided", "no evidence"}


def test_columns_without_variation_carry_no_information():
    X, y = two_of_four(60)
    found = judged(X[["one", "two"]].assign(constant=1.0), y, n_resamples=1)
    assert words(found)["constant"] == "no evidence"
    assert found.loss[2] == 0


@pytest.mark.parametrize("learner", [LEARNER, LinearRegression()], ids=["classes", "measured"])
def test_a_target_without_variation_is_refused(learner):
    X, y = two_of_four()
    with pytest.raises(ValueError, match=r"^y must .* in every row"):
        verdicts(learner, X, np.ones_like(y))


def test_tables_that_do_not_fit_together_are_refused():
    X, y = two_of_four()
    with pytest.raises(ValueError, match="X and y must have the same rows, got 120 and 119 instead"):
        verdicts(LEARNER, X, y[:-1])
    with pytest.raises(ValueError, match="groups must have as many rows as y, got 130 and 120 instead"):
        verdicts(LEARNER, X, y, groups=np.arange(130))
    with pytest.raises(ValueError, match="n_resamples must be an integer >= 0, got -1 instead"):
        verdicts(LEARNER, X, y, n_resamples=-1)


def test_progress_goes_from_nothing_to_done():
    X, y = two_of_four(60)
    steps = []
    judged(X, y, n_resamples=1, progress=lambda step, share: steps.append((step, share)))
    shares = [share for _, share in steps]
    assert shares == sorted(shares)
    assert (shares[0], steps[-1]) == (0.0, ("done", 1.0))


def test_progress_is_written_to_stderr_on_request(capsys):
    X, y = two_of_four()
    judged(X, y, n_resamples=1, progress=True)
    assert capsys.readouterr().err.splitlines()[-1].endswith("done")


STEPS = ["fit models", "leave out", "refit the learner", "judge features again", "judge sets", "swap"]


@pytest.mark.parametrize("start", STEPS)
def test_an_interrupt_ends_the_work_in_every_step(start):
    X, y = two_of_four(60)

    def interrupt(step, _share):
        if step.startswith(start):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judged(X, y, n_resamples=1, n_jobs=2, progress=interrupt)


def test_without_resamples_the_stability_is_unknown(small):
    _, X, y = small
    found = judged(X, y, n_resamples=0)
    assert words(found) == TWO_OF_FOUR
    assert np.isnan(found.stability).all()
    assert "nan" not in shown(found)


def test_a_copy_makes_an_indispensable_feature_replaceable_and_both_name_each_other(small):
    _, X, y = small
    found = judged(X.assign(copy=3 - 2 * X["one"]), y)
    after = words(found)
    assert {after["one"], after["copy"]} <= {"replaceable", "undecided"}
    assert after["two"] == "indispensable"
    assert [pair.stand_in for pair in found.stand_ins.of("one")] == ["copy"]
    assert [pair.stand_in for pair in found.stand_ins.of("copy")] == ["one"]


def test_more_noise_changes_no_verdict_but_to_or_from_undecided(small):
    before, X, y = small
    noise = np.random.default_rng(9).standard_normal((120, 2))
    after = words(judged(X.assign(more=noise[:, 0], most=noise[:, 1]), y))
    assert {after.pop("more"), after.pop("most")} <= {"no evidence", "undecided"}
    assert same_but_undecided(words(before), after)
    assert after["one"] == "indispensable"


def test_units_and_names_of_the_columns_change_nothing(small):
    before, X, y = small
    other = (X * [1e-6, 1e6, 3, 1] + [1, 1e6, 0, -5]).set_axis(["w", "x", "y", "z"], axis=1)
    after = judged(other, y, make_pipeline(StandardScaler(), LEARNER))
    assert after.verdict.tolist() == before.verdict.tolist()
    assert_allclose(after.effect, before.effect, atol=1e-6)


@pytest.mark.slow
def test_the_order_of_the_columns_changes_no_verdict(linear):
    before, data = linear
    after = judged(data.X.iloc[:, ::-1], data.y, n_resamples=1)
    assert words(after) == words(before)
    assert_allclose(after.q_value[::-1], before.q_value, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sick", *(pytest.param(kind, marks=pytest.mark.slow) for kind in MORE)])
def test_another_order_of_rows_and_another_seed_change_only_what_is_undecided(kind):
    data = make_truth(kind, 1)
    rows = np.random.default_rng(0).permutation(200)
    one = judged(data.X, data.y, seed=0)
    other = judged(data.X.iloc[rows], data.y[rows], seed=1)
    assert same_but_undecided(words(one), words(other))


def test_nothing_is_indispensable_for_permuted_labels():
    X, y = two_of_four(60)
    for seed in range(4):
        found = judged(X, np.random.default_rng(seed).permutation(y), seed=seed, n_resamples=1)
        assert not set(found.verdict) & {"indispensable", "replaceable"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_indispensable_on_any_of_twenty_tables_with_permuted_labels(seed):
    data = make_truth("null", 100 + seed)
    found = verdicts(KNeighborsClassifier(), data.X, data.y, random_state=seed)
    assert found.named("indispensable") == ()


@pytest.mark.slow
def test_being_sick_needs_weight_and_height_and_never_age():
    tables = [make_truth("sick", seed) for seed in range(20)]
    found = [words(verdicts(LEARNER, data.X, data.y, random_state=seed)) for seed, data in enumerate(tables)]
    assert all({one["weight"], one["height"]} == {"indispensable"} for one in found)
    assert all(one["age"] in {"no evidence", "undecided"} for one in found)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "kind", ["relevance xor", "linear flipped labels", "blocks 0.9", "sums", "ring", "class covariance"]
)
def test_nothing_is_falsely_called_indispensable(kind, seed):
    data = make_truth(kind, seed)
    found = verdicts(KNeighborsClassifier(), data.X, data.y, random_state=seed)
    strong = {name for name, strength in zip(data.X, data.strength, strict=True) if strength == "strong"}
    assert set(found.named("indispensable")) <= strong


def test_columns_of_one_feature_get_one_verdict():
    """Each of two copies is replaceable by the other; the feature they form is indispensable."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((120, 3)), columns=["one", "two", "noise"])
    X["two"] = X["one"] + 0.01 * rng.standard_normal(120)
    y = (X["one"] > 0).to_numpy().astype(int)
    apart = verdicts(LogisticRegression(), X, y, n_resamples=0, random_state=0)
    together = verdicts(LogisticRegression(), X, y, features=["both", "both", "noise"], n_resamples=0, random_state=0)
    assert apart.named("indispensable") == ()
    assert together.feature_names == ("both", "noise")
    assert together.named("indispensable") == ("both",)
    assert together.sets.best == ("both",)


TREE = DecisionTreeClassifier(min_samples_leaf=3, random_state=0)


def stripes(n, seed, *, n_stripes=16, noise=0.5):
    """A column that determines the class in stripes, which only many rows show, and a column that hints at it."""
    rng = np.random.default_rng(seed)
    place = rng.random(n)
    y = np.floor(n_stripes * place).astype(int) % 2
    return pd.DataFrame({"stripes": place, "hint": y + noise * rng.normal(size=n)}), y


@pytest.fixture(scope="module")
def others():
    X, y = two_of_four(n=400)
    learner = KNeighborsClassifier(9)
    used, rng = np.arange(0, 400, 4), np.random.default_rng(0)
    return JudgedTable(learner, X, y, feature_columns(X), target_of(learner, y), Processes(1)).on_many_rows(used, rng)


def costs(losses, deviations):
    d = len(losses)
    return Costs(np.asarray(losses), np.full(d, 0.5), np.asarray(deviations), np.asarray(losses) + 0.8)


def evidence_of(losses, deviations, informative):
    """Evidence on features that leaving out costs this much, of which some are found to carry information."""
    q_values = np.where(informative, 0.0, 1.0)
    information = Information(q_values, q_values, np.where(informative, 8.0, 0.0), np.zeros(len(losses)), q_values)
    return Evidence(information, costs(losses, deviations), works=True, n_rows=1000)


def test_a_feature_that_looks_needed_must_be_missed_on_many_rows(others):
    found = evidence_of([9.0, 9.0, 9.0, 0.0], [9.0, 9.0, 9.0, 0.0], [True, True, True, False])
    assert found.costs.needed.tolist() == [True, True, True, False]
    checked = _with_many_rows(found, others, silent).costs
    assert checked.needed.tolist() == [True, True, False, False]
    assert checked.losses[3] == found.costs.losses[3]
    assert checked.losses[2] < 2 < 5 < checked.losses[0]


def test_features_without_evidence_are_undecided_if_they_are_missed_together(others):
    blind = evidence_of([0.0, 9.0, 0.0, 5.0], [0.0, 9.0, 0.0, 1.0], [False, True, False, True])
    assert decide(blind).tolist() == [NO_EVIDENCE, INDISPENSABLE, NO_EVIDENCE, UNDECIDED]
    checked = _with_many_rows(blind, others, silent)
    assert checked.missed_together
    assert decide(checked).tolist() == [UNDECIDED, INDISPENSABLE, UNDECIDED, UNDECIDED]
    harmless = evidence_of([9.0, 9.0, 0.0, 0.0], [9.0, 9.0, 0.0, 0.0], [True, True, False, False])
    checked = _with_many_rows(harmless, others, silent)
    assert decide(checked).tolist() == [INDISPENSABLE, INDISPENSABLE, NO_EVIDENCE, NO_EVIDENCE]


def test_a_replaceable_member_of_the_set_must_cost_little_on_many_rows(others):
    found = evidence_of([0.0] * 4, [0.0] * 4, [True] * 4)
    in_set = np.array([True, True, False, False])
    checked = _with_members(decide(found), found.costs, in_set, others, silent)
    assert decide(found).tolist() == [REPLACEABLE] * 4
    decided = decide(replace(found, most_on_many_rows=checked.most))
    assert decided.tolist() == [UNDECIDED, UNDECIDED, REPLACEABLE, REPLACEABLE]
    assert checked.losses[0] > 5
    assert checked.losses[2:].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 8))])
@pytest.mark.parametrize("n_stripes", [16, pytest.param(24, marks=pytest.mark.slow)])
def test_what_only_many_rows_show_is_not_denied(n_stripes, seed):
    X, y = stripes(5_000, seed, n_stripes=n_stripes)
    found = verdicts(TREE, X, y, random_state=seed, n_resamples=4, n_jobs=1)
    said = dict(zip(found.feature_names, found.verdict, strict=True))
    assert said["stripes"] in (INDISPENSABLE, UNDECIDED)
    assert "stripes" in found.sets.best


def test_a_set_of_few_rows_is_not_named_if_more_rows_miss_a_feature():
    X, y = stripes(5_000, 1)
    few = sufficient_sets(TREE, X[:600], y[:600], random_state=1, n_jobs=1)
    many = sufficient_sets(TREE, X, y, random_state=1, n_jobs=1)
    assert few.check is None
    assert "stripes" in many.best
    assert many.score_of_all - many.score <= 0.02


def test_a_checked_set_states_the_scores_on_many_rows():
    X, y = two_of_four(n=1_500)
    found = sufficient_sets(LogisticRegression(), X, y, random_state=0, n_jobs=1)
    assert set(found.best) == {"one", "two"}
    assert (found.check.n_rows, found.check.n_judged) == (1_500, 900)
    assert (found.score, found.score_of_all) == (found.check.score, found.check.score_of_all)
    assert found.lost_error == found.check.lost_error
    assert found.score > found.score_of_all - 0.01


@pytest.mark.slow
def test_letters_verdicts_hold_for_rows_that_had_no_part_in_them():
    data = wn.datasets.load("letter")
    order = np.random.default_rng(0).permutation(len(data.y))
    X, y = data.X.iloc[order].reset_index(drop=True), np.asarray(data.y)[order]
    known, new = slice(0, 2_000), slice(2_000, 8_000)
    learner = make_pipeline(StandardScaler(), wn.LANN(random_state=0))
    found = verdicts(learner, X[known], y[known], random_state=0, n_resamples=4)

    def accuracy(features):
        model = make_pipeline(StandardScaler(), wn.LANN(random_state=1)).fit(X[known][features], y[known])
        return 100 * np.mean(model.predict(X[new][features]) == y[new])

    every = accuracy(list(X))
    assert every - accuracy(list(found.sets.best)) < 2.5
    for name in found.named(INDISPENSABLE):
        assert every - accuracy([other for other in X if other != name]) > 0.5
    for name in found.named(REPLACEABLE):
        assert every - accuracy([other for other in X if other != name]) < 2.5


def resampled(X, y, n_resamples=4, seed=0, groups=None):
    models = KernelModels(feature_columns(X), classes(y, groups))
    return resampled_verdicts(models, n_resamples, np.random.default_rng(seed), Processes(1), silent)


def test_every_resample_has_a_word_for_every_feature():
    found = resampled(*two_of_four())
    assert found.shape == (4, 4)
    assert set(found.ravel()) <= set(WORDS)
    assert (found[:, :2] == "indispensable").all()


def test_resamples_follow_the_seed():
    X = np.random.default_rng(0).standard_normal((60, 6))
    y = X[:, 0] + np.random.default_rng(1).standard_normal(60) > 0
    draws = [resampled(X, y, 6, seed) for seed in (0, 0, 1)]
    assert_array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[0], draws[2])
    assert len({tuple(row) for row in draws[0]}) > 1


def test_without_resamples_there_are_none():
    assert resampled(*two_of_four(), n_resamples=0).shape == (0, 4)


def test_a_part_keeps_the_shares_of_the_classes_and_whole_groups():
    groups = np.arange(200) // 4
    y = (groups < 10).astype(int)
    rows = _part(classes(y, groups), np.random.default_rng(0))
    assert len(rows) == 160
    assert y[rows].sum() == 32
    assert set(np.bincount(groups[rows])) == {0, 4}


@pytest.mark.slow
def test_what_resamples_do_not_agree_on_is_undecided(monkeypatch):
    X, y = two_of_four()
    word = np.array(["indispensable", "indispensable", "no evidence", "no evidence"])
    other = np.array(["indispensable", "undecided", "no evidence", "no evidence"])
    for agreeing in (2, 3):
        made = np.array([word] * agreeing + [other] * (4 - agreeing))
        monkeypatch.setattr(judging, "resampled_verdicts", lambda *_, made=made: made)
        found = verdicts(LogisticRegression(), X, y, random_state=0, n_resamples=4)
        assert found.stability[1] == agreeing / 4
        assert found.verdict[1] == ("indispensable" if agreeing / 4 >= AGREED else "undecided")
        assert found.verdict[0] == "indispensable"


def test_the_stability_is_the_share_of_resamples_with_the_same_verdict():
    X, y = two_of_four(60)
    found = verdicts(LogisticRegression(), X, y, random_state=0, n_resamples=7)
    assert found.stability * 7 == pytest.approx(np.round(found.stability * 7))
    assert found.stability[:2].min() > AGREED
