import sys
from collections import Counter
from importlib import import_module

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from tests.helpers.embeddings import local_metric, random_cases
from tests.helpers.mixed_tables import MIXED, model_of, table
from whynear import GMLVQ, LANN, LGMLVQ, DiagonalMetric, LinearMetric, LocalMetric
from whynear.embed import (
    by_blocks,
    embed,
    embedded_classes,
    embedding_score,
    place_after,
    place_before,
    plot_embedding,
)
from whynear.model.pipeline import FittedPipeline

layout = import_module("whynear.embed")  # the name in the package is the function


@pytest.fixture
def umap(monkeypatch):
    """Record what UMAP is given, without its run."""
    calls = []

    class Recorder:
        def __init__(self, **settings):
            calls.append(self)
            vars(self).update(settings)

        def fit_transform(self, X):
            self.X = X
            return np.arange(2.0 * len(X), dtype=np.float32).reshape(-1, 2)

    monkeypatch.setattr(layout, "_umap", lambda: Recorder)
    return calls


# one map for all cases


def test_a_map_of_two_rows_is_the_embedding():
    X, omega = random_cases(20, 5), random_cases(2, 5, seed=1)
    assert_array_equal(embed(LinearMetric(omega), X), X @ omega.T)
    assert_array_equal(embed(omega, X), X @ omega.T)
    assert_array_equal(embed(DiagonalMetric([4.0, 9.0]), X[:, :2]), X[:, :2] * [2.0, 3.0])


def test_a_learner_with_two_components_embeds_by_its_transform():
    X, y = load_iris(return_X_y=True, as_frame=True)
    learner = GMLVQ(n_components=2).fit(X, y)
    assert_allclose(embed(learner, X), learner.transform(X))
    pipeline = make_pipeline(StandardScaler(), GMLVQ(n_components=2)).fit(X, y)
    assert_allclose(pdist(embed(pipeline, X)), pdist(pipeline.transform(X)), atol=1e-12)


def test_more_rows_give_the_principal_plane_of_the_mapped_cases():
    X, omega = random_cases(50, 6), random_cases(4, 6, seed=1)
    embedding = embed(LinearMetric(omega), X)
    assert_allclose(np.abs(embedding), np.abs(PCA(2).fit_transform(X @ omega.T)))
    weights = np.linspace(0, 1, 6)
    assert_allclose(np.abs(embed(weights, X)), np.abs(PCA(2).fit_transform(X * np.sqrt(weights))))


def test_the_plane_does_not_depend_on_the_order_of_the_cases():
    X, metric = random_cases(50, 6), LinearMetric(random_cases(4, 6, seed=1))
    order = np.random.default_rng(2).permutation(50)
    assert_allclose(embed(metric, X[order]), embed(metric, X)[order])


def test_a_tall_map_of_rank_two_keeps_every_distance():
    X, omega = random_cases(20, 5), random_cases(7, 2) @ random_cases(2, 5, seed=1)
    metric = LinearMetric(omega)
    assert_allclose(pdist(embed(metric, X), "sqeuclidean"), metric.sq_distances(X)[np.triu_indices(20, 1)])


@pytest.mark.parametrize(("metric", "first"), [([[3.0]], 3.0), ([4.0], 2.0)])
def test_a_single_coordinate_leaves_the_second_one_zero(metric, first):
    X = random_cases(5, 1)
    assert_allclose(embed(metric, X), np.column_stack([first * X, np.zeros(5)]))


def test_cases_that_vary_in_one_direction_or_none_lie_on_a_line_or_a_point():
    X = np.outer(np.arange(4.0), [1, 2, 2])
    assert_allclose(embed(np.eye(3), X), np.column_stack([3 * (np.arange(4) - 1.5), np.zeros(4)]))
    assert_allclose(embed(np.eye(3), np.ones((4, 3))), np.zeros((4, 2)))
    assert_allclose(embed(np.eye(3), np.ones((1, 3))), np.zeros((1, 2)))


def test_pca_is_that_of_the_columns_as_the_learner_saw_them():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), GMLVQ()).fit(X * [1, 10, 100, 1000], y)
    seen = pipeline[0].transform(X * [1, 10, 100, 1000])
    embedding = embed(pipeline, X * [1, 10, 100, 1000], method="pca")
    assert_allclose(np.abs(embedding), np.abs(PCA(2).fit_transform(seen)))


