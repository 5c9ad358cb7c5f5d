import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from tests.helpers.notebook_html import HOSTILE, shown
from tests.helpers.verdicts import classes, made_up, measured, of_kind, two_of_four, with_categories_and_gaps
from whynear.data.encoder import TableEncoder
from whynear.datasets import make_truth
from whynear.utils.progress import silent
from whynear.verdict import set_sizes, sufficient_sets
from whynear.verdict.information import information
from whynear.verdict.kernel_ridge import KernelModels
from whynear.verdict.refits import Refits
from whynear.verdict.rules import as_good
from whynear.verdict.set_sizes import (
    ChosenSets,
    JudgedSizes,
    SetSearch,
    addition_order,
    candidates_of,
    judge_sizes,
    kept_longest,
    removal_order,
    surely_needed,
)
from whynear.verdict.sets import MOST_NAMED, find_stand_ins, name_set
from whynear.verdict.table import RowLosses, feature_columns, target_of

LEARNER = LogisticRegression()


@pytest.fixture(scope="module")
def linear():
    data = make_truth("relevance linear", 0)
    return sufficient_sets(LEARNER, data.X, data.y, random_state=0), data


def test_the_best_set_holds_what_is_needed_and_nothing_else():
    for kind in ("ring", "interaction"):
        data = make_truth(kind, 0)
        found = sufficient_sets(LEARNER, data.X.iloc[:, :5], data.y, random_state=0)
        assert set(found.best) == {"x_0", "x_1"}
        assert found.score >= found.score_of_all


@pytest.mark.slow
def test_one_of_each_block_is_in_the_best_set(linear):
    found, data = linear
    assert found.best[0] == "strong_0"
    assert set(found.best) & set(data.groups[0])
    assert not any(name.startswith("noise") for name in found.best)
    assert found.score >= found.score_of_all - 0.02


def test_the_curve_goes_up_to_all_features(linear):
    curve = linear[0].frame()
    assert list(curve) == ["n_features", "score", "error", "excess", "excess_error", "features"]
    assert list(curve["n_features"]) == list(map(len, curve["features"]))
    last = curve.iloc[-1]
    assert (last["n_features"], last["error"], last["excess"]) == (8, 0, 0)
    for smaller, larger in zip(curve["features"], curve["features"][1:], strict=False):
        assert set(smaller) < set(larger)


def test_the_curve_cannot_be_changed_by_its_copy(linear):
    found, _ = linear
    copy = found.frame()
    copy.loc[:, "score"] = 0.0
    assert found.curve["score"].min() > 0


def test_each_fold_chooses_a_set_of_the_same_size(linear):
    found, data = linear
    assert len(found.by_fold) == 5
    assert all(len(chosen) == len(found.best) and set(chosen) < set(data.X) for chosen in found.by_fold)
    assert all("strong_0" in chosen for chosen in found.by_fold)


def test_where_columns_say_the_same_folds_choose_different_ones():
    rng = np.random.default_rng(0)
    hidden = rng.standard_normal(80)
    X = pd.DataFrame(hidden[:, None] + 0.6 * rng.standard_normal((80, 6))).add_prefix("copy_")
    found = sufficient_sets(LEARNER, X, (hidden > 0).astype(int), random_state=0)
    assert len(found.best) < 6
    assert len(set(found.by_fold)) > 1


def test_where_all_features_are_the_best_set_no_fold_chooses():
    X, y = two_of_four()
    assert sufficient_sets(LEARNER, X[["one"]], y, random_state=0).by_fold == ()


def test_alternatives_are_the_stand_ins_of_the_members(linear):
    found, data = linear
    assert tuple(found.alternatives) == found.best
    assert found.alternatives["strong_0"] == ()
    for name in found.best[1:]:
        assert set(found.alternatives[name]) <= set(data.groups[0]) - {name}


