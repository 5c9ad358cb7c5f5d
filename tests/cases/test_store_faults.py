import os

import pytest

from tests.helpers.case_bases import METRIC, filled
from whynear.cases.case_base import CaseBase
from whynear.cases.store_faults import CaseBaseError


def test_a_path_without_a_base_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError, match=r"must be a file, got a folder"):
        CaseBase(tmp_path, METRIC)
    with pytest.raises(FileNotFoundError, match=r"nowhere does not exist.*give a metric"):
        CaseBase(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*none"):
        CaseBase(tmp_path / "none" / "base", METRIC)
    assert os.listdir(tmp_path) == []


def test_a_damaged_file_is_named(tmp_path):
    path = filled(tmp_path / "base", n=5000)
    content = bytearray(path.read_bytes())
    content[8192 : len(content) // 2] = os.urandom(len(content) // 2 - 8192)
    path.write_bytes(content)
    with pytest.raises(CaseBaseError, match=r"base .*damaged"), CaseBase(path) as base:
        base.retrieve([0.0, 0.0])


def test_a_closed_base_says_so(tmp_path):
    base = CaseBase(tmp_path / "base", METRIC)
    base.close()
    base.close()
    for use in (lambda: base.add([[1.0, 1.0]]), lambda: base.retrieve([0.0, 0.0]), lambda: len(base)):
        with pytest.raises(ValueError, match=r"was closed. Open it again"):
            use()
