from whynear.utils.progress import silent, within


def test_a_part_reports_its_share_of_the_whole():
    seen = []
    part = within(lambda step, share: seen.append((step, share)), 0.2, 0.6)
    part("begin", 0.0)
    part("end", 1.0)
    assert seen == [("begin", 0.2), ("end", 0.6)]


def test_parts_can_have_parts():
    seen = []
    within(within(lambda _, share: seen.append(share), 0.5, 1.0), 0.0, 0.5)("half", 1.0)
    assert seen == [0.75]


def test_nobody_need_listen():
    assert silent("step", 0.5) is None
