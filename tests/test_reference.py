"""Public names stay, are in the reference, have examples, which are run as doctests, and attributes with types."""

import ast
import importlib
import inspect
import re
import textwrap
from pathlib import Path

import pytest

import whynear
from tests.helpers.markdown import with_learners
from whynear.learn.registry import ALL_LEARNERS

REFERENCE = Path(__file__).parent.parent / "docs" / "api"
MODULES = ("datasets", "distributed", "ranking", "spectra", "testing")
PUBLIC = ["GMLVQ", "GRLVQ", "LGMLVQ", "LGRLVQ", "LMNN", "LANN", "Slider", "DIET", "ForwardSelection",
          "BackwardElimination", "LPWeights", "LinearMetric", "DiagonalMetric", "LocalMetric", "as_metric",
          "regularize", "NullSpaceProjector", "null_space", "relevance_intervals", "relevance_floor",
          "regularization_paths", "effective_dimension", "MinimumNormRegressor", "explain", "class_profiles", "embed",
          "embedding_score", "CaseBase", "save", "load", "study", "Reading", "Splitting", "Running",
          "ranking.mean_rank", "ranking.match_share", "ranking.recall_at", "ranking.reciprocal_rank", "datasets.load",
          "datasets.make_xor", "datasets.make_licorice", "datasets.make_relevance", "datasets.make_truth",
          "datasets.truth_kinds", "datasets.make_casebase", "datasets.bin_target", "datasets.read_table",
          "MinkowskiMetric", "NeighborSearch", "CandidateSearch", "TableEncoder", "Relevance", "Retrieval",
          "Explanation", "Study", "plot_embedding", "plot_class_profiles", "predict_table", "predict_to_parquet",
          "compare_studies", "RejectOption", "distributed.fit", "distributed.predict", "SelfAdjustingMemory",
          "Decisions", "Explanations", "Flip", "Flips", "LeftOut", "Promise", "RejectCurve", "StreamHistory",
          "SufficientSets", "ValueExplanation", "Verdicts", "explain_row", "flips", "learn_table", "leave_out",
          "relevance_tolerance", "sufficient_sets", "verdicts", "datasets.KnownSet", "datasets.known_sets",
          "datasets.open_table", "ranking.Found", "ranking.matches_at", "spectra.Baseline", "spectra.SavitzkyGolay",
          "spectra.SpectralTransformer", "spectra.StandardNormalVariate", "RFMRegressor", "MonotoneMetric"]  # fmt: skip


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


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_stays(name):
    assert callable(resolved(name))


def test_every_public_name_is_listed():
    """A name that is listed can only leave by a deprecation (docs/stability.md)."""
    assert {name for name in whynear.__all__ if not inspect.ismodule(getattr(whynear, name))} <= {
        *PUBLIC,
        *(learner.kind for learner in ALL_LEARNERS),
    }


@pytest.mark.parametrize("name", public_names())
def test_a_public_name_has_an_example(name):
    assert ">>> " in inspect.getdoc(resolved(name)), f"whynear.{name} has no example in its docstring"


def test_every_public_name_is_in_the_reference():
    pages = "\n".join(with_learners(path.read_text()) for path in sorted(REFERENCE.glob("*.md")))
    described = set(re.findall(r"^\.\. auto(?:class|function):: whynear\.([\w.]+)$", pages, flags=re.MULTILINE))
    assert set(public_names()) - described == set()


@pytest.mark.parametrize("page", sorted(REFERENCE.glob("*.md")), ids=lambda page: page.stem)
def test_the_reference_names_what_there_is(page):
    for name in re.findall(
        r"^\.\. auto(?:class|function):: (whynear\.[\w.]+)$", with_learners(page.read_text()), flags=re.MULTILINE
    ):
        module, _, own = name.rpartition(".")
        assert hasattr(importlib.import_module(module), own), name


def public_classes():
    """The public classes and what they inherit from within the library."""
    values = [resolved(name) for name in public_names()]
    parts = {part for value in values if inspect.isclass(value) for part in value.__mro__}
    return sorted(
        (part for part in parts if part.__module__.startswith("whynear.")), key=lambda part: part.__qualname__
    )


def set_attributes(kind):
    """The public attributes that the methods of a class set on ``self``."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    stored = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)]
    own = {node.attr for node in stored if isinstance(node.value, ast.Name) and node.value.id == "self"}
    return {name for name in own if not name.startswith("_")}


@pytest.mark.parametrize("kind", public_classes(), ids=lambda kind: kind.__qualname__)
def test_an_attribute_of_a_public_class_has_a_type(kind):
    """A type checker needs no guess: it is declared in the class, or a parameter, whose type mypy asks for."""
    declared = {*inspect.get_annotations(kind), *inspect.signature(kind.__init__).parameters}
    assert set_attributes(kind) - declared == set()
