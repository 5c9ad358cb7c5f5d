import pytest

from whynear.studio.runner import learners_after, progress_of, seconds_left

ROW = {"begun": 100.0, "ended": None, "state": "running", "share": 0.5, "expected": 60.0, "learners": {}}
FIT = "compare learners, fold {} of 5: {}, about 20 s left for this step"


def test_the_folds_of_each_learner_are_counted_and_the_current_one_is_last():
    learners = {}
    for fold, name in ((1, "GMLVQ"), (1, "LANN"), (2, "GMLVQ")):
        learners = learners_after(learners, FIT.format(fold, name))
    assert list(learners.items()) == [("LANN", 1), ("GMLVQ", 2)]
    assert learners_after(learners, "map the cases") == learners
    shown = progress_of({**ROW, "learners": learners, "step": FIT.format(2, "GMLVQ")}, 110.0)
    assert [one for one in shown["learners"] if one["current"]] == [{"name": "GMLVQ", "folds": 2, "current": True}]


def test_a_real_report_of_a_study_names_its_learner():
    from whynear.study.fits import FitWatch

    said = []
    FitWatch(lambda step, share: said.append(step), [("gmlvq", 2.0)]).begin("compare learners, fold 3 of 5", "gmlvq")
    assert learners_after({}, said[0]) == {"GMLVQ": 3}


@pytest.mark.parametrize(
    ("share", "spent", "expected", "left"),
    [
        (0.0, 5.0, None, None),
        (0.0, 5.0, 60.0, 55.0),
        (0.0, 99.0, 60.0, 0.0),
        (0.25, 10.0, 60.0, 30.0),
        (1.0, 9.0, 1.0, 0.0),
    ],
)
def test_the_time_left(share, spent, expected, left):
    assert seconds_left(share, spent, expected) == left


def test_no_time_is_left_of_a_study_that_does_not_run_and_none_is_spent_before_it_starts():
    assert progress_of({**ROW, "state": "cancelled", "ended": 130.0, "step": "x"}, 999.0)["seconds_left"] is None
    assert progress_of({**ROW, "state": "cancelled", "ended": 130.0, "step": "x"}, 999.0)["seconds"] == 30.0
    assert progress_of({**ROW, "begun": None}, 999.0) is None