@pytest.mark.parametrize("seed", range(3))
def test_a_set_explains_nearly_as_much_of_a_measurement_however_uncertain_that_is(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((80, 4))
    y = X @ [3.0, 0.6, 0.3, 0.0] + 0.3 * rng.standard_t(2, 80)
    found = sufficient_sets(LinearRegression(), X, y, random_state=seed)
    assert found.score >= found.score_of_all - 0.02


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_a_set_does_not_seem_to_lose_more_than_two_points_beyond_the_error(seed):
    X, y = load_wine(return_X_y=True, as_frame=True)
    found = sufficient_sets(LEARNER, X[::2], y[::2], random_state=seed)
    chosen = found.curve.iloc[list(found.curve["features"]).index(found.best)]
    assert found.score_of_all - found.score <= max(0.02, chosen["error"])


def test_a_set_that_seems_to_lose_much_accuracy_does_not_suffice_whatever_its_probabilities_are():
    target = target_of(LEARNER, np.arange(200) % 2, None, 200)
    right, half = np.ones(200), np.full(200, 0.25)
    every = RowLosses(half, right, half)
    for wrong, suffices in ((2, True), (4, True), (8, False)):  # 1.0 ± 0.7, 2.0 ± 1.0, 4.0 ± 1.4 points
        found = RowLosses(half, np.where(np.arange(200) < wrong, 0.0, right), half)
        assert as_good(found, every, target, 1.96) == suffices


@pytest.mark.slow
def test_a_set_that_surely_loses_little_suffices_however_clear_the_loss_is():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 2))
    y = (X @ [1.0, 0.03] > 0).astype(int)
    found = sufficient_sets(make_pipeline(StandardScaler(), LogisticRegression(C=100)), X, y, random_state=0)
    assert found.best == ("x0",)
    alone = found.curve.iloc[0]
    assert alone["excess"] > 1.96 * alone["excess_error"]


def test_no_smaller_set_is_named_where_noise_hides_what_a_set_lacks():
    data = make_truth("linear 50", random_state=0)
    found = sufficient_sets(LEARNER, data.X, data.y, random_state=0)
    seems_enough = found.curve["excess"] <= found.curve["excess_error"]
    assert found.curve["features"][seems_enough].iloc[0] == ("lone_0", "block_0_1")  # lone_1 is as strong
    assert set(found.best) == set(data.X)


@pytest.mark.slow
@pytest.mark.parametrize("draw", range(100, 106))
def test_a_set_found_among_flipped_labels_lacks_no_strong_feature(draw):
    data = make_truth("wide flipped labels", random_state=draw)
    best = set(sufficient_sets(LEARNER, data.X, data.y, random_state=draw).best)
    assert {name for name, strength in zip(data.X, data.strength, strict=True) if strength == "strong"} <= best
    assert all(best & set(block) for block in data.groups)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_two_needed_features_are_found_among_two_thousand(seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.standard_normal((120, 2_000))).add_prefix("g")
    X["g10"] = X["g3"] + 0.2 * rng.standard_normal(120)
    y = (X["g3"] + X["g7"] + 0.25 * rng.standard_normal(120) > 0).to_numpy()
    best = sufficient_sets(LEARNER, X, y, random_state=seed).best
    assert len(best) == 2
    assert "g7" in best
    assert {"g3", "g10"} & set(best)


