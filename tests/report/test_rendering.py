"""The report renders a finished study: it fits, searches, explains and predicts nothing."""

import ast
from pathlib import Path

import pytest

import whynear as wn
from tests.helpers.studies import small_study
from whynear import report
from whynear.study import cases

FILES = sorted(Path(report.__file__).parent.glob("*.py"))
NOTHING_COMPUTED_BY = ("numpy", "scipy", "sklearn", "numba")
ROOMS = ("whynear.report", "whynear.study", "whynear.utils")
ARRAYS_AS_BYTES = "packed_rows.py"  # which needs numpy
DRAWING_AND_SAVING = {
    ("whynear.embed.embedding", "plot_embedding"),
    ("whynear.work.pieces", "Piece"),  # figures are drawn in several processes
    ("whynear.work.workers", "results_of"),
    ("whynear.work.workers", "start_workers"),
    ("whynear.explain", "plot_class_profiles"),
    ("whynear.model.files", "save"),
    ("whynear.reject.curve", "draw_curve"),
    ("whynear.data.delimited", "csv_text"),
    ("whynear.data.delimited", "write_csv"),
    ("whynear.verdict", "Verdicts"),
    ("whynear.verdict.rules", "INDISPENSABLE"),
    ("whynear.verdict.rules", "meanings"),
    ("whynear.verdict.rules", "REPLACEABLE"),
    ("whynear.verdict.verdicts", "STYLES"),
}
STEPS_OF_THE_FLOW = {"study", "explain", "embed", "interpret", "compare"}
STEPS_OF_THE_FLOW |= {"explained_cases", "reasons_of", "levels_of", "findings_of", "maps_of", "error_patterns"}
STEPS_OF_THE_FLOW |= {"rejection_of"}
MADE_PUBLIC = ("whynear.doors", "study")  # with the methods of its result


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module, name.name) for name in node.names)
        elif isinstance(node, ast.Import):
            yield from ((name.name, "") for name in node.names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_report_imports_values_and_drawing_only(path):
    for module, name in imports(path):
        assert path.name == ARRAYS_AS_BYTES or not module.startswith(NOTHING_COMPUTED_BY), module
        assert name not in STEPS_OF_THE_FLOW or (module, name) == MADE_PUBLIC, name
        if module.startswith("whynear"):
            assert module.startswith(ROOMS) or (module, name) in DRAWING_AND_SAVING, (module, name)


@pytest.mark.usefixtures("blank_figures")
def test_saving_a_finished_study_computes_nothing_anew(monkeypatch, tmp_path):
    study = small_study()

    def refused(*_, **__):
        raise AssertionError("computed while the report was written")

    monkeypatch.setattr(cases, "explain_each", refused)
    for name in ("fit", "predict", "predict_proba", "evidence", "score"):
        monkeypatch.setattr(wn.GRLVQ, name, refused)
    assert (tmp_path / "report.html") in study.save(tmp_path)
