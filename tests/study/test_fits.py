"""The fits of a comparison, in this process and in others."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import whynear as wn
from whynear.study import methods
from whynear.study import methods as kept_fits
from whynear.study.fits import FitRows, Fits, TimeLeft, aligned, held_out_predictions, of_predictions
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
    return {(made.part.fold, made.part.within, made.name): made for made in found}


def test_every_method_of_every_part_is_predicted_once_for_the_rows_held_out():
    fits = fits_of()
    found = list(held_out_predictions(fits, NAMES[:2], lambda *_: None))
    assert len(found) == len(by_key(found)) == 8
    for made in found:
        known, rows = fits.known(made.part), fits.X.iloc[made.part.test]
        assert_array_equal(made.predicted, Methods(0).fitted(made.name, *known).predict(rows))
        assert (made.model is None) == (made.part.within or made.name == PLAIN)
        assert made.shares is None


def test_probabilities_are_those_of_the_classes_in_order():
    found = list(held_out_predictions(fits_of(probabilities=True), (), lambda *_: None))
    for made in found:
        shares = made.shares_of(np.array(["t", "u", "v"]))
        assert_array_equal(shares[:, 0], 0.0)
        assert_allclose(shares[:, 1:], made.shares)


@pytest.mark.slow
def test_other_processes_give_the_same_predictions(two_processes):
    here = by_key(held_out_predictions(fits_of(probabilities=True), NAMES[:2], lambda *_: None))
    there = by_key(held_out_predictions(fits_of(probabilities=True), NAMES[:2], lambda *_: None, two_processes))
    assert here.keys() == there.keys()
    assert two_processes._pool is not None
    for key, made in here.items():
        assert made.shares.tobytes() == there[key].shares.tobytes()
        assert_array_equal(made.predicted, there[key].predicted)
    omegas = [found[2, False, "gmlvq"].model[-1].metric_.omega for found in (here, there)]
    assert omegas[0].tobytes() == omegas[1].tobytes()


def test_kept_fits_are_not_repeated_also_those_within_folds(fitted, tmp_path):
    first = by_key(held_out_predictions(fits_of(KeptFits(tmp_path), probabilities=True), NAMES[:2], lambda *_: None))
    assert len(fitted) == 8
    assert len(list(tmp_path.iterdir())) == 6
    fitted.clear()
    again = by_key(held_out_predictions(fits_of(KeptFits(tmp_path), probabilities=True), NAMES[:2], lambda *_: None))
    assert fitted == [PLAIN, PLAIN]
    assert all(made.shares.tobytes() == again[key].shares.tobytes() for key, made in first.items())


@pytest.mark.slow
def test_fits_of_other_processes_are_kept_here(fitted, tmp_path, two_processes):
    list(held_out_predictions(fits_of(KeptFits(tmp_path)), NAMES[:2], lambda *_: None, two_processes))
    assert len(list(tmp_path.iterdir())) == 6
    fitted.clear()
    list(held_out_predictions(fits_of(KeptFits(tmp_path)), NAMES[:2], lambda *_: None))
    assert fitted == [PLAIN, PLAIN]


def test_folds_and_methods_are_reported_with_the_share_done():
    said = []
    list(held_out_predictions(fits_of(), (), lambda *report: said.append(report)))
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
        list(held_out_predictions(fits_of(), (), lambda *_: None))


# Fits that are kept, so that an interrupted study goes on.


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


CLASSES = np.array(["u", "v", "w"])


def test_every_class_has_a_column_and_every_row_sums_to_one():
    rng = np.random.default_rng(0)
    found = aligned(rng.normal(0.4, 0.5, (50, 2)), np.array(["w", "u"]), CLASSES)
    assert found.shape == (50, 3)
    assert (found >= 0).all()
    assert_allclose(found.sum(axis=1), 1)
    assert_array_equal(found[found[:, [0, 2]].sum(axis=1) > 0.99, 1], 0)


def test_values_outside_zero_and_one_are_clipped():
    assert_allclose(aligned(np.array([[1.5, -0.5], [0.3, 0.3]]), CLASSES[:2], CLASSES), [[1, 0, 0], [0.5, 0.5, 0]])


def test_a_row_without_any_probability_has_equal_ones():
    assert_allclose(aligned(np.array([[0.0, 0.0, 0.0], [np.nan] * 3]), CLASSES, CLASSES), 1 / 3)


def test_the_probability_of_a_prediction_is_that_of_its_class():
    shares = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    assert of_predictions(shares, np.array(["w", "v"]), CLASSES).tolist() == [0.5, 0.3]


# The time that fits will take, judged by those that are done.


def test_what_is_expected_is_left_before_anything_is_done():
    left = TimeLeft([("gmlvq", 2.0), ("lann", 30.0), ("lann", 30.0)])
    assert left.seconds == 62.0
    assert left.share == 0.0
    assert str(left) == "about 60 s left"


def test_each_method_takes_as_long_as_it_took_and_one_not_yet_seen_as_long_as_the_others():
    left = TimeLeft([*[("gmlvq", 1.0)] * 3, *[("lann", 10.0)] * 3, ("lmnn", 5.0)])
    left.done("gmlvq", 1.0, 4.0)
    assert left.seconds == 2 * 4 + 30 * 4 + 5 * 4
    left.done("lann", 10.0, 7.0)
    assert left.seconds == pytest.approx(2 * 4 + 2 * 7 + 5 * 11 / 11)


@given(st.integers(0, 10_000))
def test_the_share_ends_at_one_and_the_time_at_none(seed):
    rng = np.random.default_rng(seed)
    planned = [
        (str(name), float(seconds)) for name, seconds in zip(rng.choice(list("abc"), 9), rng.random(9), strict=True)
    ]
    left = TimeLeft(planned)
    for method, seconds in planned:
        assert 0 <= left.share < 1
        left.done(method, seconds, float(rng.uniform(0.1, 3)) * seconds)
    assert left.seconds == pytest.approx(0, abs=1e-9)
    assert left.share == pytest.approx(1)


def test_where_every_fit_takes_a_constant_times_the_expected_seconds_the_time_left_is_exact_after_one():
    planned = [("a", 1.0), ("b", 5.0), ("c", 3.0), ("a", 2.0)]
    left = TimeLeft(planned)
    for place, (method, seconds) in enumerate(planned):
        left.done(method, seconds, 2.5 * seconds)
        assert left.seconds == pytest.approx(2.5 * sum(rest for _, rest in planned[place + 1 :]))


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.0, "10 s"), (14.0, "10 s"), (47.0, "50 s"), (91.0, "2 min"), (200, "3 min")]
)
def test_the_time_is_said_in_round_numbers(seconds, said):
    assert str(TimeLeft([("lann", seconds)])) == f"about {said} left"


def test_fits_that_run_at_once_take_less_time_together():
    left = TimeLeft([("lann", 30.0), ("lann", 30.0)], n_at_once=2)
    assert left.seconds == 30.0
    left.done("lann", 30.0, 30.0)
    assert left.share == 0.5


def test_the_first_fit_that_is_left_is_reported_with_the_time():
    said, left = [], TimeLeft([("gmlvq", 1.0), ("plain kNN", 1.0)])
    left.tell(lambda *report: said.append(report), "compare learners, fold 1 of 1", "gmlvq")
    assert said[-1] == ("compare learners, fold 1 of 1: GMLVQ, about 10 s left for this step", 0.0)
    left.done("gmlvq", 1.0, 3.0)
    left.tell(lambda *report: said.append(report), "compare learners, fold 1 of 1", "plain kNN")
    assert said[-1] == ("compare learners, fold 1 of 1: plain kNN, about 10 s left for this step", 0.5)
    left.done("plain kNN", 1.0, 3.0)
    assert left.seconds == 0


def test_the_share_never_shrinks():
    said, left = [], TimeLeft([("a", 1.0)] * 2 + [("b", 1.0)] * 8)
    for method, seconds in (("a", 1.0), ("a", 1.0), ("b", 50.0)):
        left.done(method, 1.0, seconds)
        left.tell(lambda *report: said.append(report[1]), "fit", method)
    assert said[2] == said[1] > said[0]
