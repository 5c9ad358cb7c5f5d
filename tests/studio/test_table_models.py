from whynear.studio.models import Refusal


def test_a_refusal_need_not_have_a_suggestion():
    assert Refusal(message="no").suggestion == {}
