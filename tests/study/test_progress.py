from whynear.study.progress import Steps


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
