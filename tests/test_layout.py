"""The layout of the library: its public names, one owner for each idea."""

import ast
import inspect
from pathlib import Path

import pytest

import whynear as wn
from whynear.learn.registry import ALL_LEARNERS

SOURCE = Path(wn.__file__).parent
TESTS = Path(__file__).parent
MODULES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if path.name != "__init__.py")
ARRAYS = {Path("utils/arrays.py")}

PUBLIC = [
    "GMLVQ",
    "GRLVQ",
    "LGMLVQ",
    "LGRLVQ",
    "LMNN",
    "LANN",
    "Slider",
    "DIET",
    "ForwardSelection",
    "BackwardElimination",
    "LPWeights",
    "LinearMetric",
    "DiagonalMetric",
    "LocalMetric",
    "as_metric",
    "regularize",
    "NullSpaceProjector",
    "null_space",
    "relevance_intervals",
    "relevance_floor",
    "regularization_paths",
    "effective_dimension",
    "MinimumNormRegressor",
    "explain",
    "class_profiles",
    "embed",
    "embedding_score",
    "CaseBase",
    "save",
    "load",
    "study",
    "Reading",
    "Splitting",
    "Running",
    "ranking.mean_rank",
    "ranking.match_share",
    "ranking.recall_at",
    "ranking.reciprocal_rank",
    "datasets.load",
    "datasets.make_xor",
    "datasets.make_licorice",
    "datasets.make_relevance",
    "datasets.make_truth",
    "datasets.truth_kinds",
    "datasets.make_casebase",
    "datasets.bin_target",
    "datasets.read_table",
    "MinkowskiMetric",
    "NeighborSearch",
    "CandidateSearch",
    "TableEncoder",
    "Relevance",
    "Retrieval",
    "Explanation",
    "Study",
    "plot_embedding",
    "plot_class_profiles",
    "predict_table",
    "predict_to_parquet",
    "compare_studies",
    "RejectOption",
    "distributed.fit",
    "distributed.predict",
    "SelfAdjustingMemory",
    "Decisions",
    "Explanations",
    "Flip",
    "Flips",
    "LeftOut",
    "Promise",
    "RejectCurve",
    "StreamHistory",
    "SufficientSets",
    "ValueExplanation",
    "Verdicts",
    "explain_row",
    "flips",
    "learn_table",
    "leave_out",
    "relevance_tolerance",
    "sufficient_sets",
    "verdicts",
    "datasets.KnownSet",
    "datasets.known_sets",
    "datasets.open_table",
    "ranking.Found",
    "ranking.matches_at",
    "spectra.Baseline",
    "spectra.SavitzkyGolay",
    "spectra.SpectralTransformer",
    "spectra.StandardNormalVariate",
]


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_stays(name):
    found = wn
    for part in name.split("."):
        found = getattr(found, part)
    assert callable(found)


def test_every_public_name_is_listed():
    """A name that is listed can only leave by a deprecation (docs/stability.md)."""
    assert {name for name in wn.__all__ if not inspect.ismodule(getattr(wn, name))} <= {
        *PUBLIC,
        *(learner.kind for learner in ALL_LEARNERS),
    }


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_kinds_of_arrays_are_defined_once(module):
    tree = ast.parse((SOURCE / module).read_text())
    assigned = {target.id for node in tree.body if isinstance(node, ast.Assign) for target in node.targets
                if isinstance(target, ast.Name)}  # fmt: skip
    assert module in ARRAYS or not assigned & {"Array", "Indices"}


def test_pipelines_are_taken_apart_where_models_and_metrics_are():
    texts = {module: (SOURCE / module).read_text() for module in MODULES}
    found = {str(module) for module, text in texts.items() if ", Pipeline)" in text or "best_estimator_" in text}
    assert {name for name in found if not name.startswith(("metric", "model"))} == {
        "study/methods.py"
    }  # which puts them together


def test_test_modules_hold_no_helpers_of_others():
    for path in TESTS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("tests."):
                assert not node.module.rpartition(".")[2].startswith("test_"), f"{path.name} imports {node.module}"
