import numpy as np
import pytest
from numpy.testing import assert_allclose

import whynear as wn
from tests.helpers.slider import every_triplet, ranking_task, rows
from whynear.datasets import make_casebase
from whynear.learn.slider.rivals import JudgedWeights, best_of_all, nudge_each, program_weights

KINDS = [wn.DIET, wn.ForwardSelection, wn.BackwardElimination, wn.LPWeights]


def test_all_are_judged_by_the_same_comparisons():
    X, y = rows()
    ranks = {kind(random_state=3).fit(X, y).uniform_rank_ for kind in (wn.Slider, *KINDS)}
    assert len(ranks) == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("p", [1, 2, 3])
def test_the_criterion_falls_with_every_change(kind, p):
    X, y = rows(200)
    model = kind(p=p, random_state=0).fit(X / X.std(axis=0), y)
    assert (np.diff(model.loss_curve_) < 0).all()
    assert model.mean_rank_ < model.uniform_rank_
    assert_allclose(model.loss_curve_[-1], model.mean_rank_, rtol=1e-6)
    assert_allclose(model.metric_.weights.sum(), 1)


def best_single_changes(task_rank, start, change, allowed):
    """The greedy search as a double loop: the best single change while it helps."""
    weights, rank = start.copy(), np.inf if not start.any() else task_rank(start)
    while True:
        tried = {i: weights.copy() for i in range(len(weights)) if allowed(weights, i)}
        for i, changed in tried.items():
            changed[i] += change
        ranks = {i: task_rank(changed) for i, changed in tried.items() if changed.any()}
        if not ranks or min(ranks.values()) >= rank:
            return weights
        best = min(ranks, key=ranks.get)
        weights, rank = tried[best], ranks[best]


@pytest.mark.parametrize("kind", [wn.ForwardSelection, wn.BackwardElimination])
def test_the_greedy_searches_are_those_of_a_double_loop(kind, monkeypatch):
    tasks, search = [], kind._search_shares

    def overheard(self, task, *rest):
        tasks.append(task)
        return search(self, task, *rest)

    monkeypatch.setattr(kind, "_search_shares", overheard)
    X, y = rows(150)
    X = X / X.std(axis=0)
    model = kind(random_state=0).fit(X, y)

    def rank(weights):
        return tasks[0].nearer(tasks[0].shares_of(weights))

    if kind is wn.ForwardSelection:
        expected = best_single_changes(rank, np.zeros(5), 1.0, lambda weights, i: weights[i] == 0)
    else:
        expected = best_single_changes(rank, np.ones(5), -1.0, lambda weights, i: weights[i] == 1)
    assert_allclose(model.metric_.weights, expected / expected.sum())


def test_diet_keeps_to_its_levels():
    X, y = rows(200)
    weights = wn.DIET(n_levels=4, random_state=0).fit(X / X.std(axis=0), y).metric_.weights
    levels = weights / weights.max()
    best = min(np.abs(4 * levels * top / 4 - np.round(4 * levels * top / 4)).max() for top in (1, 2, 3, 4))
    assert best < 1e-6
    with pytest.raises(ValueError, match="n_levels must be an integer >= 1"):
        wn.DIET(n_levels=0).fit(X, y)


def test_the_program_finds_the_telling_feature_and_keeps_others_that_help():
    rng = np.random.default_rng(0)
    gaps = rng.normal([1.0, 0.8, 0.0, -1.0], 1.0, (200, 4))
    weights = program_weights(gaps, 1.0)
    assert ((weights >= 0) & (weights <= 1)).all()
    assert weights[0] > 0.1
    assert weights[1] > 0.1  # a sum of one alone would take the first feature only
    assert weights[3] < 0.01

    def lacking(w):
        return np.maximum(0, 1 - gaps @ w).sum()

    for _ in range(50):
        assert lacking(weights) <= lacking(rng.random(4)) + 1e-6
    for margins, fault in (((), "at least one number"), ((1.0, 0), r"> 0 \(each of them\), got 0")):
        with pytest.raises(ValueError, match=f"margins must .*{fault}"):
            wn.LPWeights(margins=margins).fit(*rows(40))


@pytest.mark.parametrize("kind", KINDS)
def test_triplets_serve_as_well(kind):
    X, y = rows(60)
    model = kind(random_state=0).fit_triplets(X / X.std(axis=0), every_triplet(y, np.random.default_rng(0)))
    assert model.mean_rank_ < model.uniform_rank_
    assert model.metric_.weights[:2].sum() > 0.5


@pytest.mark.slow
def test_slider_ranks_best_on_a_case_base():
    base = make_casebase(2_000, random_state=0)
    X = base.X.to_numpy()
    ranks = {}
    for kind in (wn.Slider, *KINDS):
        settings = {"n_triples": 4_000, "n_validation": 500} if kind is not wn.LPWeights else {"n_triples": 500}
        model = kind(random_state=0, **settings).fit(X[:1500], base.y[:1500])
        ranks[kind.__name__] = wn.ranking.mean_rank(model, X, base.y, n_mismatches=100)
    print({name: round(rank, 2) for name, rank in ranks.items()})
    assert min(ranks, key=ranks.get) == "Slider"


def judged(weights=(1.0, 1.0, 1.0, 1.0, 1.0), steps=None, **settings):
    task, _ = ranking_task(**settings)
    return JudgedWeights(task, weights, 1, (lambda step: None) if steps is None else steps.append)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_a_trial_is_judged_as_the_change_itself(p):
    one = judged(p=p)
    features, changes = [0, 2, 4], [0.5, -1.0, 2.0]
    found = one.trials(features, changes)
    for feature, change, nearer in zip(features, changes, found, strict=True):
        weights = np.ones(5)
        weights[feature] += change
        assert_allclose(nearer, one.task.nearer(one.task.shares_of(weights)))


def test_a_change_is_measured_the_same_exactly_or_by_adding():
    steps = []
    exact, added = judged(steps=steps), judged()
    exact.change(3, -0.25)
    added.change(3, -0.25, exactly=False)
    assert exact.nearer == added.nearer == exact.curve[-1]
    assert_allclose(exact.judged, added.judged, atol=1e-12)
    assert [(step.n_iter, step.loss) for step in steps] == [(1, exact.task.mean_rank(exact.nearer))]


def test_the_best_single_change_is_made_until_none_helps():
    one = judged()
    tried = one.trials(np.arange(5), np.full(5, -1.0))
    assert best_of_all(one, np.arange(5), -1.0)
    assert one.nearer == tried.min()
    assert one.weights[tried.argmin()] == 0
    assert not best_of_all(one, np.arange(0), -1.0)


def test_weights_move_by_levels_and_the_rank_only_falls():
    one = judged()
    while nudge_each(one, range(5), 4):
        pass
    assert_allclose(4 * one.weights, np.round(4 * one.weights))
    assert ((one.weights >= 0) & (one.weights <= 1)).all()
    assert (np.diff(one.curve) < 0).all()


def test_a_constant_column_has_no_weight():
    assert judged(np.ones(6), constant=True).weights.tolist() == [1, 1, 1, 1, 1, 0]
