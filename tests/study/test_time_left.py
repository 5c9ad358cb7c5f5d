"""The time that fits will take, judged by those that are done."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whynear.study.fits import FitWatch, TimeLeft


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
    said = []
    watch = FitWatch(lambda *report: said.append(report), [("gmlvq", 1.0), ("plain kNN", 1.0)])
    watch.begin("compare learners, fold 1 of 1", "gmlvq")
    assert said[-1] == ("compare learners, fold 1 of 1: GMLVQ, about 10 s left for this step", 0.0)
    watch.done("gmlvq", 1.0, 3.0)
    watch.begin("compare learners, fold 1 of 1", "plain kNN")
    assert said[-1] == ("compare learners, fold 1 of 1: plain kNN, about 10 s left for this step", 0.5)
    watch.done("plain kNN", 1.0, 3.0)
    assert watch.left.seconds == 0


def test_the_share_never_shrinks():
    said = []
    watch = FitWatch(lambda *report: said.append(report[1]), [("a", 1.0)] * 2 + [("b", 1.0)] * 8)
    for method, seconds in (("a", 1.0), ("a", 1.0), ("b", 50.0)):
        watch.done(method, 1.0, seconds)
        watch.begin("fit", method)
    assert said[2] == said[1] > said[0]
