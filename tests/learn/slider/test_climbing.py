import numpy as np
from numpy.testing import assert_allclose

import whynear as wn
from tests.helpers.slider import ranking_task, rows
from whynear.learn.slider.estimator import Climb, climb_all


def test_threads_do_not_change_the_result():
    X, y = rows()
    one, two = (wn.Slider(random_state=0, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert one.metric_ == two.metric_
    assert one.loss_curve_ == two.loss_curve_


def test_more_starts_never_rank_worse():
    X, y = rows()
    few, many = (wn.Slider(random_state=0, n_restarts=n).fit(X, y) for n in (1, 2))
    assert many.mean_rank_ <= few.mean_rank_
    assert many.uniform_rank_ == few.uniform_rank_


def climb(seed=0, **settings):
    task, _ = ranking_task(**settings)
    return Climb(task, task.shares_of(np.ones(task.n_features)), np.random.default_rng(seed))


def test_every_varying_feature_comes_once_before_any_comes_again():
    one = climb(constant=True)
    one.advance(3, tol=0.0)
    first = set(one.waiting.tolist())
    assert len(first) == 2
    one.advance(2, tol=0.0)
    assert (one.n_steps, len(one.waiting)) == (5, 0)
    assert one.shares[5] == 0


def test_shares_stay_shares_and_are_judged_as_they_are():
    one = climb()
    one.advance(20, tol=0.0)
    assert_allclose(one.shares.sum(), 1)
    assert_allclose(one.nearer, one.task.nearer(one.shares))
    assert (np.diff(one.curve) < 0).all()


def test_the_best_climb_ends_in_vain_or_out_of_steps():
    steps = []
    settings = {"tol": 0.0, "n_jobs": 1, "watch": steps.append}
    climbs = [climb(seed) for seed in (0, 1)]
    best = climb_all(climbs, patience=5, max_iter=1000, **settings)
    assert all(one.since >= 5 for one in climbs)
    assert best.nearer == min(one.nearer for one in climbs)
    assert steps[-1].loss == best.task.mean_rank(best.nearer)
    assert climb_all([climb()], patience=5, max_iter=2, **settings).n_steps == 2
