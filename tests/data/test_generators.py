"""Generated data."""

import pickle
import time
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from pandas.testing import assert_frame_equal
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from whynear.data.generators import RotationSimilarity, _invariants
from whynear.data.truth import KINDS
from whynear.datasets import bin_target, make_casebase, make_licorice, make_relevance, make_truth, make_xor, truth_kinds

GENERATORS = [make_xor, make_licorice, make_relevance, make_casebase]


@pytest.mark.parametrize("make", GENERATORS)
def test_the_same_seed_gives_the_same_data_and_another_seed_other_data(make):
    assert_frame_equal(make(60, random_state=3).X, make(60, random_state=3).X)
    assert_frame_equal(make(60, random_state=3).X, make(60, random_state=np.random.default_rng(3)).X)
    assert not make(60, random_state=3).X.equals(make(60, random_state=4).X)


@pytest.mark.parametrize("make", GENERATORS)
def test_every_kind_of_random_state_is_taken(make):
    twice = [make(60, random_state=np.random.RandomState(1)).X for _ in range(2)]
    assert_frame_equal(*twice)
    assert not make(60).X.equals(make(60).X)
    rng = np.random.default_rng(0)
    assert not make(60, random_state=rng).X.equals(make(60, random_state=rng).X)


@pytest.mark.parametrize("make", GENERATORS)
def test_names_and_shapes_agree(make):
    data = make(60, random_state=0)
    assert data.X.shape == (60, len(data.feature_names))
    assert list(data.X.columns) == data.feature_names
    assert data.y.shape == (60,)
    assert data.y.dtype == np.int64
    assert data.y.max() < len(data.target_names)
    assert np.isfinite(data.X.to_numpy()).all()


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize("n", [0, 1, -5, 10.0, "10", None, True])
def test_numbers_of_rows_that_cannot_be_are_refused(make, n):
    with pytest.raises(ValueError, match=r"n_\w+ must be an integer >= \d+"):
        make(n)


@pytest.mark.parametrize("noise", [-0.1, np.nan, np.inf, "much", None])
@pytest.mark.parametrize("make", [make_xor, make_relevance])
def test_noise_must_be_an_amount(make, noise):
    with pytest.raises(ValueError, match="noise must be a finite number >= 0"):
        make(noise=noise)


few_values = st.lists(st.integers(-4, 4).map(float), min_size=2, max_size=25)


@given(few_values, st.integers(2, 5))
def test_bins_follow_the_values_and_equal_values_share_one(y, n_bins):
    assume(len(set(y)) >= n_bins)
    codes = bin_target(y, n_bins)
    order = np.argsort(y, kind="stable")
    assert codes.dtype == np.int64
    assert (np.diff(codes[order]) >= 0).all()
    assert set(codes) == set(range(n_bins))
    for value in set(y):
        assert len(set(codes[np.array(y) == value])) == 1


@given(st.integers(2, 60), st.integers(2, 7), st.integers(0, 5))
def test_distinct_values_give_sizes_that_differ_by_one_at_most(n, n_bins, seed):
    assume(n >= n_bins)
    sizes = np.bincount(bin_target(np.random.default_rng(seed).permutation(n), n_bins))
    assert sizes.max() - sizes.min() <= 1


@given(few_values, st.integers(2, 4))
def test_no_other_cuts_are_nearer_to_equal_sizes(y, n_bins):
    _, counts = np.unique(y, return_counts=True)
    assume(len(counts) >= n_bins)
    wanted = len(y) * np.arange(1, n_bins) / n_bins
    cumulative = np.cumsum(counts)[:-1]
    least = min(np.abs(np.array(cuts) - wanted).sum() for cuts in combinations(cumulative, n_bins - 1))
    ends = np.cumsum(np.bincount(bin_target(y, n_bins)))[:-1]
    assert np.abs(ends - wanted).sum() == pytest.approx(least)


def test_a_column_of_a_table_is_taken_and_left_alone():
    y = pd.Series([3.0, 1.0, 2.0], index=[7, 7, 9])
    assert_array_equal(bin_target(y), [2, 0, 1])
    assert y.tolist() == [3.0, 1.0, 2.0]


