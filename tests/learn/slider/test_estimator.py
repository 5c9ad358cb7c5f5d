import signal
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from tests.helpers.processes import work_for
from tests.helpers.slider import every_triplet, ranking_task, rows
from whynear.learn.slider.base import compare_by_triplets
from whynear.learn.slider.estimator import Climb, climb_all

ORDERS = pytest.mark.parametrize("p", [1, 2, 3])


@ORDERS
def test_the_criterion_never_worsens(p):
    for seed in range(3):
        model = wn.Slider(p=p, random_state=seed).fit(*rows(seed=seed))
        assert (np.diff(model.loss_curve_) < 0).all()
        assert model.mean_rank_ <= model.uniform_rank_
        assert_allclose(model.loss_curve_[-1], model.mean_rank_)


@ORDERS
def test_useless_columns_lose_their_weight(p):
    X, y = rows()
    model = wn.Slider(p=p, random_state=0).fit(X[:200], y[:200])
    assert_allclose(model.metric_.weights.sum(), 1)
    part = model.metric_.weights * X.std(axis=0) ** p  # what each column adds to a distance
    assert part[:2].sum() > 0.95 * part.sum()
    plain = KNeighborsClassifier(1).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.85
    assert plain.score(X[200:], y[200:]) < 0.6


def test_the_unit_of_the_table_does_not_matter():
    X, y = rows()
    one, other = (wn.Slider(random_state=0).fit(A, y) for A in (X, 256 * X))
    assert_allclose(other.metric_.weights, one.metric_.weights)
    assert_array_equal(other.predict(256 * X), one.predict(X))


def test_a_constant_column_weighs_nothing():
    X, y = rows()
    with pytest.warns(UserWarning, match="no weight: x5"):
        model = wn.Slider(random_state=0).fit(np.hstack([X, np.full((300, 1), 7.0)]), y)
    assert model.metric_.weights[-1] == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"p": 4}, "p must be one of 1, 2, 3, got 4"),
        ({"matches": "far"}, "matches must be one of random, near, got 'far'"),
        ({"validation_share": 1.0}, "validation_share must be a finite number > 0 and < 1, got 1.0"),
        ({"n_neighbors": 0}, "n_neighbors must be an integer >= 1"),
        ({"n_triples": 0}, "n_triples must be an integer >= 1"),
        ({"n_restarts": 0}, "n_restarts must be an integer >= 1"),
        ({"tol": -1}, "tol must be a finite number >= 0"),
        ({"patience": 0}, "patience must be an integer >= 1"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        wn.Slider(**settings).fit(*rows(40))


def test_running_out_of_steps_warns():
    with pytest.warns(ConvergenceWarning, match="did not converge in max_iter=3 steps"):
        model = wn.Slider(max_iter=3, random_state=0).fit(*rows())
    assert model.n_iter_ == 3


def test_progress_is_reported(capsys):
    steps = []
    model = wn.Slider(random_state=0, callback=steps.append, verbose=True).fit(*rows())
    losses = [step.loss for step in steps]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] == model.mean_rank_
    assert capsys.readouterr().out.startswith("[Slider] iteration")
    with pytest.raises(RuntimeError, match="enough"):
        wn.Slider(random_state=0, callback=_enough).fit(*rows())


def _enough(step):
    raise RuntimeError("enough")


def test_memory_stays_in_proportion_to_the_table():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((8000, 50)), rng.integers(4, size=8000)
    model = wn.Slider(random_state=0, max_iter=60, n_restarts=2)
    with pytest.warns(ConvergenceWarning):
        model.fit(X[:100], y[:100])
    tracemalloc.start()
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 << 20  # all distances would be 512 MB, the gaps of all triples 6 MB a million


INTERRUPTED = """
import numpy as np, whynear as wn
rng = np.random.default_rng(0)
X, y = rng.standard_normal((3000, 300)), rng.integers(3, size=3000)
settings = dict(random_state=0, tol=0, patience=10**9, n_jobs={jobs})
wn.Slider(max_iter=5, **settings).fit(X, y)
print("start", flush=True)
wn.Slider(max_iter=10**9, **settings).fit(X, y)
"""


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_stops_learning(jobs):
    script = INTERRUPTED.replace("{jobs}", str(jobs))
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"start\n"
        work_for(process, 0.5)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)  # all the work would never end
    finally:
        process.kill()
    assert error.decode().strip().endswith("KeyboardInterrupt")


def test_it_explains_itself_and_survives_a_file(tmp_path):
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), wn.Slider(p=1, random_state=0)).fit(X, y)
    why = wn.explain(model, X.iloc[0] * 1.01)
    assert why.prediction == 0
    wn.save(model, tmp_path / "model")
    assert_array_equal(wn.load(tmp_path / "model").predict(X), model.predict(X))


@pytest.mark.parametrize(("data", "accuracy", "rank"), [(load_wine, 0.943, 1.9), (load_iris, 0.927, 1.7)])
def test_the_papers_table_on_raw_columns(data, accuracy, rank):
    """Published: wine 96 ± 1.7 and 1.7 ± 0.2, iris 95 ± 2.3 and 1.5 ± 0.2, over test sets of 100."""
    X, y = data(return_X_y=True)
    scores = []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(X))
        queries, others = order[:100], order[100:]
        model = wn.Slider(random_state=seed).fit(X[others], y[others])
        _, nearest = wn.NeighborSearch(model.metric_, X).nearest(X[queries], 1, exclude=queries)
        base = {"base": X, "base_y": y, "exclude": queries}
        ours = wn.ranking.mean_rank(model, X[queries], y[queries], **base)
        scores.append([np.mean(y[nearest[:, 0]] == y[queries]), ours])
    print(f"1-NN and rank among 10: {np.mean(scores, axis=0).round(3)}, least {accuracy} and most {rank}")
    assert np.mean(scores, axis=0)[0] >= accuracy
    assert np.mean(scores, axis=0)[1] <= rank


