"""What the README shows is what happens."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from tests.helpers.markdown import blocks, run

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
INTERNAL = {"examples", "docs", "test", "dev"}  # extras for work on the library


def test_the_first_section_says_how_to_install_and_names_every_extra():
    first = README.split("\n## ")[1]
    assert first.startswith("Install\n")
    assert "pip install whynear" in first
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(re.findall(r"^\| `(\w+)` \|", first, flags=re.MULTILINE)) == set(extras) - INTERNAL


def test_the_two_commands_are_shown():
    shown = "".join(block.text for block in blocks(README) if block.language == "sh")
    assert "make study" in shown
    assert "make test" in shown


@pytest.mark.slow
def test_the_python_lines_run_as_they_stand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    load_iris(as_frame=True).frame[::5].rename(columns={"target": "diagnosis"}).to_csv("cases.csv", index=False)
    (block,) = [block for block in blocks(README) if block.language == "python"]
    names = run([block], tmp_path)
    assert names["metric"].feature_names[0] == "alcohol"
    assert names["cases"].shape == (3, 5)
    assert np.array_equal(names["cases"][:, 0], [0, 1, 2])
    assert (tmp_path / "wine.whynear").exists()
    listed = README[README.index("| file | content |") : README.index("| command | what it does |")]
    for name in re.findall(r"`([\w-]+\.(?:csv|html|json|whynear))`", listed):
        assert (tmp_path / "gmlvq" / name).exists(), name
