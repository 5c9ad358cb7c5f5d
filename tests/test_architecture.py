"""The drawing of the folders is that of the code."""

import subprocess
from pathlib import Path

import pytest
from docs.architecture import DRAWING, TYPES, drawing, library

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def read():
    return library(ROOT)


def test_the_drawing_is_made_of_the_contract_and_the_imports(read):
    assert DRAWING.read_text(encoding="utf-8") == drawing(read), "make architecture draws it again"


def test_every_folder_is_drawn_once_with_what_it_is(read):
    drawn = [name for rows in read.storeys().values() for row in rows for name in row]
    for path in ROOT.glob("src/whynear/*/__init__.py"):
        assert any(f"{name}.".startswith(f"{path.parent.name}.") for name in drawn), path
    assert len(drawn) == len(set(drawn))
    assert all(read.about[name] for name in drawn)


def test_the_core_imports_no_wing_and_no_command(read):
    core = read.core()
    assert read.below(core) == core


def test_every_type_has_one_place(read):
    assert all(read.place_of(kind) for kind in TYPES)


def test_a_folder_that_others_import_is_named_once(tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        '[tool.importlinter]\nroot_package = "p"\n[[tool.importlinter.contracts]]\ntype = "layers"\n'
        'layers = ["p.command", "p.wing", "p.study", "p.model | p.data"]\n'
    )
    parts = {
        "": "from p.wing import found",
        "command": "import p as q\nq.found",
        "wing": "def found():\n    from p.data import x",
        "study": "from p.model import y\nfrom p.data import x\nclass Study: ...\ndef render(): ...",
        "model": "from p.data import x",
        "data": "",
    }
    for name, text in parts.items():
        folder = tmp_path / "src" / "p" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.py").write_text(f'"""About {name}."""\n{text}\n')
    read = library(tmp_path)
    rows = {"command line": [["command"]], "wings": [["wing"]], "core": [["study"], ["model", "data"]]}
    assert read.storeys() == rows
    assert read.direct_imports("study") == ["model"]
    assert read.about["wing"] == "About wing."


def test_make_help_lists_every_target():
    phony = next(line for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith(".PHONY:"))
    listed = subprocess.check_output(["make", "--no-print-directory", "help"], cwd=ROOT, text=True)
    assert {line.split()[0] for line in listed.splitlines()} == set(phony.split()[1:])
