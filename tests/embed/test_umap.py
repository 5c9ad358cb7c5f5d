"""Embeddings by UMAP itself, which compiles for half a minute when it is first imported."""

import tracemalloc
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.helpers.embeddings import local_metric, random_cases
from whynear import GMLVQ, LANN, LGMLVQ, LMNN, LocalMetric
from whynear.datasets import make_licorice
from whynear.embed import embed, embedding_score


def true_licorice(data):
    """What a perfect learner would find: every case ignores the direction of its own cylinder."""
    across = np.eye(3) - np.einsum("ja,jb->jab", data.axes, data.axes)
    omegas = across[data.cylinder] + 0.05 * np.eye(3)
    return LocalMetric(data.X, omegas=omegas, feature_names=data.feature_names)


@pytest.mark.slow
def test_an_int_gives_the_same_map_every_time_and_another_seed_another_one():
    metric = local_metric()
    first, again, other = (embed(metric, metric.anchors, random_state=seed) for seed in (0, 0, 1))
    assert first.shape == (200, 2)
    assert first.dtype == np.float64
    assert_array_equal(first, again)
    assert not np.allclose(first, other)


@pytest.mark.slow
def test_licorice_falls_apart_into_its_classes_under_local_metrics_only():
    data = make_licorice(300, random_state=0)
    metric = true_licorice(data)
    local = embedding_score(embed(metric, data.X, random_state=0), data.y)
    euclidean = embedding_score(embed(metric, data.X, method="euclidean", random_state=0), data.y)
    assert local > 0.9
    assert local > euclidean + 0.1


@pytest.mark.slow
def test_licorice_is_embedded_by_the_distances_to_prototypes():
    data = make_licorice(200, random_state=0)
    learner = LGMLVQ(n_prototypes=5, random_state=0).fit(data.X, data.y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        embedding = embed(learner, data.X, random_state=0)
    assert np.isfinite(embedding).all()
    # Cylinders are far apart, and stay apart.
    assert embedding_score(embedding, data.cylinder) == 1.0


@pytest.mark.slow
def test_no_array_has_an_entry_for_each_pair_of_cases():
    n = 4000
    metric = LocalMetric(random_cases(n, 3), weights=np.ones((n, 3)))
    embed(local_metric(50), random_cases(50, 3))  # compiles
    tracemalloc.start()
    embed(metric, metric.anchors, random_state=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n * n / 2


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 11, 20])
def test_few_cases_are_embedded_among_as_many_neighbours_as_there_are(n):
    metric = local_metric(n)
    assert np.isfinite(embed(metric, metric.anchors, random_state=0)).all()


@pytest.mark.slow
def test_equal_cases_are_embedded():
    metric = LocalMetric(np.repeat(random_cases(3, 2), 20, axis=0), weights=np.ones((60, 2)))
    assert np.isfinite(embed(metric, metric.anchors, random_state=0)).all()
    nowhere = LocalMetric(np.zeros((30, 2)), weights=np.ones((30, 2)))
    assert np.isfinite(embed(nowhere, nowhere.anchors, random_state=0)).all()


@pytest.mark.slow
def test_licorice_is_seen_better_by_local_metrics():
    data = make_licorice(600, random_state=1)
    learners = [LANN(random_state=0), GMLVQ(n_components=2, random_state=0), LMNN(n_components=2)]
    scores = {
        type(model).__name__: embedding_score(embed(model.fit(data.X, data.y), data.X, random_state=0), data.y)
        for model in learners
    }
    print(f"licorice, right by the neighbours on the map: {scores}")
    assert scores["LANN"] > max(scores["GMLVQ"], scores["LMNN"])
