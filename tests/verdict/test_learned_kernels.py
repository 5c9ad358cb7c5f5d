"""Verdicts of learned kernels: one fit a fold takes the place of a refit for each feature wherever nothing is lost."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from whynear.data.truth import make_truth
from whynear.verdict.refits import Refits
from whynear.verdict.table import target_of

SETTLED = {"shape": "diagonal", "columns": "values", "max_steps": 2, "n_folds": None}


def refits_of(X, y, seed=0):
    learner = make_pipeline(StandardScaler(), wn.RFM(**SETTLED, random_state=0))
    return Refits(learner, X, y, target_of(learner, y, None, len(y)), seed)


def drawn(seed, n=150):
    """Two deciding columns, a copy of the first with noise, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    X[:, 2] = X[:, 0] + 0.3 * rng.standard_normal(n)
    return X, np.where(X[:, 0] + X[:, 1] + 0.3 * rng.standard_normal(n) > 0, "up", "down")


@pytest.mark.parametrize("seed", range(4))
def test_one_fit_differs_from_refits_by_little_and_loses_more_rather_than_less(seed):
    X, y = drawn(seed)
    refits = refits_of(X, y)
    sets = [[j] for j in range(6)]
    kept = refits.without_by_one_fit(sets)
    lost = [100 * (own.score - refits.without(left_out).score).mean() for own, left_out in zip(kept, sets, strict=True)]
    assert np.mean(lost) <= 1.0, "points more are predicted right by the kept metric than by a refit"
    assert np.abs(lost).max() <= 9.0
    assert np.abs(lost[3:]).max() <= 4.0, "without noise"


def test_a_learner_that_knows_no_models_without_columns_is_refitted():
    X, y = drawn(5)
    learner = make_pipeline(StandardScaler(), wn.GRLVQ(random_state=0))
    assert Refits(learner, X, y, target_of(learner, y, None, len(y)), 0).without_by_one_fit([[0]]) is None


def test_verdicts_find_what_only_a_learned_kernel_sees_and_take_few_fits(monkeypatch):
    data = make_truth("interaction", random_state=0)
    fits = []
    fit = wn.RFM.fit
    monkeypatch.setattr(wn.RFM, "fit", lambda *args, **kwargs: fits.append(1) or fit(*args, **kwargs))
    learner = make_pipeline(StandardScaler(), wn.RFM(**SETTLED, random_state=0))
    found = wn.verdicts(learner, data.X, data.y, n_resamples=0, n_jobs=1, random_state=0)
    frame = found.frame().set_index("feature")["verdict"]
    strong = [name for name, truth in zip(data.feature_names, data.strength, strict=True) if truth == "strong"]
    assert set(found.named("indispensable")) <= set(strong)
    assert "no evidence" not in set(frame[strong])
    assert len(fits) < 200


@pytest.mark.slow
def test_verdicts_of_a_learned_kernel_are_true_on_tables_of_known_truth():
    learner = make_pipeline(StandardScaler(), wn.RFM(**SETTLED, random_state=0))
    false = missed = n_strong = 0
    for kind in ("linear 200", "blocks 0.9", "proxy 0.9", "sums", "ring", "interaction", "class covariance", "null"):
        data = make_truth(kind, random_state=700)
        verdict = wn.verdicts(learner, data.X, data.y, n_resamples=0, n_jobs=1, random_state=700).verdict
        strong = np.array(data.strength) == "strong"
        false += int(((verdict == "indispensable") & ~strong).sum())
        missed += int(((verdict != "indispensable") & strong).sum())
        n_strong += int(strong.sum())
    assert false == 0
    assert missed <= 0.2 * n_strong