def test_too_few_distinct_values_are_counted_in_the_error():
    with pytest.raises(ValueError, match=r"n_bins=3 .* distinct values \(2\).*n_bins <= 2"):
        bin_target([1, 1, 2, 2])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_rows_without_a_finite_value_are_named(bad):
    with pytest.raises(ValueError, match="2 missing or infinite values instead, in rows 2, 4 "):
        bin_target([0, bad, 2, bad, 4])


@pytest.mark.parametrize("y", [["a", "b", "c"], [[1, 2], [3, 4]], []])
def test_what_is_no_column_of_numbers_is_refused(y):
    with pytest.raises(ValueError, match="y must be"):
        bin_target(y)


@pytest.mark.parametrize("n_bins", [1, 2.0, True, "3"])
def test_n_bins_must_be_a_whole_number(n_bins):
    with pytest.raises(ValueError, match="n_bins must be an integer >= 2"):
        bin_target([1, 2, 3], n_bins)


@pytest.fixture(scope="module")
def base():
    return make_casebase(1500, random_state=0)


def test_similarity_is_the_best_correlation_over_all_rotations_one_by_one(base):
    others = np.arange(40)
    slow = [max(np.corrcoef(base.patterns[7], np.roll(base.patterns[j], s))[0, 1] for s in range(64)) for j in others]
    assert_allclose(base.similarity(7, others), slow, atol=1e-5)


def test_similarity_is_symmetric_bounded_and_one_with_itself(base):
    matrix = np.array([base.similarity(i, range(30)) for i in range(30)])
    assert_allclose(matrix, matrix.T, atol=1e-5)
    assert_allclose(np.diag(matrix), 1, atol=1e-5)
    assert np.abs(matrix).max() <= 1


def test_rotating_a_pattern_changes_no_similarity(base):
    turned = np.stack([np.roll(p, 5 * i) for i, p in enumerate(base.patterns[:20])])
    again = RotationSimilarity(turned)
    assert_allclose(again(0, range(20)), base.similarity(0, range(20)), atol=1e-5)


def test_rotating_a_pattern_changes_no_feature(base):
    c = np.fft.rfft(base.patterns, axis=1)[:, 1:11]
    turned = np.fft.rfft(np.roll(base.patterns, 9, axis=1), axis=1)[:, 1:11]
    assert_allclose(_invariants(turned), _invariants(c), atol=1e-3)


def test_relevant_features_describe_the_stored_patterns(base):
    c = np.fft.rfft(base.patterns, axis=1)[:, 1:11]
    relevant = (base.X / base.scale).loc[:, base.kind == "relevant"]
    assert_allclose(relevant, _invariants(c)[:, : relevant.shape[1]], atol=1e-3)


def test_kinds_and_scales_are_those_documented(base):
    kinds, sizes = np.unique(base.kind, return_counts=True)
    assert dict(zip(kinds, sizes, strict=True)) == {"noise": 46, "redundant": 15, "relevant": 15}
    noise, useful = base.scale[base.kind == "noise"], base.scale[base.kind != "noise"]
    assert noise.max() == pytest.approx(1e3)
    assert noise.min() == pytest.approx(1e-3)
    assert useful.min() == pytest.approx(1e-3)
    assert np.sum(useful == 1) > np.sum(useful != 1)
    assert np.sum(noise == 1) < np.sum(noise != 1)
    spread = (base.X / base.scale).std().to_numpy()
    assert spread.min() > 0.5
    assert spread.max() < 2


def test_cases_of_one_shape_match_and_others_mostly_do_not(base):
    same = base.y == base.y[0]
    similarity = base.similarity(0, np.arange(1500))
    assert np.median(similarity[same]) > 0.9
    assert np.median(similarity[~same]) < 0.7


def found(base, features, queries, top=30, tolerance=0.03):
    """Share of the true matches of the queries among the nearest ``top`` by these features."""
    hits = total = 0
    for q in queries:
        others = np.delete(np.arange(len(features)), q)
        similarity = base.similarity(q, others)
        is_match = similarity >= similarity.max() - tolerance
        near = np.argsort(((features[others] - features[q]) ** 2).sum(axis=1))[:top]
        hits, total = hits + is_match[near].sum(), total + is_match.sum()
    return hits / total


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_plain_distance_finds_far_fewer_matches_than_the_relevant_features(seed):
    base = make_casebase(1500, random_state=seed)
    raw, relevant = base.X.to_numpy(), base.kind == "relevant"
    scored = (raw - raw.mean(axis=0)) / raw.std(axis=0)
    queries = range(0, 1500, 30)
    ideal = found(base, (raw / base.scale)[:, relevant], queries)
    assert ideal > 0.6
    assert found(base, raw[:, relevant], queries) > 0.8 * ideal
    assert found(base, raw, queries) < 0.2 * ideal
    assert found(base, scored, queries) < 0.8 * ideal


