import sys

import pytest

from whynear.engine.code_state import RUNNER_MODULES, code_digest, differences, modules_needed, versions
from whynear.reproduce import EXPERIMENTS


def test_a_module_needs_what_it_imports():
    of_relevance = modules_needed("whynear.reproduce.beyond.relevance_cells")
    assert {"whynear.learn.lvq.gmlvq", "whynear.study.interpretation", "whynear.interpret.intervals"} <= of_relevance
    assert "whynear.reproduce.accuracy" in modules_needed("whynear.reproduce.lann.cells")
    assert not any(name.startswith(RUNNER_MODULES) for name in of_relevance)
    assert not any(name.startswith("whynear.cli") for name in of_relevance)


def test_no_result_needs_drawings_or_pages():
    modules = {cell.work.__module__ for make in EXPERIMENTS.values() for cell in make().cells}
    needed = set().union(*map(modules_needed, modules))
    assert len(modules) >= 6
    assert not {"whynear.reproduce.page", "whynear.reproduce.drawing", "whynear.reproduce.schulz.drawing"} & needed


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A package with a module that imports another one."""
    package = tmp_path / "whynear_like"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "work.py").write_text("from whynear.utils.threads import one_blas_thread")
    monkeypatch.syspath_prepend(tmp_path)
    yield package / "work.py"
    for name in [name for name in sys.modules if name.startswith("whynear_like")]:
        del sys.modules[name]


def test_a_digest_changes_with_the_sources(module):
    first = code_digest.__wrapped__("whynear_like.work")
    assert "whynear.utils.threads" in modules_needed("whynear_like.work")
    assert code_digest.__wrapped__("whynear_like.work") == first
    module.write_text(module.read_text() + "  # changed")
    assert code_digest.__wrapped__("whynear_like.work") != first


def test_the_versions_of_this_process_differ_from_others_only():
    assert differences(versions()) == ""
    assert set(versions()) == {"whynear", "numba", "numpy", "scikit-learn", "scipy", "sources"}
    assert f"has whynear {versions()['whynear']} instead of 9.9. Install" in differences(
        versions() | {"whynear": "9.9"}
    )