def test_the_same_seed_gives_the_same_sets_on_any_number_of_threads():
    X, y = two_of_four(60)
    one, same = (sufficient_sets(LEARNER, X, y, random_state=0, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one == same


@pytest.mark.slow
@pytest.mark.parametrize("names", [["cheap", "dear"], ["dear", "cheap"]])
def test_a_dear_feature_is_exchanged_for_its_cheap_copy(names):
    X, y = two_of_four()
    frame = pd.DataFrame({names[0]: X["one"], names[1]: X["one"], "two": X["two"], "noise": X["noise_0"]})
    found = sufficient_sets(LEARNER, frame, y, costs={"dear": 50.0}, random_state=0)
    assert set(found.best) == {"cheap", "two"}


def test_a_needed_feature_is_kept_at_any_price():
    X, y = two_of_four()
    found = sufficient_sets(LEARNER, X, y, costs={"one": 1000.0}, random_state=0)
    assert set(found.best) == {"one", "two"}


def test_a_price_for_no_feature_of_the_table_is_refused():
    X, y = two_of_four()
    with pytest.raises(ValueError, match=r"costs must name features of the table, got 'tow'"):
        sufficient_sets(LEARNER, X, y, costs={"tow": 2.0})
    with pytest.raises(ValueError, match=r"costs\['two'\] must be a finite number > 0, got 0"):
        sufficient_sets(LEARNER, X, y, costs={"two": 0.0})


def test_a_tolerance_allows_sets_that_lose_as_much():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((150, 3)), columns=list("abc"))
    y = X @ [2.0, 1.0, 0.6] + 0.3 * rng.standard_normal(150)
    sizes = []
    for tolerance in (0.0, 15.0, 40.0):
        found = sufficient_sets(LinearRegression(), X, y, tolerance=tolerance, random_state=0)
        assert found.score >= found.score_of_all - tolerance / 100 - 1e-9
        sizes.append(len(found.best))
    assert sizes == [3, 2, 1]
    with pytest.raises(ValueError, match="tolerance must be a finite number >= 0, got -1"):
        sufficient_sets(LEARNER, X, y > 0, tolerance=-1.0)


def test_a_measured_target_has_sets_too():
    X, _ = two_of_four()
    y = X["one"] - X["two"] + np.random.default_rng(0).normal(0, 0.3, 120)
    found = sufficient_sets(LinearRegression(), X, y, random_state=0)
    assert set(found.best) == {"one", "two"}
    assert found.measure == "R2"
    assert 0.9 < found.score < 1


@pytest.mark.slow
def test_rows_of_a_group_stay_together():
    groups = np.arange(120) // 4
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((30, 3))[groups], columns=list("abc")) + 0.01 * rng.standard_normal((120, 3))
    y = rng.permutation(np.arange(30) % 2)[groups]  # only the memory of a group's other rows can predict it
    alone = sufficient_sets(LEARNER, X, y, random_state=0)
    together = sufficient_sets(LEARNER, X, y, groups=groups, random_state=0)
    assert alone.score_of_all > 0.9
    assert together.score_of_all < 0.75


def test_tables_with_categories_and_gaps_are_taken():
    X, y = with_categories_and_gaps()
    learner = make_pipeline(TableEncoder("onehot", "median"), LEARNER)
    found = sufficient_sets(learner, X, y, random_state=0)
    assert set(found.best) == {"colour", "size"}


def test_tables_of_different_lengths_are_refused():
    X, y = two_of_four()
    with pytest.raises(ValueError, match="X and y must have the same rows, got 120 and 119 instead"):
        sufficient_sets(LEARNER, X, y[:-1])


def test_of_one_feature_the_set_is_that_feature():
    X, y = two_of_four()
    found = sufficient_sets(LEARNER, X[["one"]], y, random_state=0)
    assert found.best == ("one",)
    assert found.score == found.score_of_all


def test_progress_goes_up():
    X, y = two_of_four(60)
    shares = []
    sufficient_sets(LEARNER, X, y, random_state=0, progress=lambda _, share: shares.append(share))
    assert shares == sorted(shares)
    assert 0 <= shares[0] < shares[-1] <= 1


def test_progress_is_written_to_stderr_on_request(capsys):
    X, y = two_of_four()
    sufficient_sets(LEARNER, X, y, random_state=0, progress=True)
    assert capsys.readouterr().err.splitlines()[-1].endswith("done")


def test_notebooks_show_the_set_and_its_replacements(linear):
    text = shown(linear[0])
    assert "strong_0" in text
    assert "none found" in text
    assert "with all" in text


def test_notebooks_show_hostile_names_as_text():
    assert "<script>alert(1)</script>" in shown(made_up(HOSTILE).sets)


SCALED = make_pipeline(StandardScaler(), LogisticRegression())


def judged(orders, by_fold, models=()):
    """Sizes judged as if searches had put four features in these orders, on all rows and on folds."""
    chosen = [ChosenSets(np.arange(4), given, {}, 4) for given in (orders, *by_fold)]
    return JudgedSizes({}, {2: 0}, np.arange(4), chosen[0], chosen[1:], list(models))


