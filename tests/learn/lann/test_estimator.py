import signal
import subprocess
import sys
import time
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from tests.helpers.lann import GIVEN, rows
from tests.helpers.learners import FAILED_BY_VOTING
from tests.helpers.processes import work_for
from whynear.testing import check_learner


@pytest.mark.slow  # the registry checks every learner
def test_belongs_to_the_library():
    check_learner(wn.LANN(**GIVEN), FAILED_BY_VOTING)


@pytest.mark.slow
def test_belongs_to_the_library_when_it_chooses_its_epochs():
    check_learner(wn.LANN(step=0.1, beta=0.3, decay=0.0, shared_step=0.03), FAILED_BY_VOTING)


@pytest.mark.parametrize(
    "settings", [{"n_components": 3}, {"constraint": "trace"}, {"constraint": "determinant"}], ids=str
)
def test_other_forms_predict_as_well(settings):
    X, y = rows()
    model = wn.LANN(random_state=0, **GIVEN, **settings).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.85
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_predictions_are_those_of_a_double_loop():
    X, y = rows(80, n_classes=3)
    model = wn.LANN(random_state=0, **GIVEN).fit(X, y)
    new = rows(30, seed=1, n_classes=3)[0]
    for x, label, probabilities in zip(new, model.predict(new), model.predict_proba(new), strict=True):
        sq = np.array([w @ (x - a) ** 2 for a, w in zip(model.metric_.anchors, model.metric_.weights, strict=True)])
        near = np.argsort(sq, kind="stable")[:5]
        support = np.bincount(y[near], 1 / sq[near], 3)
        assert label == support.argmax()
        assert_allclose(probabilities, softmax(support / 0.3), atol=1e-9)


def test_the_unit_of_the_table_does_not_matter():
    X, y = rows()
    one, other = (wn.LANN(random_state=0, **GIVEN).fit(A, y) for A in (X, 500 * X + 7))
    assert_allclose(other.metric_.weights * 500**2, one.metric_.weights, rtol=1e-6)
    assert_allclose(other.predict_proba(500 * X + 7), one.predict_proba(X), atol=1e-6)


def test_an_anchor_keeps_to_the_box():
    X, y = rows()
    model = wn.LANN(random_state=0, bounds=(0.5, 2.0), **{**GIVEN, "step": 1.0}).fit(X, y)
    roots = np.sqrt(model.metric_.weights) / model._factors
    assert roots.min() >= 0.5 - 1e-9
    assert roots.max() <= 2.0 + 1e-9
    assert len(np.unique(roots)) > 10


def test_zero_distances_share_the_vote():
    X, y = rows(60)
    X[:3], y[:3] = X[0], [0, 0, 1]
    model = wn.LANN(random_state=0, **GIVEN).fit(X, y)
    assert_allclose(model.predict_proba(X[:1]), [[2 / 3, 1 / 3]])
    assert model.predict(X[:1]) == [0]


def test_zero_epochs_are_plain_weighted_neighbours():
    X, y = rows(200, seed=3)
    model = wn.LANN(random_state=0, **{**GIVEN, "epochs": 0, "shared_epochs": 0}).fit(X[:100], y[:100])
    plain = KNeighborsClassifier(5, weights=lambda d: 1 / d**2).fit(X[:100], y[:100])
    assert_array_equal(model.predict(X[100:]), plain.predict(X[100:]))
    assert model.loss_curve_ == []


@pytest.mark.parametrize("n_components", [None, 2])
def test_the_trace_stays_what_it_was(n_components):
    X, y = rows(80)
    settings = {"constraint": "trace", "n_components": n_components, "random_state": 0}
    before = wn.LANN(**settings, **{**GIVEN, "epochs": 0}).fit(X, y)
    after = wn.LANN(**settings, **GIVEN).fit(X, y)
    sums = [np.square(model.metric_.maps / model._factors).reshape(80, -1).sum(axis=1) for model in (before, after)]
    if n_components is None:
        sums = [(model.metric_.weights / model._factors**2).sum(axis=1) for model in (before, after)]
    assert not np.allclose(after.metric_.maps, before.metric_.maps)
    assert_allclose(*sums)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"max_anchors": 50}, {"n_components": 2}], ids=str)
