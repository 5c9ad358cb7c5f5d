"""The certainty and the promises of learners on generated data of known truth and on real data."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.feature_selection import VarianceThreshold
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from whynear.reject.calibration import calibrated, strangeness, strangest_accepted
from whynear.reject.nearness import measures_of, nearness_of
from whynear.reject.outcome import curve_of

N_DRAWS = 200
LEARNERS = {
    "knn": KNeighborsClassifier(5, weights="distance"),
    "lann": wn.LANN(random_state=0),
    "gmlvq": wn.GMLVQ(random_state=0),
    "lgmlvq": wn.LGMLVQ(random_state=0),
}


def held_out(learner, X, y, n_learned):
    """What a learner fitted to some rows says about the others, their classes, and all classes."""
    model = make_pipeline(VarianceThreshold(), StandardScaler(), LEARNERS[learner]).fit(X[:n_learned], y[:n_learned])
    return nearness_of(model, X[n_learned:], model.classes_), y[n_learned:], model.classes_


def real(name, learner, data_dir, seed=0):
    data = wn.datasets.load(name, data_dir)
    X, y = np.asarray(data.X, dtype=float), np.asarray(data.y)
    known, new, of_known, of_new = train_test_split(X, y, train_size=0.5, stratify=y, random_state=seed)
    return held_out(learner, np.vstack([known, new]), np.concatenate([of_known, of_new]), len(known))


def shares_kept(nearness, y, classes, n_calibrated, accuracy):
    """Over draws of the calibration cases, how often a promise is given, and how often it is not broken."""
    rng, given, kept = np.random.default_rng(0), [], []
    for _ in range(N_DRAWS):
        order = rng.permutation(len(y))
        rows, others = order[:n_calibrated], order[n_calibrated:]
        held, _ = calibrated(nearness.rows(rows), y[rows], classes)
        promise = held.promise(accuracy, 0.9)
        rest = nearness.rows(others)
        accepted = held.rule.certainty_of(rest) > promise.threshold
        right = (classes[rest.predicted] == y[others])[accepted]
        given.append(promise.given)
        kept.append(not promise.given or right.mean() >= accuracy)
    return np.mean(given), np.mean(kept)


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["knn", "gmlvq"])
@pytest.mark.parametrize("accuracy", [0.95, 0.99])
def test_promises_hold_where_the_truth_is_known(learner, accuracy):
    X, y = make_blobs(30_500, centers=8, cluster_std=2.2, n_features=3, random_state=0)
    given, kept = shares_kept(*held_out(learner, X, y, 500), n_calibrated=2000, accuracy=accuracy)
    assert kept >= 0.9
    assert given > 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("name", "accuracy"), [("digits", 0.95), ("letter", 0.95), ("letter", 0.99)])
def test_promises_hold_on_real_data(name, accuracy, real_data):
    nearness, y, classes = real(name, "gmlvq", real_data)
    _, kept = shares_kept(nearness, y, classes, len(y) // 2, accuracy)
    assert kept >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("learner", LEARNERS)
def test_the_certainty_orders_predictions_better_than_the_best_measure(learner, real_data):
    areas = []
    for name in ("digits", "image_segmentation", "robot_navigation"):
        nearness, y, classes = real(name, learner, real_data)
        calibrate, test = train_test_split(np.arange(len(y)), train_size=0.5, stratify=y, random_state=0)
        held, _ = calibrated(nearness.rows(calibrate), y[calibrate], classes)
        rest = nearness.rows(test)
        right = classes[rest.predicted] == y[test]
        found = {measure: curve_of(values, right).area for measure, values in measures_of(rest).items()}
        areas.append({**found, "certainty": curve_of(held.rule.certainty_of(rest), right).area})
    means = {measure: np.mean([each[measure] for each in areas]) for measure in areas[0]}
    best = min(value for measure, value in means.items() if measure != "certainty")
    assert means["certainty"] < 0.95 * best


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["knn", "gmlvq"])
def test_sets_cover_the_right_class_on_real_data(learner, real_data):
    nearness, y, classes = real("digits", learner, real_data)
    scores, codes, rng, covered = strangeness(nearness), np.searchsorted(classes, y), np.random.default_rng(0), []
    own = scores[np.arange(len(y)), codes]
    for _ in range(N_DRAWS):
        order = rng.permutation(len(y))
        rows, others = order[: len(y) // 2], order[len(y) // 2 :]
        found = scores[others] <= strangest_accepted(own[rows], 0.95)
        covered.append(found[np.arange(len(others)), codes[others]].mean())
    assert 0.945 <= np.mean(covered) <= 0.955 + 1 / len(rows)


@pytest.mark.slow
def test_cases_of_a_class_never_seen_are_found_by_their_distance(real_data):
    data = wn.datasets.load("letter", real_data)
    X, y = StandardScaler().fit_transform(data.X)[:6000], np.asarray(data.y)[:6000]
    seen = ~np.isin(y, np.unique(y)[::5])
    learned, calibrate = np.flatnonzero(seen)[:2500], np.flatnonzero(seen)[2500:4000]
    learner = wn.LANN(random_state=0).fit(X[learned], y[learned])
    option = wn.RejectOption(learner, accuracy=0.95, random_state=0).calibrate(X[calibrate], y[calibrate])
    new, known = X[~seen], X[np.flatnonzero(seen)[4000:]]
    assert (option.reasons(new) == "outlier").mean() > 4 * (option.reasons(known) == "outlier").mean()
    assert option.decide(new).accepted.mean() < 0.7 * option.decide(known).accepted.mean()
