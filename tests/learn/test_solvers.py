import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from whynear.learn import GMLVQ
from whynear.learn.solvers import (
    Adam,
    Solution,
    epoch,
    lbfgs,
    lbfgs_in_turn,
    stochastic,
    warn_unless_converged,
    watcher,
)

TARGET = np.array([3.0, -1.0, 2.0])


def bowl(x):
    return float(np.square(x - TARGET).sum()), 2 * (x - TARGET)


def noisy_bowl(targets):
    def of_rows(x, rows):
        away = x - targets[rows]
        return float(np.square(away).sum(axis=1).mean()), 2 * away.mean(axis=0)

    return of_rows


def silent(step):
    pass


def test_lbfgs_finds_the_minimum_and_keeps_a_falling_curve():
    solution = lbfgs(bowl, np.zeros(3), max_iter=50, tol=1e-12, watch=silent)
    assert_allclose(solution.x, TARGET, atol=1e-6)
    assert solution.converged
    assert solution.n_iter == len(solution.loss_curve)
    assert (np.diff(solution.loss_curve) <= 0).all()


def test_running_out_of_iterations_is_no_convergence():
    solution = lbfgs(lambda x: (float((x**4).sum()), 4 * x**3), np.full(3, 9.0), max_iter=2, tol=0, watch=silent)
    assert not solution.converged
    with pytest.warns(ConvergenceWarning, match="GMLVQ did not converge in max_iter=2"):
        warn_unless_converged(solution, GMLVQ(max_iter=2))


def test_running_out_of_evaluations_is_no_convergence(monkeypatch):
    def few(*args, options, **kwargs):
        return minimize(*args, options={**options, "maxfun": 3}, **kwargs)

    monkeypatch.setattr("whynear.learn.solvers.scipy_minimize", few)
    assert not lbfgs(
        lambda x: (float((x**4).sum()), 4 * x**3), np.full(3, 9.0), max_iter=50, tol=0, watch=silent
    ).converged


def test_losses_in_turn_share_their_iterations():
    solution = lbfgs_in_turn([bowl, bowl, bowl], np.full(3, 1e6), max_iter=1, tol=0, watch=silent)
    assert solution.n_iter == 1
    assert not solution.converged


def test_what_the_watcher_raises_ends_the_minimisation():
    def stop(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lbfgs(bowl, np.zeros(3), max_iter=50, tol=1e-12, watch=stop)


def test_the_watcher_prints_and_calls_back(capsys):
    seen = []
    watch = watcher("GMLVQ", True, seen.append)
    lbfgs(bowl, np.zeros(3), max_iter=50, tol=1e-12, watch=watch)
    assert "[GMLVQ] iteration    1, loss" in capsys.readouterr().out
    assert [step.n_iter for step in seen] == list(range(1, len(seen) + 1))


def test_random_batches_come_near_the_minimum():
    targets = TARGET + 0.1 * np.random.default_rng(0).standard_normal((500, 3))
    solution = stochastic(
        noisy_bowl(targets), np.zeros(3), 500, max_iter=300, tol=1e-6, batch_size=50, learning_rate=0.3,
        rng=np.random.RandomState(0), watch=silent,
    )  # fmt: skip
    assert_allclose(solution.x, targets.mean(axis=0), atol=0.02)
    assert solution.converged


def test_one_batch_is_one_step_against_the_gradient():
    adam = Adam.at(np.zeros(3))
    epoch(adam, noisy_bowl(np.tile(TARGET, (8, 1))), 8, batch_size=8, learning_rate=0.1, rng=np.random.RandomState(0))
    assert_allclose(adam.x, 0.1 * np.sign(TARGET), rtol=1e-6)
    assert adam.n_steps == 1


def test_a_solution_counts_its_iterations():
    assert Solution(np.zeros(1), [3.0, 2.0]).n_iter == 2
