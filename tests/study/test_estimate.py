import pytest

from whynear.learn.registry import LEARNERS, STUDIED, Traits
from whynear.study.fits import Estimate, estimate, fit_seconds, planned_fits
from whynear.utils.progress import Steps


# Seconds of whole studies, timed on two quiet cores.
@pytest.mark.parametrize(
    ("shape", "n_classes", "spectra", "seconds"),
    [
        ((150, 4), 3, False, 14),
        ((178, 13), 3, False, 18),
        ((569, 30), 2, False, 39),
        ((62, 2_000), 2, False, 65),
        ((683, 113), 19, False, 95),
        ((20_000, 16), 26, False, 129),
        ((100_000, 40), 2, False, 200),
        ((215, 100), 3, True, 140),
        ((215, 100), 0, True, 20),
    ],
)
def test_the_rules_fit_studies_that_were_timed_within_a_factor_of_two(shape, n_classes, spectra, seconds):
    assert seconds / 2 < estimate(*shape, n_classes, spectra=spectra).seconds < 2 * seconds


def test_more_of_anything_takes_more():
    small = estimate(1_000, 10, 2)
    for larger in (estimate(2_000, 10, 2), estimate(1_000, 20, 2), estimate(1_000, 10, 3)):
        assert larger.seconds > small.seconds
    assert estimate(1_000, 10, 2, n_folds=10).seconds > small.seconds
    assert estimate(1_000, 10, 2, ["gmlvq"]).seconds < small.seconds
    assert estimate(1_000_000, 50, 2).n_bytes > 1_000_000 * 50 * 8


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (3, "10 seconds"),
        (24, "20 seconds"),
        (54, "50 seconds"),
        (56, "1 minute"),
        (95, "2 minutes"),
        (600, "10 minutes"),
    ],
)
def test_less_than_a_minute_is_stated_in_seconds(seconds, words):
    assert str(Estimate(seconds, 0.44e9)) == f"about {words} and 0.4 GB of memory"


def test_every_learner_of_a_study_was_timed():
    assert all(LEARNERS[name].traits.cost != Traits().cost for name in STUDIED)


def test_all_methods_are_fitted_on_each_fold_and_learners_within_it_too():
    fits = planned_fits(["grlvq", "gmlvq"], ["plain kNN"], 5, 100, 10, 2)
    assert [name for name, _ in fits[:9]] == ["grlvq", "gmlvq", "plain kNN", *["grlvq"] * 3, *["gmlvq"] * 3]
    assert len(fits) == 45
    assert fits[0] == ("grlvq", fit_seconds("grlvq", 80, 10, 2))
    assert fits[3] == ("grlvq", fit_seconds("grlvq", 53, 10, 2))
    assert len(planned_fits(["grlvq"], ["plain kNN"], 5, 100, 10, 2)) == 10


def test_yardsticks_are_counted_and_a_learner_chooses_once_for_a_fold():
    assert fit_seconds("random forest", 4_000, 40, 2) > fit_seconds("random forest", 400, 40, 2) > 0.1
    assert fit_seconds("boosting", 400, 40, 10) > fit_seconds("boosting", 400, 40, 2) > 0.01
    assert fit_seconds("rfm", 400, 40, 2, settled=True) < 0.2 * fit_seconds("rfm", 400, 40, 2)
    assert fit_seconds("gmlvq", 400, 40, 2, settled=True) == fit_seconds("gmlvq", 400, 40, 2)
    fits = dict(planned_fits(["gmlvq", "rfm"], ["boosting"], 5, 100, 10, 2))
    assert fits["rfm"] == fit_seconds("rfm", 53, 10, 2, settled=True)


def test_a_part_reports_within_its_stretch_of_the_whole():
    seen = []
    steps = Steps(lambda step, share: seen.append((step, share)))
    steps("read", 0.0)
    within = steps.within(0.5, 0.75)
    within("compare", 0.0)
    within("compare", 1.0)
    assert seen == [("read", 0.0), ("compare", 0.5), ("compare", 0.75)]


class Watching:
    def __init__(self):
        self.steps, self.parts = [], {}

    def step(self, name, share):
        self.steps.append((name, share))

    def finished(self, part, value):
        self.parts[part] = value


def test_steps_and_finished_parts_are_passed_to_an_object_and_none_is_needed():
    watching = Watching()
    steps = Steps(watching)
    steps("read", 0.0)
    steps.finish("model", 7)
    assert (watching.steps, watching.parts) == ([("read", 0.0)], {"model": 7})
    silent = Steps()
    silent("read", 0.0)
    silent.finish("model", 7)
