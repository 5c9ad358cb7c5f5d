import numpy as np
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from tests.helpers.relevance import directions
from whynear.interpret import highs, programs


def test_the_time_limit_holds_for_each_program_not_for_all_together():
    U, b = directions(300, 30, seed=4)
    start = programs.least_norm(U, b)
    rest = highs.Programs(U, start.b, start.t, 1.01)
    j = 0
    while rest.model.getRunTime() < 0.5:
        rest.solve(j % 300, 1.0, 60.0)
        j += 1
    assert rest.solve(200, -1.0, 0.0) is None
    assert rest.solve(200, -1.0, 0.4) is not None


def test_a_program_infeasible_by_rounding_is_relaxed_once():
    U, b = directions(30, 5, seed=5)
    start = programs.least_norm(U, b)
    for missing, solvable in ((3e-8, True), (1e-4, False)):
        found = highs.Programs(U, start.b, start.t, 1 - missing).solve(3, 1.0, 60.0)
        assert (found is not None) == solvable
    assert highs.Programs(U, start.b, start.t, 1 - 3e-8).solve(3, 1.0, 60.0)[1] >= 0.9e-7


def test_one_hot_rows_start_from_a_complete_basis_with_highs_too():
    """HiGHS leaves the logicals of rows with right-hand side zero in its basis."""
    U, b = np.eye(6)[:, :4].copy(), np.array([0.0, 2.0, 0.0, 0.0])
    start = programs._from_basis(U, b, np.zeros(4), *programs._least_by_highs(U, b / 2, np.zeros(4)))
    assert_allclose([start.mu, np.abs(start.weights).sum(), start.weights[1]], [2, 1, 1])
    assert len(set(start.basis % 6)) == 4


def test_the_least_sum_is_that_of_scipy_and_zero_without_an_optimum():
    U, b = directions(10, 4, seed=2)
    start = programs.least_norm(U, b)
    places = np.array([0, 3, 7])
    cost = np.isin(np.tile(np.arange(10), 2), places).astype(float)
    equal = {"A_eq": np.hstack([U.T, -U.T]), "b_eq": start.b}
    expected = linprog(cost, A_ub=np.ones((1, 20)), b_ub=[1.1], **equal).fun
    assert_allclose(highs.least_sum(U, start.b, start.t, 1.1, places), expected, atol=1e-8)
    assert highs.least_sum(U, start.b, start.t, 0.5, places) == 0.0