def test_a_stream_gives_the_same_however_it_is_cut(settings):
    X, y = rows(120)
    whole = wn.LANN(**settings).partial_fit(X, y, classes=[0, 1])
    cut = wn.LANN(**settings)
    for i in range(120):
        cut.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1])
    assert_allclose(cut.metric_.maps, whole.metric_.maps, rtol=1e-6, atol=1e-9)
    assert_array_equal(cut.metric_.anchors, whole.metric_.anchors)
    assert len(whole.metric_) == settings.get("max_anchors", 120)
    assert_array_equal(whole.codes_, y[-len(whole.metric_) :])


def test_a_stream_goes_on_with_what_was_fitted():
    X, y = rows(600, d=12)
    X[:, 6:] *= 2
    model = wn.LANN(random_state=0, **GIVEN).fit(X[:200], y[:200])
    before = model.metric_
    model.partial_fit(X[200:400], y[200:400])
    assert len(model.metric_) == 400
    assert not np.allclose(model.metric_.weights[:200], before.weights)
    assert model.score(X[400:], y[400:]) >= 0.85


def test_a_stream_is_weighted_case_by_case():
    X, y = rows(120)
    weights = np.random.default_rng(0).uniform(0.2, 3.0, 120)
    weights[7] = 0.0
    kept, settings = weights > 0, {"step": 0.1, "beta": 0.3, "decay": 0.0, "epochs": 1}
    whole = wn.LANN(**settings).partial_fit(X, y, [0, 1], weights)
    cut = wn.LANN(**settings)
    for part in (slice(0, 50), slice(50, 120)):
        cut.partial_fit(X[part], y[part], [0, 1], weights[part])
    assert_allclose(cut.metric_.weights, whole.metric_.weights)
    left = wn.LANN(**settings).partial_fit(X[kept], y[kept], [0, 1], weights[kept])
    assert left.metric_ == whole.metric_
    by_class = wn.LANN(**settings, class_weight={1: 2.0}).partial_fit(X, y, [0, 1])
    by_row = wn.LANN(**settings).partial_fit(X, y, [0, 1], np.where(y == 1, 2.0, 1.0))
    assert by_class.metric_ == by_row.metric_
    assert by_row.metric_ != wn.LANN(**settings).partial_fit(X, y, [0, 1]).metric_


def test_a_stream_only_remembers_where_nothing_was_learned():
    X, y = rows(120)
    fitted = wn.LANN(random_state=0, **{**GIVEN, "epochs": 0}).fit(X[:80], y[:80])
    before = fitted.metric_
    assert_array_equal(fitted.partial_fit(X[80:], y[80:]).metric_.weights[:80], before.weights)
    assert len(fitted.metric_) == 120
    streamed = wn.LANN(epochs=0).partial_fit(X, y, classes=[0, 1])
    assert len(np.unique(streamed.metric_.weights)) == 1


def test_a_stream_keeps_the_names_of_its_columns():
    table = load_iris(as_frame=True)
    model = wn.LANN(random_state=0, **GIVEN).fit(table.data, table.target)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.partial_fit(table.data.to_numpy()[:3], table.target[:3])
    assert model.metric_.feature_names == tuple(table.feature_names)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"constraint": "cube"}, "constraint must be one of box, trace, determinant, got 'cube'"),
        ({"search": "fast"}, "search must be one of auto, exact, candidates, got 'fast'"),
        ({"n_neighbors": 0}, "n_neighbors must be an integer >= 1, got 0"),
        ({"n_neighbors": 2.5}, "n_neighbors must be an integer >= 1, got 2.5"),
        ({"n_candidates": 3}, "n_neighbors=5 must be at most n_candidates=3"),
        ({"n_components": 0}, "n_components must be an integer >= 1, got 0"),
        ({"max_anchors": 0}, "max_anchors must be an integer >= 1, got 0"),
        ({"epochs": -1}, "epochs must be an integer >= 0, got -1"),
        ({"shared_epochs": 1.5}, "shared_epochs must be an integer >= 0, got 1.5"),
        ({"step": -0.1}, "step must be a finite number >= 0, got -0.1"),
        ({"beta": 0}, "beta must be a finite number > 0, got 0"),
        ({"beta": "steep"}, "beta must be a finite number > 0, got 'steep'"),
        ({"decay": 2.0}, "decay must be a finite number >= 0 and <= 1, got 2.0"),
        ({"bounds": 3}, "bounds=3 must be two positive numbers"),
        ({"bounds": (0.1, "b")}, r"bounds=\(0.1, 'b'\) must be two positive numbers"),
        ({"n_components": 9}, r"n_components=9 asks for more directions than X has features \(6\)"),
        ({"n_components": 2, "constraint": "determinant"}, "is for weights"),
        ({"bounds": (2.0, 3.0)}, r"bounds=\(2.0, 3.0\) must be two positive numbers, on both sides of one"),
    ],
)
def test_bad_settings_are_named(settings, message):
    X, y = rows(40)
    with pytest.raises((ValueError, TypeError), match=message):
        wn.LANN(**settings).fit(X, y)
    with pytest.raises((ValueError, TypeError), match=message):
        wn.LANN(**settings).partial_fit(X, y, classes=[0, 1])


