"""Every public name is in the reference, and its docstring has an example; the examples are run as doctests."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

import whynear

REFERENCE = Path(__file__).parent.parent / "docs" / "api"
MODULES = ("datasets", "distributed", "ranking", "spectra", "testing")


def public_names():
    """Names as they are written after ``whynear.``: those of the package, and those of its public modules."""
    names = [name for name in whynear.__all__ if not inspect.ismodule(getattr(whynear, name))]
    for module in MODULES:
        found = importlib.import_module(f"whynear.{module}")
        own = [name for name, value in vars(found).items()
               if callable(value) and getattr(value, "__module__", "") == found.__name__]  # fmt: skip
        names += [f"{module}.{name}" for name in getattr(found, "__all__", own) if not name.startswith("_")]
    return names


def resolved(name):
    module, _, own = name.rpartition(".")
    return getattr(importlib.import_module(f"whynear.{module}" if module else "whynear"), own)


def test_the_modules_of_the_package_are_looked_at():
    modules = {name for name in whynear.__all__ if inspect.ismodule(getattr(whynear, name))}
    assert modules <= set(MODULES)
    assert {"GMLVQ", "Study", "ranking.mean_rank", "testing.check_learner"} <= set(public_names())


@pytest.mark.parametrize("name", public_names())
def test_a_public_name_has_an_example(name):
    assert ">>> " in inspect.getdoc(resolved(name)), f"whynear.{name} has no example in its docstring"


def test_every_public_name_is_in_the_reference():
    pages = "\n".join(path.read_text() for path in sorted(REFERENCE.glob("*.md")))
    described = set(re.findall(r"^\.\. auto(?:class|function):: whynear\.([\w.]+)$", pages, flags=re.MULTILINE))
    assert set(public_names()) - described == set()


@pytest.mark.parametrize("page", sorted(REFERENCE.glob("*.md")), ids=lambda page: page.stem)
def test_the_reference_names_what_there_is(page):
    for name in re.findall(r"^\.\. auto(?:class|function):: (whynear\.[\w.]+)$", page.read_text(), flags=re.MULTILINE):
        module, _, own = name.rpartition(".")
        assert hasattr(importlib.import_module(module), own), name
