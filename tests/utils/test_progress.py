import re

import pytest

from whynear.utils.progress import listener, silent, within


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


@pytest.mark.parametrize("progress", [None, False])
def test_without_progress_nothing_is_written(progress, capsys):
    listener(progress)("read", 0.5)
    assert capsys.readouterr() == ("", "")


def test_true_writes_a_line_to_stderr_for_each_step_and_each_tenth_within_it(capsys):
    report = listener(True)
    report("read", 0.0)
    for number in range(100):
        report(f"compare, fold {number}", 0.1 + number / 250)
    report("done\x1b[31m", 1.0)
    printed = capsys.readouterr()
    lines = printed.err.splitlines()
    assert printed.out == ""
    assert [re.sub(r" +[0-9.]+ s  ", " | ", line).strip() for line in lines] == [
        "0% | read",
        "10% | compare, fold 0",
        "20% | compare, fold 25",
        "30% | compare, fold 50",
        "40% | compare, fold 75",
        "100% | done[31m",
    ]


def test_a_function_is_called():
    seen = []
    listener(lambda step, share: seen.append((step, share)))("read", 0.5)
    assert seen == [("read", 0.5)]


@pytest.mark.parametrize("progress", ["yes", 1, []])
def test_what_cannot_be_called_is_refused(progress):
    with pytest.raises(TypeError, match=r"progress must be True, or a function .* got .* instead"):
        listener(progress)