def test_fifty_thousand_cases_take_little_time_and_memory():
    start = time.perf_counter()
    base = make_casebase(random_state=0)
    assert time.perf_counter() - start < 10
    assert base.X.shape == (50_000, 76)
    assert base.patterns.dtype == np.float32
    assert base.patterns.nbytes == 50_000 * 64 * 4
    assert base.similarity(0, np.arange(50_000)).shape == (50_000,)


@pytest.mark.parametrize(("n", "d"), [(2, 4), (3, 300), (120, 5)])
def test_small_and_wide_bases_are_finite(n, d):
    base = make_casebase(n, d, random_state=0)
    assert base.X.shape == (n, d)
    assert np.isfinite(base.X.to_numpy()).all()
    assert set(base.kind) == {"relevant", "redundant", "noise"}


def test_a_base_survives_being_sent_to_another_process(base):
    again = pickle.loads(pickle.dumps(base))
    assert_array_equal(again.similarity(1, [2, 3]), base.similarity(1, [2, 3]))


def test_indices_outside_of_the_base_are_refused(base):
    assert len(base.similarity(0, [])) == 0
    for i, others in [(0, [1500]), (1500, [0]), (0, [-1])]:
        with pytest.raises(ValueError, match="from 0 to 1499"):
            base.similarity(i, others)
    with pytest.raises(ValueError, match="others must be one row of case indices"):
        base.similarity(0, [0.5])
    with pytest.raises(ValueError, match="i must be an integer"):
        base.similarity(-1, [0])


def in_cylinder(data):
    """Place along its cylinder's axis, and the vector across it, of every point."""
    from_center = data.X.to_numpy() - data.centers[data.cylinder]
    axis = data.axes[data.cylinder]
    along = (from_center * axis).sum(axis=1)
    return along, from_center - along[:, None] * axis


@pytest.mark.parametrize("n", [10, 53, 1000])
def test_cylinders_and_classes_are_balanced(n):
    data = make_licorice(n, random_state=0)
    sizes = np.bincount(2 * data.cylinder + data.y, minlength=10)
    assert sizes.max() - sizes.min() <= 1
    assert data.target_names == ["inside", "outside"]


def test_the_class_is_the_distance_from_the_axis():
    data = make_licorice(2000, random_state=1)
    along, across = in_cylinder(data)
    radius = np.linalg.norm(across, axis=1)
    assert (np.abs(along) <= data.half_length).all()
    assert_array_equal(data.y == 0, radius <= data.core_radius + 1e-12)
    shell = radius[data.y == 1]
    assert shell.min() >= data.shell_radii[0] - 1e-12
    assert shell.max() <= data.shell_radii[1] + 1e-12


def test_directions_are_units_and_all_different():
    axes = make_licorice(10, random_state=0).axes
    cosines = np.abs(axes @ axes.T)
    assert_allclose(np.diag(cosines), 1)
    assert cosines[~np.eye(5, dtype=bool)].max() < 0.9


def test_cylinders_do_not_overlap():
    data = make_licorice(5000, random_state=2)
    reach = np.hypot(data.half_length, data.shell_radii[1])
    gaps = np.linalg.norm(data.centers[:, None] - data.centers, axis=2)[~np.eye(5, dtype=bool)]
    assert gaps.min() > 2 * reach
    nearest_center = np.linalg.norm(data.X.to_numpy()[:, None] - data.centers, axis=2).argmin(axis=1)
    assert_array_equal(nearest_center, data.cylinder)


def test_looking_across_the_axes_beats_one_metric_for_all():
    data = make_licorice(1000, random_state=3)
    _, across = in_cylinder(data)
    knn = KNeighborsClassifier(5, weights="distance")
    plain = cross_val_score(knn, data.X, data.y, cv=5).mean()
    local = cross_val_score(knn, data.centers[data.cylinder] + across, data.y, cv=5).mean()
    assert local > 0.97
    assert plain < 0.9


