"""Names of packages that are imported when they are first used."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import whynear
from whynear.learn import registry

HEAVY = {"matplotlib", "umap", "highspy", "pandas", "sklearn", "numba", "numpy", "scipy", "pynndescent"}


def modules_after(code):
    """The top-level modules that a fresh interpreter has imported after some code."""
    script = f"{code}\nimport sys\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    return set(output_of(script).split())


def output_of(script, *words):
    return subprocess.run([sys.executable, "-c", script, *words], check=True, capture_output=True, text=True).stdout


def test_importing_the_library_imports_nothing_heavy():
    assert not modules_after("import whynear; dir(whynear)") & HEAVY


SLOW = {"matplotlib", "umap", "highspy", "pynndescent", "jinja2", "sqlite3"}


USED = {
    "LinearMetric": set(),
    "GMLVQ": set(),
    "LANN": set(),
    "NeighborSearch(wn.DiagonalMetric([1.0]), [[0.0]])": set(),
    "CandidateSearch": set(),
    "relevance_intervals": set(),
    "explain": set(),
    "embed": set(),
    "TableEncoder": set(),
    "save": set(),
    "predict_table": set(),
    "learn_table": set(),
    "CaseBase": {"sqlite3"},  # the last one: no other may import what is not allowed to it
}

# The library is imported anew for every line; what it imported from others stays.
ANEW = """
import json, sys
said = []
for line in json.loads(sys.argv[1]):
    for name in [name for name in sys.modules if name.partition(".")[0] == "whynear"]:
        del sys.modules[name]
    names = {}
    exec(line, names)
    said.append([sorted({name.partition(".")[0] for name in sys.modules}), names.get("found")])
print(json.dumps(said))
"""


FOLDERS = ("explain", "study")


@pytest.fixture(scope="module")
def said():
    """By what is used or imported, the top-level modules that are imported after it, and what it calls ``found``."""
    lines = {used: f"import whynear as wn; wn.{used}" for used in USED}
    lines |= {f"folder {n}": f"import whynear.{n}; import whynear; found = callable(whynear.{n})" for n in FOLDERS}
    return dict(zip(lines, json.loads(output_of(ANEW, json.dumps([*lines.values()]))), strict=True))


@pytest.mark.parametrize("used", USED)
def test_a_public_name_imports_nothing_that_it_does_not_need_yet(used, said):
    modules = set(said[used][0])
    assert "numpy" in modules
    assert modules & SLOW <= USED[used]


@pytest.mark.parametrize("first", FOLDERS)
def test_a_function_wins_over_the_folder_of_its_name(first, said):
    assert said[f"folder {first}"][1] is True


def test_every_public_name_is_found_and_unknown_ones_are_refused():
    assert all(getattr(whynear, name) is not None for name in whynear.__all__)
    assert set(whynear.__all__) <= set(dir(whynear))
    with pytest.raises(AttributeError, match="module 'whynear' has no attribute 'expalin'"):
        _ = whynear.expalin


def test_type_checkers_see_the_same_names():
    seen = {name for module in (whynear, registry) for name in _names_for_type_checkers(module)}
    assert seen == {*whynear.__all__, "*"}


def _names_for_type_checkers(module):
    tree = ast.parse(Path(module.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    return {alias.asname or alias.name for statement in block.body for alias in statement.names}


def test_what_imports_made_is_not_searched_for_garbage_afterwards():
    script = """
import gc
from whynear.utils.lazy import nothing_collected
with nothing_collected():
    inside = gc.isenabled()
print(inside, gc.isenabled(), gc.get_freeze_count() > 0)
"""
    assert output_of(script).split() == ["False", "True", "True"]
