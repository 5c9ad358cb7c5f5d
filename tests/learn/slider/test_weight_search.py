import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.helpers.slider import ranking_task
from whynear.learn.slider.rivals import JudgedWeights, best_of_all, nudge_each


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