counts = st.integers(0, 3)


@given(st.integers(4, 40), counts, counts, st.integers(2, 4), counts, st.sampled_from(["linear", "xor"]))
def test_names_groups_and_strength_agree(n, strong, groups, size, useless, target):
    assume(strong + groups >= (2 if target == "xor" else 1))
    data = make_relevance(n, strong, groups, size, useless, target=target, random_state=0)
    assert list(data.X.columns) == data.feature_names
    assert data.X.shape == (n, strong + groups * size + useless)
    assert data.hidden.shape == (n, strong + groups)
    named = dict(zip(data.feature_names, data.strength, strict=True))
    kinds = {"strong": "strong", "weak": "weak", "noise": "irrelevant"}
    assert all(kinds[name.split("_")[0]] == kind for name, kind in named.items())
    assert [name for group in data.groups for name in group] == [f for f, k in named.items() if k == "weak"]
    assert all(len(group) == size for group in data.groups)
    assert abs(np.sum(data.y == 1) - np.sum(data.y == 0)) <= 1


def test_the_linear_target_splits_the_sum_at_its_median():
    data = make_relevance(201, 2, 1, random_state=0)
    total = data.hidden.sum(axis=1)
    assert total[data.y == 0].max() < total[data.y == 1].min()
    assert np.sum(data.y == 1) == 101


@pytest.mark.parametrize("h", [2, 3, 5, 12])
def test_the_xor_target_is_the_parity_of_all_signs(h):
    data = make_relevance(300, h - 1, 1, target="xor", random_state=1)
    assert_array_equal(data.y, np.prod(np.sign(data.hidden), axis=1) < 0)
    assert (np.abs(np.sign(data.hidden).mean(axis=0)) < 0.2).all()


@pytest.mark.parametrize("h", [2, 3, 4])
def test_every_corner_of_xor_is_equally_full(h):
    data = make_relevance(160, h, 0, target="xor", random_state=2)
    sizes = np.bincount((data.hidden > 0) @ (2 ** np.arange(h)), minlength=2**h)
    assert set(sizes) == {160 // 2**h}


def test_copies_differ_from_their_coordinate_by_the_noise():
    data = make_relevance(2000, 1, 2, 3, 0, noise=0.05, random_state=3)
    for g, group in enumerate(data.groups):
        error = data.X[group].sub(data.hidden[:, 1 + g], axis=0)
        assert error.std().to_numpy() == pytest.approx(0.05, rel=0.1)
    assert_array_equal(data.X["strong_0"], data.hidden[:, 0])


def test_without_noise_copies_are_exact():
    data = make_relevance(50, 0, 2, 4, 1, noise=0, random_state=4)
    for g, group in enumerate(data.groups):
        assert_array_equal(data.X[group], np.repeat(data.hidden[:, [g]], 4, axis=1))


def test_noise_features_know_nothing_of_the_class():
    data = make_relevance(4000, n_irrelevant=6, random_state=5)
    useless = data.X.loc[:, data.strength == "irrelevant"]
    assert np.abs(useless.corrwith(data.X["strong_0"])).max() < 0.06
    assert np.abs(np.corrcoef(useless.T, data.y)[-1, :-1]).max() < 0.06


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"n_strong": 0, "n_weak_groups": 0}, "at least 1 hidden coordinates"),
        ({"n_strong": 1, "n_weak_groups": 0, "target": "xor"}, "at least 2 hidden coordinates"),
        ({"target": "and"}, "target must be one of linear, xor, got 'and'"),
        ({"group_size": 1}, "group_size must be an integer >= 2"),
        ({"n_strong": -1}, "n_strong must be an integer >= 0"),
        ({"n_irrelevant": 1.5}, "n_irrelevant must be an integer >= 0"),
    ],
)
def test_what_cannot_be_made_is_refused(bad, message):
    with pytest.raises(ValueError, match=message):
        make_relevance(**bad)