# the graph that UMAP is given


def test_training_cases_hand_umap_their_own_graph(umap):
    metric = local_metric()
    embed(metric, metric.anchors, n_neighbors=7, min_dist=0.3, random_state=0)
    indices, distances, _ = umap[0].precomputed_knn
    expected, lengths = layout.neighbor_graph(metric, metric.anchors, 7, seed=0)
    assert_array_equal(indices, expected)
    assert_allclose(distances, lengths / lengths.mean(), rtol=1e-6)
    assert (umap[0].n_neighbors, umap[0].min_dist, umap[0].n_jobs) == (7, 0.3, 1)


def test_prototypes_hand_umap_the_distances_to_them(umap):
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), LGMLVQ()).fit(X, y)
    embed(pipeline, X)
    distances = np.sqrt(pipeline[-1].metric_.sq_distances(pipeline[0].transform(X)))
    expected, _ = layout.neighbor_graph(DiagonalMetric(np.ones(3)), distances, 15, seed=0)
    assert_array_equal(umap[0].precomputed_knn[0], expected)
    assert umap[0].X.shape == (150, 3)


def test_euclidean_ignores_the_metric(umap):
    metric = local_metric()
    embed(metric, metric.anchors, method="euclidean")
    expected, _ = layout.neighbor_graph(DiagonalMetric(np.ones(3)), metric.anchors, 15, seed=0)
    assert_array_equal(umap[0].precomputed_knn[0], expected)


class Cases(GMLVQ):
    """A learner whose metric has a map for each training case."""

    def fit(self, X, y):
        super().fit(X, y)
        self.metric_ = LocalMetric(X, weights=1 + random_cases(*X.shape) ** 2)
        del self.prototypes_
        return self


def test_anchors_behind_a_scaler_are_known_as_the_cases_they_are(umap):
    X, y = load_iris(return_X_y=True)
    X = X * [1, 1e3, 1, 1e-3] + 1e5
    pipeline = make_pipeline(StandardScaler(), PCA(3), Cases()).fit(X, y)
    assert_array_equal(embed(pipeline, X), np.arange(300.0).reshape(-1, 2))


def test_which_anchors_are_prototypes(umap):
    few, many = local_metric(20), local_metric(150)
    X = random_cases(30, 3, seed=5)
    for metric, cases, columns in [(few, X, 20), (many, X, 3), (few, few.anchors, 3)]:
        embed(metric, cases)
        assert umap[-1].X.shape[1] == columns
    embed(few, X, method="cases")
    assert umap[-1].X.shape == (20, 3)
    embed(many, many.anchors, method="prototypes")
    assert umap[-1].X.shape == (150, 150)


def test_other_cases_lie_between_the_anchors_that_would_vote_for_them(umap):
    metric, X = local_metric(), random_cases(10, 3, seed=1)
    X[3] = metric.anchors[42]
    embedding = embed(metric, X, method="cases", n_neighbors=4)
    positions = np.arange(400.0).reshape(-1, 2)
    for case, position in zip(X, embedding, strict=True):
        sq = metric.sq_distances([case])[0]
        nearest = np.argsort(sq)[:4]
        votes = 1 / np.maximum(sq[nearest], 1e-300)
        assert_allclose(position, votes @ positions[nearest] / votes.sum())
    assert_array_equal(embedding[3], positions[42])


def test_the_seed_is_handed_to_umap_as_one_of_its_own(umap):
    metric = local_metric()
    for seed in (0, 0, 1):
        embed(metric, metric.anchors, random_state=seed)
    first, again, other = (call.random_state for call in umap)
    assert first == again != other


def test_a_generator_is_a_seed_too(umap):
    metric = local_metric()
    for seed in (0, 0, 1):
        embed(metric, metric.anchors, random_state=np.random.default_rng(seed))
    first, again, other = (call.random_state for call in umap)
    assert first == again != other


@pytest.mark.parametrize("n", [10, 11, 20])
def test_umap_is_given_no_more_neighbours_than_there_are(umap, n):
    metric = local_metric(n)
    embed(metric, metric.anchors, random_state=0)
    assert umap[0].precomputed_knn[0].shape == (n, umap[0].n_neighbors)
    assert umap[0].n_neighbors <= n
    assert np.isfinite(umap[0].precomputed_knn[1]).all()


