"""Studies of rows that follow in time: wherever rows are held out, they are later than those learned from."""

import json
import shlex
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

import whynear as wn
from tests.helpers.command_line import run
from tests.helpers.pages import markup_of
from tests.helpers.studies import of_days
from whynear.data.rows import TimeOrder
from whynear.learn.registry import MINIMUM_NORM
from whynear.study.comparison import compare
from whynear.study.feature_findings import copies_across_folds
from whynear.study.folds import folds_of, possible_folds
from whynear.study.methods import PLS, RIDGE, Methods
from whynear.study.settings import python_lines, shell_line

pytestmark = pytest.mark.slow  # whole studies

FEATURES = ["heat", "wear", "load", "sign"]


def compared(table, learners=("lmnn",), **settings):
    X, y = table[FEATURES], table["y"].to_numpy()
    return compare(X, y, learners, Methods(0), n_folds=4, report=lambda *_: None, **settings)


def order_of(table):
    return TimeOrder(table["day"].to_numpy(), "day")


def test_random_folds_give_fifteen_points_too_much_and_in_time_the_truth_comes_out():
    kept, truth = [], []
    for seed in range(8):
        table = of_days(160, seed=seed)
        known, later = table[table["day"] < 40], table[table["day"] >= 40]
        in_time = compared(known, groups=order_of(known))
        kept.append(in_time.expected)
        truth.append(np.mean([model.predict(later[FEATURES]) == later["y"].to_numpy() for model in in_time.models]))
        assert compared(known).expected - truth[-1] > 0.15
    assert np.mean(kept) == pytest.approx(np.mean(truth), abs=0.05)


@pytest.fixture(scope="module")
def table():
    return of_days(40)


@pytest.fixture(scope="module")
def study(table):
    return wn.study(table, "y", learner="lmnn", splitting=wn.Splitting(folds=4, time="day"))


def test_the_score_is_that_of_later_rows(table, study):
    assert study.comparison.expected == compared(table, groups=order_of(table)).expected
    assert compared(table).expected - study.comparison.expected > 0.15
    assert list(study.problem.X) == FEATURES


def test_the_first_rows_are_never_held_out_and_all_others_once(table, study):
    found = study.comparison.predictions
    assert len(found) == len(study.comparison.places) == 256
    held_out = table["day"].iloc[study.comparison.places]
    assert held_out.min() == 8
    assert len(study.comparison.by_method) == len(study.comparison.probabilities) == 256
    days = held_out.groupby(found["fold"].to_numpy()).agg(["min", "max"])
    assert (days["min"].to_numpy()[1:] > days["max"].to_numpy()[:-1]).all()


def test_which_day_it_is_decides_nothing_about_later_days(table, study):
    ignoring = wn.verdicts(study.model, table[FEATURES], table["y"].to_numpy(), random_state=0)
    assert {"heat", "wear", "load"} & set(ignoring.sets.best)
    assert ignoring.score - study.verdicts.score > 0.15
    assert not study.verdicts.named("indispensable") or study.verdicts.named("indispensable") == ("sign",)


def test_everything_that_is_fitted_to_a_part_is_fitted_to_the_first_part(table, monkeypatch):
    """All learners of a study see rows up to some day, in the comparison, the choices, the tolerance and verdicts."""
    seen = []

    def watched(self, X, y, *words, **named):
        seen.append(np.asarray(X)[:, -1])
        return fit(self, X, y, *words, **named)

    fit = wn.GRLVQ.fit
    clock = table.assign(sign=table["day"] + table.index * 1e-6).drop(
        columns=["heat", "load"]
    )  # a feature that is the time
    monkeypatch.setattr(wn.GRLVQ, "fit", watched)
    wn.study(clock, "y", learner="grlvq", splitting=wn.Splitting(folds=3, time="day"))
    sizes = sorted({len(times) for times in seen})
    assert len(sizes) > 5
    for times in seen:
        assert (np.diff(times) > 0).all()
    whole = max(seen, key=len)
    for times in seen:  # standardised, so that only the ranks of equal steps can be compared
        gaps = np.diff(times) / np.diff(times).max()
        assert gaps == pytest.approx((np.diff(whole) / np.diff(whole).max())[: len(gaps)], abs=1e-6)


def test_the_choice_among_learners_is_made_forward_in_time(table, monkeypatch):
    seen = []

    def watched(self, name, X, y, groups=None, weights=None):
        seen.append((table.loc[X.index, "day"].max(), groups))
        assert table.loc[X.index, "day"].tolist() == groups.times.tolist()
        assert len(X) == (table["day"] <= seen[-1][0]).sum()
        return fitted(self, name, X, y, groups)

    fitted = Methods.fitted
    monkeypatch.setattr(Methods, "fitted", watched)
    compared(table, ["grlvq", "gmlvq"], groups=order_of(table))
    assert len({last for last, _ in seen}) > 4


