from types import SimpleNamespace

import pytest

import whynear as wn
from whynear.model.pipeline import FittedPipeline
from whynear.studio.fewer_features import learner_name, leave_out, left_out, lock, unlock
from whynear.studio.live import what_if
from whynear.studio.models import CaseQuery, LeaveOutQuery
from whynear.studio.store import NotFound, Refused

SEPALS = ["sepal length (cm)", "sepal width (cm)"]
PETALS = ["petal length (cm)", "petal width (cm)"]


def test_features_are_left_out_or_kept(live):
    assert left_out(live, LeaveOutQuery(features=SEPALS)) == SEPALS
    assert left_out(live, LeaveOutQuery(features=PETALS, keep=True)) == SEPALS
    with pytest.raises(Refused, match="'leaf'"):
        left_out(live, LeaveOutQuery(features=["leaf"]))


def test_petals_are_missed_and_sepals_are_not(live):
    with_petals = leave_out(live, LeaveOutQuery(features=SEPALS))
    without = leave_out(live, LeaveOutQuery(features=PETALS))
    assert with_petals.with_all == without.with_all
    assert abs(with_petals.lost) < 0.05
    assert without.lost > 0.1 > 2 * without.lost_error
    assert without.lost == pytest.approx(without.with_all - without.without)


def test_a_locked_model_takes_only_its_features_and_answers(flowers, live):
    studio, number = flowers
    locked = lock(studio.store, live, number, LeaveOutQuery(features=PETALS, keep=True))
    assert locked.features == PETALS
    assert studio.store.study(number)["locked"]["features"] == PETALS
    answer = what_if(live, CaseQuery(row=1, model="locked"))
    assert set(answer.values) == set(PETALS)
    assert answer.prediction == "setosa"
    unlock(studio.store, live, number)
    assert studio.store.study(number)["locked"] is None
    with pytest.raises(NotFound):
        live.model_of("locked")


class Killed(BaseException):
    """Ends a process where it stands."""


def killed(*_, locked=True, **__):
    if locked is not None:
        raise Killed


@pytest.mark.parametrize("place", ["whynear.studio.fewer_features.save", "pathlib.Path.unlink", "note"])
def test_a_kill_leaves_no_locked_features_but_those_of_the_model(flowers, live, monkeypatch, place):
    studio, number = flowers
    sepals, note = LeaveOutQuery(features=SEPALS, keep=True), studio.store.change_study
    lock(studio.store, live, number, LeaveOutQuery(features=PETALS, keep=True))
    with monkeypatch.context() as patch:
        if place == "note":
            patch.setattr(studio.store, "change_study", lambda *a, **changes: killed(**changes) or note(*a, **changes))
        else:
            patch.setattr(place, killed)
        with pytest.raises(Killed):
            unlock(studio.store, live, number) if "unlink" in place else lock(studio.store, live, number, sepals)
    assert studio.store.study(number)["locked"] is None
    lock(studio.store, live, number, sepals)
    assert list(FittedPipeline.of(live.model_of("locked")).columns) == SEPALS
    unlock(studio.store, live, number)


def test_the_learner_is_named_as_the_library_names_it(live, measured_live):
    assert learner_name(live) == "grlvq"
    assert learner_name(measured_live) == "auto"
    assert learner_name(SimpleNamespace(model=wn.RFMRegressor())) == "rfm"