def test_equal_cases_reach_umap_at_distance_zero(umap):
    metric = LocalMetric(np.repeat(random_cases(3, 2), 20, axis=0), weights=np.ones((60, 2)))
    embed(metric, metric.anchors, random_state=0)
    embed(LocalMetric(np.zeros((30, 2)), weights=np.ones((30, 2))), np.zeros((30, 2)), method="cases")
    assert all(np.isfinite(call.precomputed_knn[1]).all() and np.isfinite(call.X).all() for call in umap)


def test_sizes_beyond_single_precision_reach_umap_in_range(umap):
    for size in (1e-60, 1e60):
        metric = LocalMetric(size * random_cases(30, 3), weights=np.ones((30, 3)))
        embed(metric, metric.anchors)
        distances = umap[-1].precomputed_knn[1]
        assert np.isfinite(umap[-1].X).all()
        assert np.isfinite(distances).all()
        assert 0.1 < distances[:, 1:].mean() < 10
    assert_allclose(umap[0].precomputed_knn[1], distances, rtol=1e-5)


@pytest.mark.parametrize("n", [1, 2, 4, 9])
def test_too_few_cases_for_umap_are_shown_on_their_principal_plane(n, umap):
    metric = LocalMetric(random_cases(n, 3), weights=np.ones((n, 3)))
    expected = embed(np.full(3, 1 / 3), metric.anchors)
    assert_allclose(embed(metric, metric.anchors, method="cases"), expected, atol=1e-12)
    assert embed(metric, metric.anchors, method="prototypes").shape == (n, 2)
    assert not umap


def test_without_umap_a_warning_says_so_and_what_to_type(monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    metric, X = local_metric(20), random_cases(30, 3)
    with pytest.warns(UserWarning, match=r"not installed.*pip install 'whynear\[embed\]'") as caught:
        embedding = embed(metric, X, method="euclidean")
    assert caught[0].filename == __file__
    assert_allclose(embedding, embed(metric, X, method="pca"))
    with pytest.warns(UserWarning, match="principal directions"):
        to_prototypes = embed(metric, X)
    assert_allclose(to_prototypes, embed(np.eye(20), np.sqrt(metric.sq_distances(X))))
    shares = (metric.weights / metric.weights.sum(axis=1, keepdims=True)).mean(axis=0)
    with pytest.warns(UserWarning, match="principal directions"):
        of_cases = embed(metric, metric.anchors)
    assert_allclose(of_cases, embed(shares, metric.anchors))


# what comes in


def test_tables_and_single_precision_are_taken(umap):
    metric = LocalMetric(random_cases(30, 2), weights=np.ones((30, 2)), feature_names=["a", "b"])
    table = pd.DataFrame(metric.anchors, columns=["a", "b"])
    assert_array_equal(embed(metric, table), embed(metric, metric.anchors))
    single = embed(LinearMetric(np.eye(2)), random_cases(5, 2).astype(np.float32))
    assert single.dtype == np.float64
    with pytest.raises(ValueError, match="another order"):
        embed(metric, table[["b", "a"]])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_neighbors": 1}, "n_neighbors must be an integer >= 2"),
        ({"n_neighbors": 2.5}, "n_neighbors must be an integer >= 2"),
        ({"min_dist": 2}, "min_dist must be a finite number >= 0 and <= 1"),
        ({"method": "tsne"}, "method must be one of auto, prototypes, cases, euclidean, pca, got 'tsne'"),
        ({"method": "cases"}, "method='cases' needs a local metric, got a LinearMetric"),
        ({"random_state": "x"}, "cannot be used to seed"),
    ],
)
def test_wrong_settings_are_refused_by_name(settings, message):
    with pytest.raises(ValueError, match=message):
        embed(LinearMetric(np.eye(3)), random_cases(20, 3), **settings)


def test_wrong_tables_are_refused_by_name():
    with pytest.raises(ValueError, match="at least one row"):
        embed(np.eye(3), np.empty((0, 3)))
    with pytest.raises(ValueError, match="X must have 3 features"):
        embed(np.eye(3), random_cases(20, 2))
    with pytest.raises(ValueError, match="NaN"):
        embed(np.eye(3), [[1, np.nan, 2]])


# the score


