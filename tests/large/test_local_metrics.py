import numpy as np
import pytest
from numpy.testing import assert_allclose

import whynear as wn
from tests.helpers.partitions import in_partitions
from whynear.large import local_metrics
from whynear.large.local_metrics import Region, _sq_distances, _train

RNG = np.random.default_rng(0)
N = 900
Y = np.arange(N) % 3
X = RNG.standard_normal((N, 4)) + 2 * np.eye(3, 4)[Y]
SETTINGS = {"epochs": 2, "step": 0.1, "beta": 0.3, "decay": 0.0, "shared_step": 0.01, "shared_epochs": 2}


@pytest.fixture
def small_regions(monkeypatch):
    monkeypatch.setattr(local_metrics, "REGION_ROWS", 200)
    monkeypatch.setattr(local_metrics, "SAMPLE_ROWS", 300)


@pytest.mark.slow
@pytest.mark.usefixtures("small_regions")
@pytest.mark.parametrize("settings", [{}, {"n_components": 2}, {"class_weight": {1: 5.0}}, {"epochs": 0}], ids=str)
def test_metrics_stand_in_the_order_of_the_table_and_in_the_unit_of_all_rows(settings):
    learner, whole = (wn.LANN(**{**SETTINGS, **settings}, random_state=0) for _ in range(2))
    wn.distributed.fit(learner, in_partitions(X), in_partitions(Y))
    sq = [
        np.median(wn.NeighborSearch(model.metric_).nearest(X, 5, exclude=np.arange(N))[0][:, -1])
        for model in (learner, whole.fit(X, Y))
    ]
    assert sq[0] == pytest.approx(sq[1], rel=0.5)
    assert_allclose(learner.metric_.anchors, X)
    assert learner.codes_.tolist() == Y.tolist()
    assert learner.score(X + 1e-3, Y) > 0.85
    assert 0.9 < learner.candidate_recall_ <= 1.0
    assert learner.n_iter_ == 2 + learner.epochs


@pytest.mark.usefixtures("small_regions")
def test_a_fit_by_regions_repeats_whatever_the_partitions_are():
    one, other = (
        wn.distributed.fit(wn.LANN(**SETTINGS, random_state=0), in_partitions(X, ends), in_partitions(Y, ends))
        for ends in ([0, N], [0, 1, 1, 700, N])
    )
    assert_allclose(one.metric_.weights, other.metric_.weights, rtol=1e-12)


def test_a_region_of_few_rows_keeps_the_common_weights():
    few = Region(X[:3], Y[:3], np.ones(3), np.arange(3), np.array([True, False, True]))
    rule = wn.LANN(n_neighbors=5)
    rule.n_features_in_ = 4
    settings = rule._settings(3, N)
    places, lam, recall, losses = _train(few, 1.0, np.ones(4), None, settings.rule, 64, 0)
    assert places.tolist() == [0, 2]
    assert lam.tolist() == np.ones((2, 4)).tolist()
    assert (recall, losses) == (1.0, [])
    assert not len(_sq_distances(few, 5, 10, 0))
