import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

from tests.helpers.lvq import cost
from whynear import DiagonalMetric, LinearMetric, LocalMetric
from whynear.learn.blocks import Cases
from whynear.learn.lvq.objective import Squashing, global_loss_grad, local_loss_grad, squash

KINDS = ["full", "diagonal", "local full", "local diagonal"]


def problem(seed, kind, n=30, d=4, c=3, per_class=2, n_classes=3):
    rng = np.random.default_rng(seed)
    weights = rng.random(n)
    cases = Cases(rng.standard_normal((n, d)), np.arange(n) % n_classes, weights / weights.sum())
    labels = np.repeat(np.arange(n_classes), per_class)
    m = len(labels)
    shape = {"full": (c, d), "diagonal": (d,), "local full": (m, c, d), "local diagonal": (m, d)}[kind]
    return rng.standard_normal(shape), rng.standard_normal((m, d)), labels, cases


def loss_grad(kind):
    return local_loss_grad if kind.startswith("local") else global_loss_grad


def metric_of(kind, maps, prototypes):
    match kind:
        case "full":
            return LinearMetric(maps)
        case "diagonal":
            return DiagonalMetric(np.square(maps))
        case "local full":
            return LocalMetric(prototypes, omegas=maps)
    return LocalMetric(prototypes, weights=np.square(maps))


@pytest.mark.parametrize("squashing", Squashing)
@pytest.mark.parametrize("kind", KINDS)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(4, 25),
    d=st.integers(1, 5),
    c=st.integers(1, 5),
    per_class=st.integers(1, 3),
    sigma=st.sampled_from([1.0, 5.0]),
)
def test_gradients_are_those_of_finite_differences(kind, squashing, seed, n, d, c, per_class, sigma):
    maps, prototypes, labels, cases = problem(seed, kind, n, d, c, per_class, n_classes=2)

    def value(x):
        at = x[: maps.size].reshape(maps.shape), x[maps.size :].reshape(prototypes.shape)
        return loss_grad(kind)(*at, labels, cases, squashing, sigma)[0]

    x = np.concatenate([maps.ravel(), prototypes.ravel()])
    _, by_maps, by_prototypes = loss_grad(kind)(maps, prototypes, labels, cases, squashing, sigma)
    exact = np.concatenate([by_maps.ravel(), by_prototypes.ravel()])
    # The cost has kinks where two prototypes are equally near: there the two steps disagree.
    steps = [approx_fprime(x, value, step) for step in (1e-6, -1e-6)]
    smooth = np.abs(steps[0] - steps[1]) < 1e-3 * (1 + np.abs(steps[0]))
    assert_allclose(np.where(smooth, exact, 0), np.where(smooth, np.mean(steps, axis=0), 0), atol=2e-5, rtol=1e-4)
    assert smooth.mean() > 0.5


@pytest.mark.parametrize("squashing", Squashing)
@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_is_the_cost_by_its_definition(kind, squashing):
    for seed in range(5):
        maps, prototypes, labels, cases = problem(seed, kind, n=500, d=7, c=4)
        if kind.startswith("local"):
            maps /= np.sqrt(np.square(maps).reshape(len(maps), -1).sum(axis=1)).reshape(-1, *(1,) * (maps.ndim - 1))
        expected = cost(metric_of(kind, maps, prototypes), prototypes, labels, cases, squashing, 3.0)
        assert_allclose(loss_grad(kind)(maps, prototypes, labels, cases, squashing, 3.0)[0], expected, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_scale_of_a_map_does_not_matter(kind):
    maps, prototypes, labels, cases = problem(3, kind)
    first = loss_grad(kind)(maps, prototypes, labels, cases, Squashing.SIGMOID, 5.0)
    second = loss_grad(kind)(maps * 7.0, prototypes, labels, cases, Squashing.SIGMOID, 5.0)
    assert_allclose(first[0], second[0], rtol=1e-12)
    assert_allclose(first[1], second[1] * 7.0, rtol=1e-9, atol=1e-13)
    assert_allclose(np.vdot(first[1], maps), 0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_of_rows_add_up(kind, monkeypatch):
    maps, prototypes, labels, cases = problem(4, kind, n=101)
    whole = loss_grad(kind)(maps, prototypes, labels, cases, Squashing.SWISH, 2.0)
    monkeypatch.setattr("whynear.learn.lvq.objective.BLOCK_BYTES", 1000)
    for part, all_at_once in zip(
        loss_grad(kind)(maps, prototypes, labels, cases, Squashing.SWISH, 2.0), whole, strict=True
    ):
        assert_allclose(part, all_at_once, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_a_case_on_two_prototypes_pulls_at_neither(kind):
    maps, prototypes, labels, cases = problem(5, kind, n=3)
    prototypes[:] = cases.X[0]
    cases = cases._replace(X=np.repeat(cases.X[:1], 3, axis=0))
    value, by_maps, by_prototypes = loss_grad(kind)(maps, prototypes, labels, cases, Squashing.SIGMOID, 5.0)
    assert value == pytest.approx(0.5)
    assert not by_maps.any()
    assert not by_prototypes.any()


@pytest.mark.parametrize("squashing", Squashing)
def test_squashing_has_the_slope_it_says(squashing):
    for mu in np.linspace(-1, 1, 21):
        difference = (squash(mu + 1e-6, squashing, 4.0)[0] - squash(mu - 1e-6, squashing, 4.0)[0]) / 2e-6
        assert squash(mu, squashing, 4.0)[1] == pytest.approx(difference, abs=1e-8)
