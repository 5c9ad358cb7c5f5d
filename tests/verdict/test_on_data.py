"""Claims about real tables, checked by refitting models that took no part in them."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import whynear as wn

pytestmark = pytest.mark.slow
RIVALS = [
    make_pipeline(StandardScaler(), SVC(C=3.0)),
    make_pipeline(StandardScaler(), LogisticRegression(C=0.3, max_iter=2000)),
    make_pipeline(StandardScaler(), KNeighborsClassifier(7)),
    ExtraTreesClassifier(200, min_samples_leaf=2, random_state=0),
]


def share_right(X, y, repeats=3):
    """For each row, the share of repeats in which the best of several models predicts it right when held out."""
    found = []
    for model in RIVALS:
        right = np.zeros(len(y))
        for seed in range(repeats):
            folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=1, random_state=seed)
            right += cross_val_predict(model, X, y, cv=list(folds.split(X, y))) == y
        found.append(right / repeats)
    return max(found, key=np.mean)


def lost(before, after):
    """Points lost, and their standard error."""
    difference = 100 * (before - after)
    return difference.mean(), difference.std(ddof=1) / np.sqrt(len(difference))


def tables():
    wine, cancer = load_wine(as_frame=True), load_breast_cancer(as_frame=True)
    glass = wn.datasets.make_truth("blocks 0.9", random_state=3)
    return {
        "wine": (wine.data, wine.target.to_numpy()),
        "breast cancer": (cancer.data, cancer.target.to_numpy()),
        "blocks": (glass.X, np.asarray(glass.y)),
    }


@pytest.mark.parametrize("name", ["wine", "breast cancer", "blocks"])
def test_claims_hold_when_other_models_are_refitted(name):
    X, y = tables()[name]
    found = wn.verdicts(make_pipeline(StandardScaler(), wn.GMLVQ(random_state=0)), X, y, random_state=0)
    full = share_right(X, y)
    for feature in found.named("indispensable"):
        points, error = lost(full, share_right(X.drop(columns=feature), y))
        assert points > 0, feature
        assert points + 2 * error >= 1, feature
    nothing = list(found.named("no evidence"))
    if nothing:
        points, error = lost(full, share_right(X.drop(columns=nothing), y))
        assert points <= 1 + error, nothing
    for feature in found.named("replaceable")[:5]:
        points, error = lost(full, share_right(X.drop(columns=feature), y))
        assert points <= 2 + 2 * error, feature
    members = list(found.sets.best)
    points, error = lost(full, share_right(X[members], y))
    assert points <= 2 + 2 * error, members
    own = share_right(X[members], y)
    for member in members:
        for pair in found.stand_ins.of(member)[:2]:
            swapped = [pair.stand_in if one == member else one for one in members]
            points, error = lost(own, share_right(X[swapped], y))
            assert abs(points - pair.price) <= 2 + 2 * np.hypot(error, pair.error), pair