def test_lann_chooses_its_settings_forward_in_time(table, monkeypatch):
    choice = import_module("whynear.learn.lann.fitting")
    held = []

    def watched(*words, **named):
        held.extend(split_rows(*words, **named))
        return split_rows(*words, **named)

    split_rows = choice.split_rows
    monkeypatch.setattr(choice, "split_rows", watched)
    Methods(0).fitted("lann", table[FEATURES], table["y"].to_numpy(), order_of(table))
    days = table["day"].to_numpy()
    assert held
    assert all(days[train].max() < days[test].min() for train, test in held)


def test_numbers_are_predicted_from_earlier_rows():
    rng = np.random.default_rng(0)
    time = np.arange(160)
    X = pd.DataFrame({"clock": time + 0.1 * rng.standard_normal(160), "x": rng.standard_normal(160)})
    y = np.sin(time / 8) * 3 + X["x"].to_numpy()
    settings = {"n_folds": 4, "report": lambda *_: None}
    random = compare(X, y, (MINIMUM_NORM,), Methods(0), **settings)
    in_time = compare(X, y, (MINIMUM_NORM,), Methods(0), **settings, groups=TimeOrder(time, "t"))
    assert random.score_of("plain kNN").value - in_time.score_of("plain kNN").value > 0.15
    assert len(in_time.predictions) == len(in_time.by_method) == 128
    assert in_time.groups is None
    study = wn.study(X.assign(y=y, t=time), "y", learner="minimum norm", splitting=wn.Splitting(time="t", folds=4))
    assert study.comparison.score == in_time.score
    for name in (MINIMUM_NORM, RIDGE, PLS):
        assert np.isfinite(in_time.score_of(name).value)


def test_what_is_held_out_is_said(study, tmp_path):
    assert study.finding().endswith(
        "Of 320 rows, 256 were held out, each later by 'day' than all rows that it was predicted from."
    )
    study.save(tmp_path)
    page = markup_of(tmp_path / "report.html")
    assert "what to expect on later cases (± standard error)." in page
    assert "rows, 256 were held out, each later by “day” than all rows that it was predicted from." in page
    assert "verdicts, they were later by “day” than all rows learned from; the first rows were never held out" in page
    assert "stratified" not in page
    assert "<dt>time</dt><dd>day</dd>" in page
    assert json.loads((tmp_path / "study.json").read_text(encoding="utf-8"))["settings"]["time"] == "day"
    assert len(pd.read_csv(tmp_path / "predictions.csv")) == len(pd.read_csv(tmp_path / "map-after.csv")) == 256
    for case in study.cases:
        assert case.row in study.comparison.predictions.index


def test_the_lines_that_repeat_the_study_name_the_time(study):
    asked = "days.csv", "y", study.inputs
    assert "time='day'" in python_lines(*asked)
    assert "--time day" in shell_line(*asked)


@pytest.mark.usefixtures("blank_figures")
def test_the_command_line_takes_times(tmp_path):
    path = tmp_path / "days.csv"
    table = of_days(12, 6)
    table.assign(day=pd.Timestamp("2020-01-01") + pd.to_timedelta(table["day"], "D")).to_csv(path, index=False)
    words = shlex.split(f"study {path} --target y --learner grlvq --time day --folds 20 --out {tmp_path / 'out'}")
    done = run(*words)
    assert done.exit_code == 0, done.output
    said = " ".join(done.stdout.split())
    assert "time 'day': 12 different times, later rows held out" in said
    assert "Column 'day' has 12 different times, so at most 11 folds can be made." in said
    refused = run(*words, "--group", "sign")
    assert refused.exit_code == 2
    assert "group='sign' and time='day' ask for different folds" in " ".join(refused.stderr.split())


def test_classes_that_are_never_held_out_or_never_before_are_refused():
    times = TimeOrder(np.arange(12), "day")
    first = np.array(["u", "u", "u", "v", "w"] + ["v", "w"] * 3 + ["v"])
    with pytest.raises(ValueError, match="Class 'u' occurs only in the first rows by 'day'"):
        folds_of(first, 2, 0, times)
    with pytest.raises(ValueError, match="Two classes come together only at the last of 'day'"):
        folds_of(np.array(["u"] * 11 + ["v"]), 2, 0, times)
    assert possible_folds(first, 3, times) == (3, ())


def test_a_copy_counts_if_it_is_earlier():
    X, fold = pd.DataFrame({"a": [1.0, 1.0, 2.0, 2.0]}), pd.Series([0, 1, 1, 2])
    assert copies_across_folds(X, fold).tolist() == [False, True, False, True]