def slow_score(points, y, k):
    right = 0
    for i, point in enumerate(points):
        distances = np.linalg.norm(points - point, axis=1)
        others = sorted((j for j in range(len(y)) if j != i), key=lambda j: (distances[j], j))[:k]
        votes = Counter(y[j] for j in others)
        sums = {label: sum(distances[j] for j in others if y[j] == label) for label in votes}
        right += min(votes, key=lambda label: (-votes[label], sums[label])) == y[i]
    return right / len(y)


@pytest.mark.parametrize("k", [1, 2, 4, 5, 17])
def test_the_score_is_that_of_a_slow_recount(k):
    points = random_cases(60, 2)
    y = np.random.default_rng(1).choice(["a", "b", "c"], size=60)
    y[points[:, 0] > 0.5] = "a"
    assert embedding_score(points, y, n_neighbors=k) == pytest.approx(slow_score(points, y, k))


def test_a_point_never_votes_for_itself_and_nearness_decides_ties():
    line = [[0.0], [1.0], [3.0]]
    assert embedding_score(line, [1, 2, 3], n_neighbors=1) == 0.0
    # Both others of the first point have one vote; the nearer one wins.
    assert embedding_score(line, [1, 1, 2], n_neighbors=2) == pytest.approx(2 / 3)


def test_wrong_scores_are_refused_by_name():
    points = random_cases(5, 2)
    with pytest.raises(ValueError, match="n_neighbors=5 is more than the 4 other points"):
        embedding_score(points, np.zeros(5))
    with pytest.raises(ValueError, match="one class for each of the 5 points, got 4"):
        embedding_score(points, np.zeros(4), n_neighbors=2)
    with pytest.raises(ValueError, match="y lacks the class of 1 point"):
        embedding_score(points, ["a", None, "b", "b", "a"], n_neighbors=2)
    with pytest.raises(ValueError, match="embedding contains NaN"):
        embedding_score(np.full((5, 2), np.nan), np.zeros(5), n_neighbors=2)


def test_a_search_keeps_as_many_together_as_the_learner_it_found(umap):
    X, y = load_iris(return_X_y=True)
    given = {"epochs": 1, "step": 0.1, "beta": 0.3, "decay": 0.0, "shared_epochs": 0, "shared_step": 0.01}
    found = GridSearchCV(LANN(random_state=0, **given), {"n_neighbors": [3]}, cv=2).fit(X, y)
    embed(found, X, random_state=0)
    embed(found.best_estimator_, X, random_state=0)
    assert [call.n_neighbors for call in umap] == [4, 4]


@pytest.mark.parametrize("name", MIXED)
def test_a_map_is_drawn_of_the_table(name):
    X, _ = table()
    pipeline = model_of(MIXED[name])
    made = FittedPipeline.of(pipeline).numbers(X)
    assert_array_equal(wn.embed(pipeline, X), wn.embed(wn.as_metric(pipeline), made))


mpl.use("agg")


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_drawing_uses_the_given_axes_and_shows_nothing(monkeypatch):
    monkeypatch.setattr(plt, "show", lambda: pytest.fail("shown"))
    points, y = random_cases(30, 2), np.repeat(["one", "two", "$three"], 10)
    _, ax = plt.subplots()
    assert plot_embedding(points, y, ax=ax) is ax
    assert legend_of(ax) == ["$three", "one", "two"]
    assert ax.get_aspect() == 1
    assert not len(ax.get_xticks())
    assert not len(ax.get_yticks())
    assert plot_embedding(points, y) is not ax


def test_ninety_classes_look_different_and_the_first_ones_by_colour_or_marker_alone():
    ax = plot_embedding(random_cases(180, 2), np.arange(180) % 90)
    looks = [(handle.get_color(), handle.get_marker()) for handle in ax.get_legend().legend_handles]
    assert len(set(looks)) == 90
    assert len({color for color, _ in looks[:10]}) == 10
    assert len({marker for _, marker in looks[:9]}) == 9


def test_errors_are_ringed_and_counted():
    points, y = random_cases(30, 2), np.arange(30) % 2
    errors = np.arange(30) < 4
    ax = plot_embedding(points, y, errors=errors)
    assert legend_of(ax) == ["0", "1", "error (4 of 30)"]
    assert_allclose(ax.collections[-1].get_offsets(), points[errors])