def test_fewer_cases_than_neighbours():
    X, y = rows(6)
    model = wn.LANN(n_neighbors=20, random_state=0).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


def test_memory_stays_in_proportion_to_the_table():
    X, y = rows(8000)
    model = wn.LANN(random_state=0, **{**GIVEN, "epochs": 1, "shared_epochs": 1})
    model.fit(X[:100], y[:100])
    tracemalloc.start()
    model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 130 << 20  # all distances would be 512 MB, the lists are 4


INTERRUPTED = """
import numpy as np, whynear as wn
rng = np.random.default_rng(0)
X, y = rng.standard_normal((20_000, 40)), rng.integers(3, size=20_000)
show = lambda step: print(step.n_iter, flush=True)
wn.LANN(random_state=0, epochs=2, shared_epochs=1, callback=show).fit(X[:400], y[:400])  # compiles or loads
print("start", flush=True)
wn.LANN(random_state=0, callback=show{settings}).fit(X, y)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings", ["", ", epochs=10**6, step=.1, beta=.3, decay=0, shared_epochs=1, shared_step=.01"]
)
def test_an_interrupt_stops_learning_within_a_second(settings):
    script = INTERRUPTED.replace("{settings}", settings)
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert any(line == "start\n" for line in process.stdout)
    if settings:
        assert any(line == "3\n" for line in process.stdout)  # an epoch of its own is made
    else:
        work_for(process, 1.0)  # it makes lists and chooses, for longer than that
    start = time.perf_counter()
    process.send_signal(signal.SIGINT)
    try:
        _, error = process.communicate(timeout=60)
    finally:
        process.kill()
    assert time.perf_counter() - start < 20  # one second, and the end of a process on a busy machine
    assert error.strip().endswith("KeyboardInterrupt")


def test_progress_is_reported():
    X, y = rows(60)
    steps = []
    model = wn.LANN(random_state=0, callback=steps.append, **GIVEN).fit(X, y)
    assert [step.loss for step in steps] == model.loss_curve_
    assert model.n_iter_ == 10
    with pytest.raises(RuntimeError, match="enough"):
        wn.LANN(random_state=0, callback=_enough, **GIVEN).fit(X, y)


def _enough(step):
    raise RuntimeError("enough")


def test_it_explains_itself(tmp_path):
    table = load_breast_cancer(as_frame=True)
    model = make_pipeline(StandardScaler(), wn.LANN(random_state=0, **GIVEN)).fit(table.data, table.target)
    why = wn.explain(model, table.data.iloc[0] * 1.01)
    assert why.prediction == 0
    assert_allclose(wn.class_profiles(model).sum(), 1)
    with pytest.warns(UserWarning, match="contains the 569 anchors"):
        wn.save(model, tmp_path / "model")
    assert wn.load(tmp_path / "model")[-1].metric_ == model[-1].metric_


@pytest.mark.parametrize(
    "name", ["iris", *(pytest.param(name, marks=pytest.mark.slow) for name in ("ionosphere", "image_segmentation"))]
)
@pytest.mark.filterwarnings("ignore:X holds the same value in every row")
def test_it_is_no_worse_than_plain_neighbours(name, real_data):
    data = wn.datasets.load(name, real_data)
    X, y, scores = data.X.to_numpy(), np.asarray(data.y), []
    for test, train in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        plain = make_pipeline(StandardScaler(), KNeighborsClassifier(5, weights="distance"))
        learned = make_pipeline(StandardScaler(), wn.LANN(random_state=0))
        scores.append([model.fit(X[train], y[train]).score(X[test], y[test]) for model in (plain, learned)])
    plain, learned = np.mean(scores, axis=0)
    print(f"{name}, trained on a fifth: plain kNN {plain:.3f}, LANN {learned:.3f}")
    assert learned > plain - 0.005
    if name == "ionosphere":
        assert learned > 0.89  # published: 0.90


def test_defaults_find_iris():
    X, y = load_iris(return_X_y=True)
    assert wn.LANN(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.93