@ORDERS
def test_prediction_is_by_the_nearest_cases(p):
    X, y = rows(120)
    model = wn.Slider(n_neighbors=3, p=p, random_state=0).fit(X[:80], y[:80])
    plain = KNeighborsClassifier(3, p=p, metric="minkowski").fit(model.transform(X[:80]), y[:80])
    assert_allclose(model.predict_proba(X[80:]), plain.predict_proba(model.transform(X[80:])))
    assert_array_equal(model.predict(X[80:]), plain.predict(model.transform(X[80:])))
    assert_array_equal(model.get_feature_names_out(), ["x0", "x1", "x2", "x3", "x4"])
    assert type(model.metric_) is (wn.DiagonalMetric if p == 2 else wn.MinkowskiMetric)


def test_mean_rank_on_new_cases():
    X, y = rows(900)
    model = wn.Slider(random_state=0, n_mismatches=10, n_mismatch_sets=20).fit(X[:300], y[:300])
    exact = wn.ranking.mean_rank(model, X[300:], y[300:], n_mismatches=10)
    assert_allclose(model.mean_rank(X[300:], y[300:]), exact, atol=0.1)
    assert exact < wn.ranking.mean_rank(wn.DiagonalMetric(np.ones(5)), X[300:], y[300:]) - 2


def test_triplets_and_labels_agree():
    X, y = rows(90)
    triplets = every_triplet(y, np.random.default_rng(0))
    learning, judges = compare_by_triplets(triplets, 90, 0.5, 1000, 20, np.random.default_rng(0))
    assert (y[judges.instances][:, None] != y[judges.mismatches]).all()
    assert not np.intersect1d(learning.instances, judges.instances).size
    by_class = wn.Slider(random_state=0).fit(X, y)
    by_triplets = wn.Slider(random_state=0).fit_triplets(X, triplets)
    new, labels = rows(400, seed=1)
    ranks = [wn.ranking.mean_rank(model, new, labels) for model in (by_class, by_triplets)]
    assert_allclose(*ranks, atol=0.25)
    assert max(ranks) < wn.ranking.mean_rank(wn.DiagonalMetric(np.ones(5)), new, labels) - 2


def test_without_labels_there_is_a_metric_but_no_prediction():
    X, y = rows(60)
    model = wn.Slider(random_state=0).fit(X, y).fit_triplets(X, every_triplet(y, np.random.default_rng(0)))
    assert model.transform(X).shape == X.shape
    assert model.metric_ == wn.as_metric(model)
    with pytest.raises(AttributeError, match="fitted on triplets, without classes to predict"):
        model.predict(X)


def test_few_triplets_of_one_instance():
    X, _ = rows(10)
    model = wn.Slider(random_state=0).fit_triplets(X, [[0, 1, 2], [0, 3, 4], [0, 1, 5]])
    assert_allclose(model.metric_.weights.sum(), 1)
    assert np.isfinite(wn.Slider(random_state=0).fit_triplets(X[:3], [[0, 1, 2]]).mean_rank_)


def test_classes_of_one_row_each_leave_equal_weights():
    with pytest.warns(UserWarning, match="No class has two rows"):
        model = wn.Slider(random_state=0).fit(rows(4)[0], [0, 1, 2, 3])
    assert_allclose(model.metric_.weights, 0.2)


def test_contradicting_copies_share_the_vote():
    X, y = rows(60)
    X[:3], y[:3] = X[0], [0, 0, 1]
    assert_allclose(wn.Slider(random_state=0).fit(X, y).predict_proba(X[:1]), [[2 / 3, 1 / 3, 0]])


def test_threads_do_not_change_the_result():
    X, y = rows()
    one, two = (wn.Slider(random_state=0, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert one.metric_ == two.metric_
    assert one.loss_curve_ == two.loss_curve_


def test_more_starts_never_rank_worse():
    X, y = rows()
    few, many = (wn.Slider(random_state=0, n_restarts=n).fit(X, y) for n in (1, 2))
    assert many.mean_rank_ <= few.mean_rank_
    assert many.uniform_rank_ == few.uniform_rank_


def climb(seed=0, **settings):
    task, _ = ranking_task(**settings)
    return Climb(task, task.shares_of(np.ones(task.n_features)), np.random.default_rng(seed))


def test_every_varying_feature_comes_once_before_any_comes_again():
    one = climb(constant=True)
    one.advance(3, tol=0.0)
    first = set(one.waiting.tolist())
    assert len(first) == 2
    one.advance(2, tol=0.0)
    assert (one.n_steps, len(one.waiting)) == (5, 0)
    assert one.shares[5] == 0


def test_shares_stay_shares_and_are_judged_as_they_are():
    one = climb()
    one.advance(20, tol=0.0)
    assert_allclose(one.shares.sum(), 1)
    assert_allclose(one.nearer, one.task.nearer(one.shares))
    assert (np.diff(one.curve) < 0).all()


def test_the_best_climb_ends_in_vain_or_out_of_steps():
    steps = []
    settings = {"tol": 0.0, "n_jobs": 1, "watch": steps.append}
    climbs = [climb(seed) for seed in (0, 1)]
    best = climb_all(climbs, patience=5, max_iter=1000, **settings)
    assert all(one.since >= 5 for one in climbs)
    assert best.nearer == min(one.nearer for one in climbs)
    assert steps[-1].loss == best.task.mean_rank(best.nearer)
    assert climb_all([climb()], patience=5, max_iter=2, **settings).n_steps == 2
