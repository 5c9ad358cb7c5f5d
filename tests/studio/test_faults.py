from whynear.studio.store import NotFound, Refused, TooLarge, WrongState


def test_each_refusal_has_its_status():
    assert [kind("why").status for kind in (Refused, NotFound, WrongState, TooLarge)] == [400, 404, 409, 413]
