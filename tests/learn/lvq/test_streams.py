"""Prototype learners on streams and in batches."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification

import whynear as wn
from tests.helpers.lvq import IRIS, LEARNERS


def test_random_batches_end_near_the_cost_of_lbfgs():
    X, y = make_classification(3000, 10, n_informative=5, random_state=0)
    exact = wn.GMLVQ(random_state=0).fit(X, y)
    batches = wn.GMLVQ(solver="adam", max_iter=60, tol=1e-4, random_state=0).fit(X, y)
    assert batches.score(X, y) > exact.score(X, y) - 0.02


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_stream_is_learned_part_by_part(learner):
    X, y = make_classification(3000, 8, n_informative=4, n_classes=3, random_state=0)
    model = learner(random_state=0, batch_size=50)
    for start in range(0, 3000, 300):
        part = slice(start, start + 300)
        model.partial_fit(X[part], y[part], classes=[0, 1, 2])
    start = learner(random_state=0).partial_fit(X[:50], y[:50], classes=[0, 1, 2])
    assert model.n_iter_ == 10
    assert model.score(X, y) > start.score(X, y)
    again = learner(random_state=0).fit(X[:500], y[:500])
    before = again.metric_
    assert again.partial_fit(X[500:600], y[500:600]).metric_ != before


def test_a_stream_names_its_classes_first_and_keeps_to_them():
    X, y = IRIS
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        wn.GMLVQ().partial_fit(X, y)
    model = wn.GMLVQ().partial_fit(X[:60], y[:60], classes=[0, 1, 2])
    assert model.predict(X).shape == y.shape
    with pytest.raises(ValueError, match="y holds 7, which is not among the classes"):
        model.partial_fit(X[:1], [7])
    with pytest.raises(ValueError, match="not the same as on the first call"):
        model.partial_fit(X, y, classes=[0, 1])


def test_a_learner_saved_in_mid_stream_goes_on(tmp_path):
    X, y = IRIS
    model = wn.GMLVQ(random_state=0).partial_fit(X, y, classes=[0, 1, 2])
    wn.save(model, tmp_path / "model")
    assert wn.load(tmp_path / "model").partial_fit(X, y).metric_ == model.partial_fit(X, y).metric_


@pytest.mark.parametrize("learner", LEARNERS)
def test_rows_of_weight_zero_are_no_part_of_a_stream(learner):
    X, y = IRIS
    weights = np.where(y == 1, 0.0, 1.0)
    one = learner(random_state=0).partial_fit(X, y, classes=[0, 1, 2], sample_weight=weights)
    other = learner(random_state=0).partial_fit(X[y != 1], y[y != 1], classes=[0, 1, 2])
    assert one.metric_ == other.metric_


def test_a_batch_counts_by_its_weights():
    X, y = make_classification(400, 5, random_state=0)
    wrong, weights = np.arange(400) % 2 == 1, np.ones(400)
    y[wrong], weights[wrong] = 1 - y[wrong], 1e-9
    settings = {"solver": "adam", "batch_size": 1, "max_iter": 20, "tol": 1e-3, "random_state": 0}
    model = wn.GMLVQ(**settings).fit(X, y, sample_weight=weights)
    clean = wn.GMLVQ(random_state=0).fit(X[~wrong], y[~wrong])
    assert model.score(X[~wrong], y[~wrong]) > clean.score(X[~wrong], y[~wrong]) - 0.05
    batches = wn.GMLVQ(batch_size=1, random_state=0).partial_fit(X, y, classes=[0, 1], sample_weight=weights)
    assert batches.score(X[~wrong], y[~wrong]) > 0.7


@pytest.mark.parametrize("learner", [wn.GMLVQ, wn.LGMLVQ])
def test_a_stream_may_vary_in_more_directions_than_its_first_part(learner):
    X, y = make_classification(600, 8, n_informative=4, random_state=0)
    model = learner(random_state=0, batch_size=20).partial_fit(X[:3], y[:3], classes=[0, 1])
    assert model.metric_.omega.shape == (8, 8) if learner is wn.GMLVQ else model.metric_.omegas.shape == (2, 8, 8)
    model.partial_fit(X[3:], y[3:])
    assert (np.linalg.svd(next(iter(model.metric_)).omega, compute_uv=False) > 1e-6).all()
    with pytest.raises(ValueError, match=r"a row for each of the 2001 features .* Give n_components"):
        learner().partial_fit(np.random.default_rng(0).standard_normal((4, 2001)), [0, 1, 0, 1], classes=[0, 1])


def test_a_single_row_hardly_changes_how_certain_a_stream_is():
    X, y = IRIS
    model = wn.GMLVQ(random_state=0).fit(X, y)
    before = model.certainty_
    for i in (0, 60, 120):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    assert model.certainty_ == pytest.approx(before, rel=0.1)


@pytest.mark.parametrize("seed", [np.int64(3), 3, "a generator"], ids=str)
def test_a_stream_is_the_same_with_the_same_seed(seed):
    X, y = IRIS
    models = [
        wn.GMLVQ(
            n_prototypes=2, batch_size=10, random_state=np.random.RandomState(3) if seed == "a generator" else seed
        )
        for _ in range(2)
    ]
    for model in models:
        model.partial_fit(X, y, classes=[0, 1, 2]).partial_fit(X, y)
    assert models[0].metric_ == models[1].metric_


def test_a_twin_goes_its_own_way():
    X, y = IRIS
    model = wn.GMLVQ(random_state=0).partial_fit(X, y, classes=[0, 1, 2])
    again = wn.GMLVQ(random_state=0).partial_fit(X, y, classes=[0, 1, 2])
    model.with_metric(model.metric_).partial_fit(X[::-1], y[::-1])
    assert model.partial_fit(X, y).metric_ == again.partial_fit(X, y).metric_


def test_a_stream_keeps_the_names_of_its_columns():
    table = load_iris(as_frame=True)
    model = wn.GMLVQ().fit(table.data, table.target)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.partial_fit(table.data.to_numpy(), table.target)
    assert model.metric_.feature_names == tuple(table.feature_names)
