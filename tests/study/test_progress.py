from whynear.study.progress import Steps


def test_a_part_reports_within_its_stretch_of_the_whole():
    seen = []
    steps = Steps(lambda step, share: seen.append((step, share)))
    steps("read", 0.0)
    within = steps.within(0.5, 0.75)
    within("compare", 0.0)
    within("compare", 1.0)
    assert seen == [("read", 0.0), ("compare", 0.5), ("compare", 0.75)]


def test_finished_parts_are_handed_out_and_nobody_needs_to_listen():
    parts = {}
    Steps(finished=parts.__setitem__).finish("model", 7)
    assert parts == {"model": 7}
    silent = Steps()
    silent("read", 0.0)
    silent.finish("model", 7)
