import numpy as np
import pytest
from numpy.testing import assert_array_equal
from pandas.testing import assert_frame_equal
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from whynear.data.truth import KINDS
from whynear.datasets import make_relevance, make_truth, make_xor, truth_kinds

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
def test_the_same_seed_gives_the_same_data_and_another_seed_other_data(kind):
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