def named(found, prices=(1, 1, 1, 1)):
    X, y = two_of_four()
    target = classes(y)
    search = SetSearch(feature_columns(X), target, Refits(SCALED, X, y, target, 0), np.array(prices), n_jobs=1)
    return name_set([3, 2], 2, search, found)


def test_the_set_that_predicts_best_is_named_whoever_chose_it():
    wrong, right = [0, 1, 2, 3], [2, 3, 0, 1]
    assert named(judged([wrong, wrong], []))[0] == [3, 2]
    for found in (judged([wrong, right], []), judged([wrong, wrong], [[wrong, wrong], [right, wrong]])):
        best = named(found)
        assert set(best[0]) == {0, 1}
        assert best[1].score.mean() > 0.9
        assert named(found, prices=(1, 1, 1, 9))[0] == [3, 2]
    assert named(judged([wrong, wrong], [[wrong, right]]))[0] == [3, 2]  # that search was not the better one


def test_models_answer_that_answered_for_sets():
    (X, y), wrong = two_of_four(), [0, 1, 2, 3]
    learner = Refits(SCALED, X, y, classes(y), 0)
    kernel = named(judged([wrong, wrong], []), prices=(1, 1, 1, 9))[1]
    both = named(judged([wrong, wrong], [], [learner]), prices=(1, 1, 1, 9))[1]
    assert both.loss.mean() <= kernel.loss.mean()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_the_named_set_of_a_real_table_suffices_for_a_model_that_took_no_part(seed):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    found = sufficient_sets(SCALED, X, y, random_state=seed)
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=100 + seed)
    every, alone = (cross_val_score(SCALED, X[names], y, cv=folds).mean() for names in (list(X), list(found.best)))
    assert every - alone < 0.025


def of_table(X, target, members):
    columns = feature_columns(X)
    at = [columns.names.index(name) for name in members]
    return find_stand_ins(columns, target, at, [j for j in range(columns.n_features) if j not in at], None)


@pytest.fixture(scope="module")
def groups():
    columns, target, data = of_kind("relevance linear")
    return find_stand_ins(columns, target, [0, 1], range(2, columns.n_features), None), data


def test_the_groups_are_the_blocks_of_the_table(groups):
    found, data = groups
    assert [set(group) for group in found.groups] == [set(group) for group in data.groups]
    assert found.groups[0][0] == "weak_0_0"


def test_every_pair_of_a_group_is_named_in_both_directions(groups):
    found, _ = groups
    named = [(pair.feature, pair.stand_in) for pair in found.pairs]
    assert len(named) == len(set(named)) == 6
    assert {(other, one) for one, other in named} == set(named)


def test_prices_in_the_two_directions_are_opposite(groups):
    found, _ = groups
    prices = {(pair.feature, pair.stand_in): pair.price for pair in found.pairs}
    assert all(prices[one, other] == -prices[other, one] for one, other in prices)
    assert any(prices.values())


def test_stand_ins_are_named_cheapest_first(groups):
    found, _ = groups
    for name in found.groups[0]:
        prices = [pair.price for pair in found.of(name)]
        assert len(prices) == 2
        assert prices == sorted(prices)
    assert found.of("noise_0") == ()
    assert found.alternatives(["strong_0", "weak_0_0"])["strong_0"] == ()


def test_the_frame_has_one_row_for_each_pair(groups):
    frame = groups[0].frame()
    assert list(frame) == ["feature", "stand_in", "price", "error"]
    assert len(frame) == 6
    assert list(made_up().stand_ins.frame()["price"]) == [0.5, -0.5]


def test_an_exact_copy_costs_nothing():
    X = np.random.default_rng(0).standard_normal((80, 3))
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "copy": 5 - 2 * X[:, 0], "noise": X[:, 2]})
    found = of_table(frame, classes(X[:, 0] + X[:, 1] > 0), ["a", "b"])
    assert found.groups == (("a", "copy"),)
    assert {(pair.feature, pair.stand_in, pair.price, pair.error) for pair in found.pairs} == {
        ("a", "copy", 0, 0),
        ("copy", "a", 0, 0),
    }


