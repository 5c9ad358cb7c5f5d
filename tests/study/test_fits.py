"""The fits of a comparison, in this process and in others."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from whynear.study import methods
from whynear.study.fits import FitRows, Fits, answers
from whynear.study.methods import PLAIN, KeptFits, Methods
from whynear.work import processes
from whynear.work.processes import Processes

NAMES = ("grlvq", "gmlvq", PLAIN)


def fits_of(kept=None, **settings):
    rng = np.random.default_rng(0)
    y = np.repeat(["u", "v"], 20)
    X = pd.DataFrame({"size": (y == "v") + rng.normal(0, 0.5, 40), "noise": rng.normal(size=40)})
    places = rng.permutation(40)
    parts = (
        FitRows(1, places[:20], places[20:], NAMES),
        FitRows(2, places[20:], places[:20], NAMES),
        FitRows(1, places[:10], places[10:20], NAMES[:2], within=True),
    )
    return Fits(X, y, None, None, Methods(0, kept=kept or KeptFits()), parts, **settings)


@pytest.fixture
def two_processes(monkeypatch):
    monkeypatch.setattr(processes, "WORTH_STARTING", 0.0)
    workers = Processes(2, also_here=True)
    yield workers
    workers.close()


@pytest.fixture
def fitted(monkeypatch):
    """The methods that are fitted in this process; every fit is worth keeping."""
    seen, fit = [], Methods._fitted
    monkeypatch.setattr(methods, "WORTH_KEEPING", 0.0)
    monkeypatch.setattr(Methods, "_fitted", lambda self, name, *rows: seen.append(name) or fit(self, name, *rows))
    return seen


def by_key(found):
    return {(answer.part.fold, answer.part.within, answer.name): answer for answer in found}


def test_every_method_of_every_part_answers_once_for_the_rows_held_out():
    fits = fits_of()
    found = list(answers(fits, NAMES[:2], lambda *_: None))
    assert len(found) == len(by_key(found)) == 8
    for answer in found:
        known, rows = fits.known(answer.part), fits.X.iloc[answer.part.test]
        assert_array_equal(answer.predicted, Methods(0).fitted(answer.name, *known).predict(rows))
        assert (answer.model is None) == (answer.part.within or answer.name == PLAIN)
        assert answer.shares is None


def test_probabilities_are_those_of_the_classes_in_order():
    found = list(answers(fits_of(probabilities=True), (), lambda *_: None))
    for answer in found:
        shares = answer.shares_of(np.array(["t", "u", "v"]))
        assert_array_equal(shares[:, 0], 0.0)
        assert_allclose(shares[:, 1:], answer.shares)


def test_a_model_is_finished_before_it_predicts():
    fits = fits_of(finish={"grlvq": lambda model, X, y, groups, weights: Methods(0).fitted("gmlvq", X, y)})
    found = by_key(answers(fits, NAMES[:2], lambda *_: None))
    assert_array_equal(found[1, False, "grlvq"].predicted, found[1, False, "gmlvq"].predicted)


@pytest.mark.slow
def test_other_processes_give_the_same_answers(two_processes):
    here = by_key(answers(fits_of(probabilities=True), NAMES[:2], lambda *_: None))
    there = by_key(answers(fits_of(probabilities=True), NAMES[:2], lambda *_: None, two_processes))
    assert here.keys() == there.keys()
    assert two_processes._pool is not None
    for key, answer in here.items():
        assert answer.shares.tobytes() == there[key].shares.tobytes()
        assert_array_equal(answer.predicted, there[key].predicted)
    omegas = [found[2, False, "gmlvq"].model[-1].metric_.omega for found in (here, there)]
    assert omegas[0].tobytes() == omegas[1].tobytes()


def test_kept_fits_are_not_repeated_also_those_within_folds(fitted, tmp_path):
    first = by_key(answers(fits_of(KeptFits(tmp_path), probabilities=True), NAMES[:2], lambda *_: None))
    assert len(fitted) == 8
    assert len(list(tmp_path.iterdir())) == 6
    fitted.clear()
    again = by_key(answers(fits_of(KeptFits(tmp_path), probabilities=True), NAMES[:2], lambda *_: None))
    assert fitted == [PLAIN, PLAIN]
    assert all(answer.shares.tobytes() == again[key].shares.tobytes() for key, answer in first.items())


@pytest.mark.slow
def test_fits_of_other_processes_are_kept_here(fitted, tmp_path, two_processes):
    list(answers(fits_of(KeptFits(tmp_path)), NAMES[:2], lambda *_: None, two_processes))
    assert len(list(tmp_path.iterdir())) == 6
    fitted.clear()
    list(answers(fits_of(KeptFits(tmp_path)), NAMES[:2], lambda *_: None))
    assert fitted == [PLAIN, PLAIN]


def test_folds_and_methods_are_reported_with_the_share_done():
    said = []
    list(answers(fits_of(), (), lambda *report: said.append(report)))
    steps, shares = zip(*said, strict=True)
    folds = [step.partition(":")[0] for step in steps]
    assert folds == ["compare learners, fold 1 of 2"] * 5 + ["compare learners, fold 2 of 2"] * 3
    assert any(": GMLVQ, about 10 s left for this step" in step for step in steps)
    assert shares[0] == 0.0
    assert all(0 <= share < 1 for share in shares)


def test_an_error_of_a_fit_is_raised_as_it_is(monkeypatch):
    def broken(*_):
        raise ArithmeticError("no such fit")

    monkeypatch.setattr(Methods, "_fitted", broken)
    with pytest.raises(ArithmeticError, match=r"^no such fit$"):
        list(answers(fits_of(), (), lambda *_: None))
