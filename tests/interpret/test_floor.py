import os
import pickle
import signal

import numpy as np
import pytest
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from tests.helpers.learners import NearestClassMean
from whynear.interpret import Floor

LEARNER = make_pipeline(StandardScaler(), wn.MinimumNormRegressor())


class Dies(wn.MinimumNormRegressor):
    """Kills its own process the first time, or every time."""

    def __init__(self, marker=None, always=False):
        super().__init__()
        self.marker = marker
        self.always = always

    def fit(self, X, y):
        if self.always or not os.path.exists(self.marker):
            with open(self.marker, "w"):
                pass
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y)


@pytest.fixture(scope="module")
def data():
    return wn.datasets.make_relevance(300, random_state=0)


def test_noise_stays_below_and_signal_above_the_floor(data):
    floor = wn.relevance_floor(LEARNER, data.X, data.y, n_probes=20, random_state=0)
    assert 0 < floor < 0.5
    assert floor.confidence == pytest.approx(20 / 21)
    assert len(floor.bounds) == 20
    relevance = wn.relevance_intervals(LEARNER.fit(data.X, data.y), data.X, floor=floor)
    by_name = dict(zip(data.feature_names, relevance.strength, strict=True))
    assert by_name["strong_0"] == "strong"
    assert relevance.floor is floor
    assert np.mean([by_name[f"noise_{i}"] == "irrelevant" for i in range(4)]) >= 0.75


def test_the_floor_is_a_number_that_survives_pickle_and_says_its_confidence():
    floor = Floor([0.1, 0.3, 0.2])
    assert floor == 0.3
    assert repr(floor) == "Floor(0.3, confidence=0.750)"
    again = pickle.loads(pickle.dumps(floor))
    assert (again, again.confidence, again.bounds.tolist()) == (0.3, 0.75, [0.1, 0.2, 0.3])


@pytest.mark.slow
def test_the_same_seed_gives_the_same_floor_on_any_number_of_processes(data):
    one, two = (wn.relevance_floor(LEARNER, data.X, data.y, 6, 1, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one == two
    assert one != wn.relevance_floor(LEARNER, data.X, data.y, 6, 2)


def test_directions_are_kept_for_the_probes_too(data):
    floor = wn.relevance_floor(LEARNER, data.X, data.y, 4, 0, effective_dim=6)
    assert 0 <= floor < 1


def test_any_learner_and_plain_arrays_work():
    data = wn.datasets.make_xor(120, random_state=0)
    nca = NeighborhoodComponentsAnalysis(2, max_iter=5, random_state=0)
    assert 0 < wn.relevance_floor(nca, data.X.to_numpy(), data.y, 3, 0) <= 1
    assert 0 < wn.relevance_floor(NearestClassMean(), data.X, data.y, 3, 0) <= 1


def test_no_probes_are_refused(data):
    with pytest.raises(ValueError, match="n_probes must be an integer >= 1, got 0"):
        wn.relevance_floor(LEARNER, data.X, data.y, 0)


@pytest.mark.slow
def test_a_killed_worker_is_replaced_once_and_the_result_is_the_same(data, tmp_path):
    plain = wn.relevance_floor(wn.MinimumNormRegressor(), data.X, data.y, 8, 0)
    mended = wn.relevance_floor(Dies(str(tmp_path / "died")), data.X, data.y, 8, 0, n_jobs=2)
    assert mended == plain


@pytest.mark.slow
def test_a_worker_that_dies_again_ends_in_a_clear_error(data, tmp_path):
    with pytest.raises(OSError, match="its process was killed twice"):
        wn.relevance_floor(Dies(str(tmp_path / "died"), always=True), data.X, data.y, 8, 0, n_jobs=2)


@pytest.mark.parametrize("state", [np.random.RandomState, np.random.default_rng])
def test_a_seed_can_be_a_state_or_a_generator(data, state):
    first, second = (
        wn.relevance_floor(LEARNER, data.X[:60], data.y[:60], n_probes=2, random_state=state(3)) for _ in range(2)
    )
    assert first == second


def test_a_seed_that_is_none_is_refused(data):
    with pytest.raises(ValueError, match="random_state must be None, an integer >= 0"):
        wn.relevance_floor(LEARNER, data.X, data.y, random_state=-1)