@pytest.mark.parametrize("n_classes", [2, 30, 60])
def test_the_legend_covers_no_point_and_is_not_cut_off(n_classes):
    ax = plot_embedding(random_cases(120, 2), [f"class {i % n_classes}" for i in range(120)])
    ax.figure.canvas.draw()
    legend = ax.get_legend().get_window_extent()
    assert not legend.overlaps(ax.get_window_extent())
    assert legend.x1 <= ax.figure.bbox.x1
    assert legend.y0 >= 0


def test_wrong_drawings_are_refused_by_name():
    with pytest.raises(ValueError, match="embedding must have 2 columns to be drawn, got 3"):
        plot_embedding(random_cases(5, 3), np.zeros(5))
    with pytest.raises(ValueError, match="errors must hold True or False for each of the 5 points"):
        plot_embedding(random_cases(5, 2), np.zeros(5), errors=[1, 2])


@pytest.fixture(scope="module")
def table_of_further_rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((160, 4)), columns=list("abcd"))
    return X, np.where(X["a"] + X["b"] ** 2 > 0.5, "u", "v")


def fitted(learner, table_of_further_rows):
    X, y = table_of_further_rows
    return make_pipeline(StandardScaler(), learner).fit(X[:100], y[:100])


@pytest.mark.parametrize("learner", [wn.GRLVQ(random_state=0), wn.GMLVQ(random_state=0), wn.LGMLVQ(random_state=0)])
def test_rows_of_the_map_are_placed_where_they_lie(learner, table_of_further_rows):
    model, X = fitted(learner, table_of_further_rows), table_of_further_rows[0][:100]
    points = embed(model, X, random_state=0)
    assert_allclose(place_after(model, X, points, X), points, atol=1e-9)
    assert_allclose(place_before(model, X, X), embed(model, X, method="pca"), atol=1e-9)


def test_a_linear_map_takes_further_rows_where_it_takes_all(table_of_further_rows):
    model, X = fitted(wn.GMLVQ(random_state=0), table_of_further_rows), table_of_further_rows[0]
    metric = wn.as_metric(model)
    points = embed(model, X[:100], random_state=0)
    placed = place_after(model, X[:100], points, X[100:])
    mapped = metric.map(X)
    assert_allclose(np.linalg.matrix_rank(mapped), 4)
    design = np.column_stack([mapped, np.ones(len(mapped))])
    solved = np.linalg.lstsq(design[:100], points, rcond=None)[0]  # the map of the plane, found from its points alone
    assert_allclose(placed, design[100:] @ solved, atol=1e-8)


@pytest.mark.parametrize("learner", [wn.LGMLVQ(random_state=0), wn.LANN(random_state=0, epochs=1)])
def test_elsewhere_they_lie_between_rows_of_the_map(learner, table_of_further_rows):
    model, X = fitted(learner, table_of_further_rows), table_of_further_rows[0]
    points = np.random.default_rng(1).standard_normal((100, 2))
    placed = place_after(model, X[:100], points, X[100:])
    assert placed.shape == (60, 2)
    assert (placed >= points.min(axis=0)).all()
    assert (placed <= points.max(axis=0)).all()
    assert np.unique(placed.round(9), axis=0).shape == (60, 2)


def test_blocks_do_not_change_what_is_placed(table_of_further_rows, monkeypatch):
    X = table_of_further_rows[0]
    whole = by_blocks(lambda rows: rows.to_numpy()[:, :2], X)
    monkeypatch.setattr("whynear.utils.threads.row_blocks", lambda n, **_: [slice(0, 7), slice(7, n)])
    assert_allclose(by_blocks(lambda rows: rows.to_numpy()[:, :2], X), whole)


def test_classes_are_numbered_in_their_order():
    points, classes, codes = embedded_classes([[0, 1], [2, 3], [4, 5]], ["b", "a", "b"])
    assert points.dtype == float
    assert classes.tolist() == ["a", "b"]
    assert codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("points", "y", "message"),
    [
        (np.zeros((3, 2)), ["a", "b"], "one class for each of the 3 points, got 2"),
        (np.zeros((2, 2)), ["a", None], "y lacks the class of 1 point"),
        (np.full((2, 2), np.nan), ["a", "b"], "embedding contains NaN"),
    ],
)
def test_points_and_classes_that_do_not_fit_are_refused(points, y, message):
    with pytest.raises(ValueError, match=message):
        embedded_classes(points, y)
