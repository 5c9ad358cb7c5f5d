import numpy as np
import pytest
from numpy.testing import assert_array_equal

from whynear import LANN, DiagonalMetric, LinearMetric, LocalMetric
from whynear.search.approximate import CandidateSearch
from whynear.search.exact import NeighborSearch

RNG = np.random.default_rng(12)
Y = RNG.standard_normal((1500, 6))
METRICS = {
    "linear": LinearMetric(RNG.standard_normal((4, 6))),
    "diagonal": DiagonalMetric(RNG.exponential(size=6)),
    "local": LocalMetric(Y, weights=0.5 + RNG.random(Y.shape)),
    "local full": LocalMetric(Y, omegas=np.eye(6) + 0.1 * RNG.standard_normal((1500, 6, 6))),
}


@pytest.fixture(scope="module", params=METRICS)
def search(request):
    metric = METRICS[request.param]
    return CandidateSearch(metric, None if isinstance(metric, LocalMetric) else Y, n_candidates=64, random_state=0)


@pytest.mark.slow
def test_what_is_found_is_measured_by_the_metric_and_recall_is_counted(search):
    X = np.random.default_rng(13).standard_normal((100, 6))
    sq, indices = search.nearest(X, 5)
    exact_sq, exact = NeighborSearch(search.metric, None if isinstance(search.metric, LocalMetric) else Y).nearest(X, 5)
    shared = np.mean([len(set(a) & set(b)) / 5 for a, b in zip(indices, exact, strict=True)])
    assert search.recall(X, 5) == pytest.approx(shared)
    assert shared > 0.9
    assert (sq >= exact_sq * (1 - 1e-12)).all()
    same = (indices == exact).all(axis=1)
    assert_array_equal(sq[same], exact_sq[same])


@pytest.mark.slow
def test_lists_leave_out_the_case_itself(search):
    assert search.lists.shape == (1500, 64)
    assert (search.lists != np.arange(1500)[:, None]).all()
    assert all(len(set(row)) == 64 for row in search.lists[:100])
    own = np.arange(1500)
    assert search.recall(Y, 5, exclude=own) > 0.9
    assert (search.nearest(Y, 5, exclude=own)[1] != own[:, None]).all()


def test_the_same_seed_gives_the_same_lists():
    first, second = (CandidateSearch(METRICS["linear"], Y, n_candidates=20, random_state=3).lists for _ in range(2))
    assert_array_equal(first, second)


def test_copies_do_not_crowd_a_case_out_of_its_neighbours():
    copies = np.repeat(Y[:30], 50, axis=0)
    lists = CandidateSearch(METRICS["linear"], copies, n_candidates=20, random_state=0).lists
    assert lists.shape == (1500, 20)
    assert (lists >= 0).all()
    assert (lists != np.arange(1500)[:, None]).all()


def test_more_candidates_than_cases_are_refused():
    with pytest.raises(ValueError, match="k=64 is more than the 10 cases"):
        CandidateSearch(METRICS["linear"], Y[:10])


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_extreme_scales_lose_nothing(scale):
    search = CandidateSearch(METRICS["linear"], Y * scale, n_candidates=64, random_state=0)
    assert search.recall(Y[:50] * scale, 5) > 0.9


@pytest.mark.slow
def test_a_learner_reports_what_its_lists_miss():
    y = (Y[:, 0] * Y[:, 1] > 0).astype(int)
    given = {"epochs": 2, "step": 0.1, "beta": 0.3, "decay": 0.0, "shared_epochs": 1, "shared_step": 0.01}
    exact, listed = (LANN(random_state=0, search=search, **given).fit(Y, y) for search in ("exact", "candidates"))
    assert exact.search_recall(Y[:50]) == 1.0
    assert 0.8 < listed.search_recall(Y[:50]) <= 1.0
    assert np.mean(exact.predict(Y) == listed.predict(Y)) > 0.95
    few = LANN(random_state=0, search="candidates", **given).fit(Y[:60], y[:60])
    assert few.search_recall(Y) == 1.0
    assert_array_equal(few.predict(Y), LANN(random_state=0, **given).fit(Y[:60], y[:60]).predict(Y))


@pytest.mark.parametrize("state", [np.random.RandomState, np.random.default_rng])
def test_a_seed_can_be_a_state_or_a_generator(state):
    first, second = (CandidateSearch(METRICS["linear"], Y, n_candidates=20, random_state=state(3)) for _ in range(2))
    assert_array_equal(first.lists, second.lists)
