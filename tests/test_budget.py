import importlib.util

import pytest

from tests.budget import beyond, counts, cycles, long_doors, string_imports, trees_of
from tests.walk import Walk

FILES = {
    "__init__.py": "HOMES = {'tiny.core.a': ('first',)}\n",
    "core/__init__.py": "",
    "core/a.py": "from tiny.core.b import second\n\ndef first(x):\n    return second(x) + second(x)\n",
    "core/b.py": "def second(x):\n    from tiny.core import a\n    return x\n",
    "core/c.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from tiny.core.d import D\n",
    "core/d.py": "import tiny.core.c\nfrom tiny.studio.e import WRITER\n",
    "studio/__init__.py": "",
    "studio/e.py": "WRITER = 'tiny.core.d'\nMADE = f'tiny.core.{WRITER}'\nOTHER = 'tiny words'\n",
}


@pytest.fixture
def tiny(tmp_path):
    """A package of a core and a wing."""
    for name, text in FILES.items():
        path = tmp_path / "tiny" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "tiny"


def test_modules_and_lines_are_counted_for_the_core_and_the_wings(tiny, tmp_path):
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "test_a.py").write_text("one\ntwo\n")
    found = counts(tiny, tests)
    assert (found["modules"], found["modules of the core"], found["modules of the wings"]) == (8, 6, 2)
    assert found["lines"] == found["lines of the core"] + found["lines of the wings"] == 16
    assert found["lines of tests"] == 2


def test_a_cycle_may_pass_through_a_function_and_is_counted_apart_if_it_is_for_types(tiny):
    trees = trees_of(tiny)
    assert cycles(trees) == [["tiny.core.a", "tiny.core.b"]]
    assert cycles(trees, types=True) == [["tiny.core.a", "tiny.core.b"], ["tiny.core.c", "tiny.core.d"]]


def test_imports_between_folders_are_no_cycle_of_a_folder(tiny):
    (tiny / "studio/e.py").write_text("import tiny.core.d\n")
    assert cycles(trees_of(tiny)) == [["tiny.core.a", "tiny.core.b"]]


def test_only_parameters_a_caller_gives_are_counted(tiny):
    names = ", ".join(f"p{place}" for place in range(12))
    (tiny / "core/a.py").write_text(
        f"class A:\n    def f(self, {names}): ...\n    def g(self, {names}, *, more): ...\n"
    )
    assert long_doors(trees_of(tiny)) == [("tiny.core.a:g", 13)]


def test_texts_that_name_a_module_are_imports_by_string_but_for_the_tables_of_the_root(tiny):
    assert string_imports(trees_of(tiny)) == ["tiny.studio.e:'tiny.core.d'", "tiny.studio.e:f'tiny.core.{WRITER}'"]


def test_what_grew_and_what_has_no_budget_is_beyond_it():
    assert beyond({"lines": 5, "modules": 3, "cycles": 1}, {"lines": 5, "modules": 2}) == [
        ("modules", 3, 2),
        ("cycles", 1, 0),
    ]


def test_a_return_is_a_call_from_another_module_into_one_that_was_visited(tmp_path):
    texts = {
        "low": "def add(x): return x + 1\ndef twice(x): return add(add(x))\n",
        "high": "import low\ndef start(): return low.add(1) + low.add(2) + low.twice(3) + sum(map(low.add, [1]))\n",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        spec = importlib.util.spec_from_file_location("high", tmp_path / "high.py")
        high = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(high)
    walk = Walk(root=f"{tmp_path}/").of(high.start)
    assert walk.modules == {"high.py", "low.py"}
    assert walk.returns == {("high.py", "low.py", "add"), ("high.py", "low.py", "twice")}
    assert walk.times(("add",)) == 5