@pytest.mark.parametrize("n", [4, 5, 6, 7, 200])
def test_the_four_clusters_are_of_equal_size(n):
    data = make_xor(n, random_state=0)
    cluster = (data.hidden > 0) @ [2, 1]
    sizes = np.bincount(cluster, minlength=4)
    assert sizes.max() - sizes.min() <= 1


def test_the_class_is_whether_the_two_coordinates_differ_in_sign():
    data = make_xor(500, random_state=1)
    assert_array_equal(data.y, np.prod(np.sign(data.hidden), axis=1) < 0)


def test_features_are_what_their_strength_says():
    data = make_xor(2000, noise=0.1, random_state=2)
    X = data.X
    assert_array_equal(data.strength, ["weak"] * 3 + ["strong"] + ["irrelevant"] * 2)
    assert data.groups == [["x1", "x2", "x3"]]
    errors = X[["x1", "x2", "x3"]].sub(data.hidden[:, 0], axis=0)
    assert errors.std().to_numpy() == pytest.approx(0.1, rel=0.1)
    assert np.abs(errors.corr().to_numpy() - np.eye(3)).max() < 0.1
    assert_array_equal(X["x4"], data.hidden[:, 1])
    assert_array_equal(X["x5"], X["x6"])
    assert np.abs(np.corrcoef(X["x5"], data.y)[0, 1]) < 0.1


def test_without_noise_the_copies_are_exact():
    X = make_xor(noise=0, random_state=0).X
    assert_array_equal(X["x1"], X["x2"])
    assert_array_equal(X["x1"], X["x3"])


def test_one_copy_and_the_lone_feature_suffice_and_one_alone_does_not():
    data = make_xor(400, random_state=3)

    def accuracy(names):
        model = KNeighborsClassifier().fit(data.X[names][:200], data.y[:200])
        return model.score(data.X[names][200:], data.y[200:])

    for copy in ["x1", "x2", "x3"]:
        assert accuracy([copy, "x4"]) > 0.99
    assert accuracy(["x1", "x2", "x3"]) < 0.65
    assert accuracy(["x4"]) < 0.65


SHAPES = {
    "relevance linear": (200, 8, 1, 3),
    "relevance xor": (200, 8, 1, 3),
    "relevance many": (200, 29, 3, 6),
    "xor": (200, 6, 1, 3),
    "linear 50": (50, 10, 2, 3),
    "linear 200": (200, 10, 2, 3),
    "linear 1000": (1000, 10, 2, 3),
    "linear heavy tails": (200, 10, 2, 3),
    "linear flipped labels": (200, 10, 2, 3),
    "wide 50": (50, 50, 5, 10),
    "wide 200": (200, 50, 5, 10),
    "wide 1000": (1000, 50, 5, 10),
    "wide heavy tails": (200, 50, 5, 10),
    "wide flipped labels": (200, 50, 5, 10),
    "blocks 0.5": (200, 19, 2, 8),
    "blocks 0.9": (200, 19, 2, 8),
    "blocks 0.99": (200, 19, 2, 8),
    "proxy 0.5": (200, 11, 2, 6),
    "proxy 0.9": (200, 11, 2, 6),
    "sums": (200, 8, 1, 3),
    "ring": (200, 10, 2, 0),
    "interaction": (200, 10, 2, 0),
    "class covariance": (200, 10, 2, 0),
    "sick": (200, 3, 2, 0),
    "null": (200, 10, 0, 0),
    "null wide": (200, 50, 0, 0),
}
DECIDED_BY_SQUARES = {"relevance xor", "xor", "ring", "interaction", "class covariance", "sick"}
IN_GROUPS = ("relevance", "xor", "linear", "wide", "blocks")
each_kind = pytest.mark.parametrize("kind", truth_kinds())


def many_rows(kind):
    return KINDS[kind].make(20_000, np.random.default_rng(0))


def best_accuracy(data, kind, names):
    """The accuracy on held-out rows, in %, of a model that can be exact for this kind of table."""
    degree = 2 if kind in DECIDED_BY_SQUARES else 1
    terms = make_pipeline(StandardScaler(), PolynomialFeatures(degree), StandardScaler())
    model = make_pipeline(terms, LogisticRegression(C=100.0))
    half = len(data.y) // 2
    X = data.X[list(names)]
    return 100 * model.fit(X[:half], data.y[:half]).score(X[half:], data.y[half:])