def test_a_category_stands_in_for_its_codes():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 120)
    frame = pd.DataFrame({"code": codes, "text": np.where(codes, "high", "low"), "x": rng.standard_normal(120)})
    found = of_table(frame, measured(2 * codes + frame["x"]), ["code", "x"])
    assert found.groups == (("code", "text"),)


def test_a_member_that_nobody_misses_has_no_stand_ins():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 2))
    frame = pd.DataFrame({"a": X[:, 0], "useless": X[:, 1], "copy": X[:, 1]})
    found = of_table(frame, classes(X[:, 0] > 0), ["a", "useless"])
    assert found.pairs == found.groups == ()


def test_an_unlike_feature_is_no_stand_in_however_useful():
    X = np.random.default_rng(0).standard_normal((150, 2))
    frame = pd.DataFrame(X, columns=["a", "b"])
    found = of_table(frame, classes(X.sum(axis=1) > 0), ["a"])
    assert found.pairs == ()


def test_at_most_eight_are_named():
    rng = np.random.default_rng(0)
    z = rng.standard_normal(80)
    X = pd.DataFrame(z[:, None] + 0.01 * rng.standard_normal((80, 12)))
    found = find_stand_ins(feature_columns(X), classes(z > 0), [0], range(1, 12), None)
    assert len(found.groups[0]) == 1 + MOST_NAMED


def order_of(X, target, prices=None):
    columns = feature_columns(X)
    prices = np.ones(columns.n_features) if prices is None else np.array(prices)
    return removal_order(
        columns, target, np.arange(columns.n_features), prices, set_sizes.KernelModels(columns, target)
    )


@pytest.mark.parametrize("kind", ["relevance linear", "ring", "interaction"])
def test_strong_features_are_removed_last(kind):
    columns, target, data = of_kind(kind)
    every, prices = np.arange(columns.n_features), np.ones(columns.n_features)
    order = removal_order(columns, target, every, prices, KernelModels(columns, target))
    assert sorted(order) == list(range(columns.n_features))
    strong = set(np.flatnonzero(data.strength == "strong"))
    assert strong <= set(order[-2:])


def test_of_two_measurements_the_stronger_is_kept_longest():
    X, _ = two_of_four()
    y = X["one"] + 3 * X["two"] + np.random.default_rng(0).normal(0, 0.5, 120)
    assert order_of(X, measured(y))[-2:] == [0, 1]


@pytest.mark.parametrize("dear_first", [False, True])
def test_the_dear_one_of_two_copies_goes_first(dear_first):
    for seed in range(4):
        X, y = two_of_four(seed=seed)
        copied = np.column_stack([X["one"], X["one"], X["two"]])
        prices = [100.0, 1.0, 1.0] if dear_first else [1.0, 100.0, 1.0]
        assert order_of(copied, classes(y), prices)[0] == (0 if dear_first else 1)


def test_unlike_features_go_together_while_many_are_left(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 20))
    fits = []
    models = set_sizes.KernelModels

    def counted(own, aim, **options):
        fits.append(own.n_features)
        return models(own, aim, **options)

    monkeypatch.setattr(set_sizes, "KernelModels", counted)
    order = order_of(X, classes(X[:, 0] + X[:, 1] > 0))
    assert fits[0] == 20
    assert fits[1] < 19
    assert fits[-8:] == [9, 8, 7, 6, 5, 4, 3, 2]
    assert set(order[-2:]) == {0, 1}


def test_a_column_of_one_value_is_no_candidate_unless_all_are_such():
    X, y = two_of_four()
    columns, target = feature_columns(X.assign(one_value=1.0)), classes(y)
    assert candidates_of(columns, target, information(columns, target)).tolist() == [0, 1, 2, 3]
    columns = feature_columns(np.ones((120, 2)))
    assert candidates_of(columns, target, information(columns, target)).tolist() == [0, 1]


