"""Files of each version open in this one, and say what they said; for 0.1.0 see tests/model/test_files.py."""

import json
import sqlite3
import zipfile
from contextlib import closing

import numpy as np
import pytest

from tests.helpers.kept_files import DATA, said, unpacked
from whynear.cases import store
from whynear.study.result import FORMAT
from whynear.utils import archive

VERSIONS = sorted(path.name for path in DATA.iterdir() if (path / "said.json.gz").exists())


@pytest.fixture
def kept(tmp_path):
    def folder(version):
        unpacked(DATA / version, tmp_path)
        return tmp_path

    return folder


@pytest.mark.parametrize("version", VERSIONS)
def test_the_files_of_a_version_say_what_they_said(version, kept):
    folder = kept(version)
    found = said(folder)
    for name, expected in json.loads((folder / "said.json").read_text()).items():
        if name.startswith(("certainties", "stream", "learned on", "spectra", "sq_distances")):
            np.testing.assert_allclose(found[name], expected, rtol=1e-9, atol=1e-12, err_msg=name)
        else:
            assert found[name] == expected, name


def test_files_of_the_formats_that_are_written_now_are_kept(kept):
    """A new format begins with new kept files: ``python -m tests.helpers.kept_files``."""
    folder = kept(VERSIONS[-1])
    for path in folder.glob("*.whynear"):
        assert json.loads(zipfile.ZipFile(path).read("manifest.json"))["format"] == archive.FORMAT
    assert json.loads((folder / "study.json").read_text())["format"] == FORMAT
    for name in ("cases.db", "encoded_cases.db"):
        with closing(sqlite3.connect(folder / name)) as cases:
            assert cases.execute("PRAGMA user_version").fetchone() == (store.FORMAT,)
