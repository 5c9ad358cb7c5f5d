import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import whynear as wn
from tests.helpers.partitions import in_partitions
from whynear.large import local_metrics
from whynear.large.local_metrics import BORDER_SHARE, Region, _sq_distances, _train, cut_space, members

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


X_OF_REGIONS = np.random.default_rng(0).standard_normal((4000, 3)) * [1.0, 5.0, 2.0]


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_every_row_is_in_one_region_and_regions_are_alike_in_size(depth):
    found = members(cut_space(X_OF_REGIONS, depth), X_OF_REGIONS)
    own = [rows[mine] for rows, mine in found]
    assert_array_equal(np.sort(np.concatenate(own)), np.arange(4000))
    assert {len(rows) for rows in own} == {4000 >> depth}


def test_borders_are_the_rows_nearest_to_a_cut():
    cut = cut_space(X_OF_REGIONS, 1)
    assert cut.column == 1
    for rows, own in members(cut, X_OF_REGIONS):
        border = X_OF_REGIONS[rows[~own], 1]
        assert len(border) == pytest.approx(BORDER_SHARE / 2 * 4000, abs=2)
        others = np.setdiff1d(np.arange(4000), rows)
        assert np.abs(border - cut.value).max() <= np.abs(X_OF_REGIONS[others, 1] - cut.value).min()


def test_rows_of_which_no_two_differ_are_not_cut():
    assert cut_space(np.ones((10, 2)), 3) is None
    half = np.vstack([np.ones((10, 1)), 1 + X_OF_REGIONS[:10, :1] ** 2])
    cut = cut_space(half, 3)
    assert cut is None or cut.n_regions < 8
    found = members(cut, half)
    assert sum(own.sum() for _, own in found) == 20