def test_features_are_added_in_the_order_of_their_use():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((150, 6))
    columns, target = feature_columns(X), classes(3 * X[:, 4] + X[:, 2] > 0)
    prices, few = np.ones(6), np.array([0, 2, 5])
    assert addition_order(columns, target, np.arange(6), prices, KernelModels(columns, target))[-2:] == [2, 4]
    prices[4] = 1000.0
    assert addition_order(columns, target, np.arange(6), prices, KernelModels(columns, target))[-1] != 4
    assert len(addition_order(columns, target, few, prices, KernelModels(columns.only(few), target))) == 3


def test_few_features_are_all_candidates():
    X, y = two_of_four()
    columns, target = feature_columns(X), classes(y)
    assert candidates_of(columns, target, information(columns, target)).tolist() == [0, 1, 2, 3]


def test_of_many_informative_features_each_hidden_one_keeps_some():
    rng = np.random.default_rng(0)
    hidden = rng.standard_normal((150, 3))
    X = np.column_stack(
        [np.repeat(hidden, 30, axis=1) + 0.1 * rng.standard_normal((150, 90)), rng.standard_normal((150, 9))]
    )
    columns, target = feature_columns(X), classes(hidden @ [2.0, 1.5, 1.0] > 0)
    informed = information(columns, target)
    assert informed.found.sum() > set_sizes.MOST_CANDIDATES
    chosen = candidates_of(columns, target, informed)
    assert len(chosen) == len(set(chosen)) == set_sizes.MOST_CANDIDATES
    assert {0, 1, 2} <= set(chosen // 30)


def judged_of_set_sizes(learner, X, y, report=silent, outside=()):
    target = classes(y)
    search = SetSearch(feature_columns(X), target, Refits(learner, X, y, target, 0), np.ones(X.shape[1]))
    return judge_sizes(search, outside, np.random.default_rng(0), report)


def stripes(n=400):
    """Twenty stripes along one of three columns, too narrow for the kernels."""
    X = pd.DataFrame(np.random.default_rng(0).random((n, 3)), columns=["across", "other", "another"])
    return X, (np.floor(20 * X["across"]) % 2).to_numpy().astype(int)


def test_sizes_go_up_to_all_features_and_two_suffice():
    X, y = two_of_four()
    found = judged_of_set_sizes(DummyClassifier(), X, y)
    assert list(found.losses) == list(found.searches) == [1, 2, 3, 4]
    losses = [found.losses[size].loss.mean() for size in (1, 2, 4)]
    assert losses[1] < losses[0]
    assert losses[1] <= losses[2]


@pytest.mark.slow
def test_a_learner_that_is_clearly_better_judges_the_sets_too():
    X, y = stripes()
    steps = []
    with_tree = judged_of_set_sizes(
        DecisionTreeClassifier(random_state=0), X, y, lambda step, _share: steps.append(step)
    )
    assert with_tree.losses[3].score.mean() > 0.8
    assert "judge sets by the learner" in steps
    found = sufficient_sets(DecisionTreeClassifier(random_state=0), X, y, random_state=0)
    assert found.score_of_all > 0.8
    assert found.score > found.score_of_all - 0.05
    assert "across" in found.best


def test_a_learner_that_is_worse_is_asked_for_all_features_only():
    X, y = two_of_four()
    steps = []
    judged_of_set_sizes(DummyClassifier(), X, y, lambda step, _share: steps.append(step))
    assert "judge sets by the learner" not in steps


def test_an_outside_model_that_is_clearly_better_judges_the_sets_too():
    X, y = stripes()
    tree = Refits(DecisionTreeClassifier(random_state=0), X, y, classes(y), 0, name="a tree")
    steps = []
    found = judged_of_set_sizes(DummyClassifier(), X, y, lambda step, _share: steps.append(step), [tree])
    assert found.models == [tree]
    assert found.losses[3].score.mean() > 0.8
    assert "judge sets by a tree" in steps


def test_surely_needed_features_are_kept_longest():
    X, y = two_of_four()
    needed = surely_needed(feature_columns(X), classes(y), 1)
    assert needed == [0, 1]
    assert kept_longest([1, 3, 2], needed) == [3, 2, 1, 0]
