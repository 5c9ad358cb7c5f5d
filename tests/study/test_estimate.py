import pytest

from whynear.study.estimate import estimate


@pytest.mark.parametrize(
    ("shape", "n_classes", "seconds"),
    [((569, 30), 2, 20), ((215, 100), 0, 13), ((62, 2_000), 2, 150), ((20_000, 16), 26, 190)],
)
def test_the_rules_fit_studies_that_were_timed(shape, n_classes, seconds):
    assert seconds / 3 < estimate(*shape, n_classes).seconds < 3 * seconds


def test_more_of_anything_takes_more():
    small = estimate(1_000, 10, 2)
    for larger in (estimate(2_000, 10, 2), estimate(1_000, 20, 2), estimate(1_000, 10, 3)):
        assert larger.seconds > small.seconds
    assert estimate(1_000_000, 50, 2).n_bytes > 1_000_000 * 50 * 8
    assert str(estimate(100, 3, 2)) == "about 1 minute and 0.4 GB of memory"
