from whynear.studio.models import Judged, Move


def judged(verdict, *stand_ins):
    return Judged(verdict=verdict, loss=1.0, error=0.5, stand_ins=list(stand_ins))


def test_a_move_is_another_verdict_or_other_stand_ins():
    same = Move(feature="a", before=judged("undecided", "b", "c"), after=judged("undecided", "c", "b"))
    assert (same.has_other_verdict, same.has_other_stand_ins) == (False, False)
    moved = Move(feature="a", before=judged("replaceable", "b"), after=judged("indispensable"))
    assert (moved.has_other_verdict, moved.has_other_stand_ins) == (True, True)
