"""Fits that are kept, so that an interrupted study goes on."""

import json

import numpy as np
import pandas as pd
import pytest

import whynear as wn
from whynear.study import methods as kept_fits
from whynear.study.methods import KeptFits, Methods

SETTINGS = {"learner": "gmlvq", "splitting": wn.Splitting(folds=3)}


def table(seed=0):
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, 60)
    columns = {
        "size": kind + rng.normal(0, 0.4, 60),
        "noise": rng.normal(size=60),
        "colour": rng.choice(["r", "g"], 60),
    }
    return pd.DataFrame({**columns, "kind": np.array(["u", "v"])[kind]}, [f"case {i}" for i in range(60)])


@pytest.fixture
def fits(monkeypatch):
    """The names of the learners that are fitted, not read; every fit is worth keeping."""
    seen, fit = [], Methods._fitted
    monkeypatch.setattr(kept_fits, "WORTH_KEEPING", 0.0)
    monkeypatch.setattr(Methods, "_fitted", lambda self, name, *rows: seen.append(name) or fit(self, name, *rows))
    return seen


def interrupt_at(words):
    def report(step, _share):
        if words in step:
            raise KeyboardInterrupt

    return report


def content_of(study):
    return json.dumps(study.to_dict(), sort_keys=True)


@pytest.mark.slow
def test_an_interrupted_study_goes_on_and_becomes_the_one_without_an_interrupt(fits, tmp_path):
    whole = wn.study(table(), "kind", **SETTINGS)
    assert fits.count("gmlvq") == 4
    fits.clear()
    with pytest.raises(KeyboardInterrupt):
        wn.study(table(), "kind", **SETTINGS, running=wn.Running(keep=tmp_path), progress=interrupt_at("fold 3 of 3"))
    assert fits.count("gmlvq") == len(list(tmp_path.iterdir())) == 2
    fits.clear()
    resumed = wn.study(table(), "kind", **SETTINGS, running=wn.Running(keep=tmp_path))
    assert fits.count("gmlvq") == 2
    assert content_of(resumed) == content_of(whole)
    again = wn.study(table(), "kind", **SETTINGS, running=wn.Running(keep=tmp_path))
    assert fits.count("gmlvq") == 2
    assert content_of(again) == content_of(whole)


@pytest.mark.parametrize("learner", ["lmnn", "lann"])
def test_a_kept_fit_is_the_fit(learner, fits, tmp_path):
    X, y = table().drop(columns=["kind", "colour"]), table()["kind"].to_numpy()
    methods = Methods(0, kept=KeptFits(tmp_path))
    first, second = (methods.fitted(learner, X, y) for _ in range(2))
    assert fits == [learner]
    assert (first.predict_proba(X) == second.predict_proba(X)).all()
    assert wn.explain(first, X.iloc[3]) == wn.explain(second, X.iloc[3])


@pytest.mark.parametrize(
    "change",
    [
        lambda X, y: (X.iloc[:-1], y[:-1]),
        lambda X, y: (X.rename(columns={"size": "width"}), y),
        lambda X, y: (X.rename(index={"case 3": "case three"}), y),
        lambda X, y: (X.assign(size=X["size"] * (1 + 1e-15)), y),
        lambda X, y: (X, np.where(np.arange(len(y)) == 5, "v", y)),
    ],
)
def test_other_rows_are_fitted_anew(change, fits, tmp_path):
    X, y = table().drop(columns=["kind", "colour"]), table()["kind"].to_numpy()
    methods = Methods(0, kept=KeptFits(tmp_path))
    methods.fitted("grlvq", X, y)
    methods.fitted("grlvq", *change(X, y))
    Methods(1, kept=KeptFits(tmp_path)).fitted("grlvq", X, y)
    assert len(fits) == len(list(tmp_path.iterdir())) == 3


def test_a_damaged_file_is_fitted_and_written_again(fits, tmp_path):
    X, y = table().drop(columns=["kind", "colour"]), table()["kind"].to_numpy()
    methods = Methods(0, kept=KeptFits(tmp_path))
    model = methods.fitted("grlvq", X, y)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-7])
    assert (methods.fitted("grlvq", X, y).predict(X) == model.predict(X)).all()
    assert len(fits) == 2
    methods.fitted("grlvq", X, y)
    assert len(fits) == 2


def test_nothing_is_kept_of_fast_fits_and_of_other_methods(fits, tmp_path, monkeypatch):
    X, y = table().drop(columns=["kind", "colour"]), table()["kind"].to_numpy()
    methods = Methods(0, kept=KeptFits(tmp_path))
    methods.fitted("plain kNN", X, y)
    methods.fitted("grlvq", X.assign(size=0.0, noise=0.0), y)  # nothing can be learned
    monkeypatch.setattr(kept_fits, "WORTH_KEEPING", 1000.0)
    methods.fitted("grlvq", X, y)
    assert not list(tmp_path.iterdir())
    assert len(fits) == 3