def of_strength(data, strength):
    return [name for name, given in zip(data.feature_names, data.strength, strict=True) if given == strength]


def test_every_kind_has_its_shape_and_its_numbers_of_strong_and_weak_columns():
    found = {}
    for kind in truth_kinds():
        data = make_truth(kind, random_state=0)
        found[kind] = (*data.X.shape, len(of_strength(data, "strong")), len(of_strength(data, "weak")))
    assert found == SHAPES


@each_kind
def test_names_labels_and_truth_agree(kind):
    data = make_truth(kind, random_state=1)
    assert list(data.X.columns) == data.feature_names
    assert len(data.strength) == len(set(data.feature_names)) == data.X.shape[1]
    assert set(data.strength) <= {"strong", "weak", "irrelevant"}
    assert len(data.hidden) == len(data.y) == len(data.X)
    assert data.y.dtype == np.int64
    assert set(data.y) == {0, 1}
    assert len(data.target_names) == 2
    assert np.isfinite(data.X.to_numpy()).all()


@each_kind
def test_groups_are_all_weak_columns_or_none(kind):
    data = make_truth(kind, random_state=1)
    grouped = [name for group in data.groups for name in group]
    assert grouped == (of_strength(data, "weak") if kind.startswith(IN_GROUPS) else [])


@each_kind
def test_the_same_seed_gives_the_same_data_and_another_seed_other_data_truth(kind):
    data = make_truth(kind, random_state=3)
    for seed in (3, np.random.default_rng(3)):
        again = make_truth(kind, random_state=seed)
        assert_frame_equal(again.X, data.X)
        assert_array_equal(again.y, data.y)
    assert not make_truth(kind, random_state=4).X.equals(data.X)
    assert not make_truth(kind).X.equals(make_truth(kind).X)


def test_kinds_of_other_generators_are_their_tables():
    assert_frame_equal(make_truth("relevance xor", 5).X, make_relevance(target="xor", random_state=5).X)
    assert_frame_equal(make_truth("xor", 5).X, make_xor(random_state=5).X)


@pytest.mark.parametrize("kind", sorted(set(SHAPES) - {"null", "null wide"}))
def test_only_strong_columns_cost_a_point_of_accuracy_if_they_are_left_out(kind):
    data = many_rows(kind)
    relevant = of_strength(data, "strong") + of_strength(data, "weak")
    with_all = best_accuracy(data, kind, relevant)
    for name in relevant:
        loss = with_all - best_accuracy(data, kind, [other for other in relevant if other != name])
        assert (loss > 1) == (name in of_strength(data, "strong")), f"{name} costs {loss:.2f} points"


@each_kind
def test_irrelevant_columns_know_nothing_of_the_class(kind):
    data = many_rows(kind)
    irrelevant, half = of_strength(data, "irrelevant"), 100 * data.y.mean()
    assert np.abs(np.corrcoef(data.X[irrelevant].T, data.y)[-1, :-1]).max() < 0.03
    assert best_accuracy(data, kind, irrelevant) == pytest.approx(half, abs=2)


@pytest.mark.parametrize("kind", ["linear 200", "sums", "ring", "class covariance", "sick"])
def test_irrelevant_columns_add_nothing_to_the_others(kind):
    data = many_rows(kind)
    relevant = of_strength(data, "strong") + of_strength(data, "weak")
    assert best_accuracy(data, kind, data.feature_names) < best_accuracy(data, kind, relevant) + 0.5


@pytest.mark.parametrize("rho", ["0.5", "0.9", "0.99"])
def test_columns_of_a_block_have_the_given_correlation(rho):
    data = many_rows(f"blocks {rho}")
    for group in [*data.groups, [name for name in data.X if name.startswith("noise_block")]]:
        pairs = np.corrcoef(data.X[group].T)[np.triu_indices(len(group), 1)]
        assert pairs == pytest.approx(float(rho), abs=0.02)


def test_a_fifth_of_the_labels_is_flipped():
    data = many_rows("linear flipped labels")
    score = data.hidden.sum(axis=1)
    assert np.mean(data.y != (score > np.median(score))) == pytest.approx(0.2, abs=0.01)


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match=r"kind must be one of relevance linear, .*got 'circle'"):
        make_truth("circle")
