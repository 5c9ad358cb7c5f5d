from whynear.explain.caution import with_caution
from whynear.metric.unusual import UnusualValue


def test_a_reason_without_unusual_values_stands_alone():
    assert with_caution("predicted 3", ()) == "predicted 3"


def test_three_unusual_values_are_named_and_the_others_counted():
    values = [UnusualValue(name, "filled_in") for name in "abcde"]
    assert with_caution("predicted 3", values) == (
        "predicted 3. Caution, it rests on 'a', which is missing and on 'b', which is missing and on 'c', which is "
        "missing and on 2 more"
    )
