"""The errors of a study for its page."""

from dataclasses import replace

import pytest
from numpy.testing import assert_allclose

from tests.helpers.studies import houses_study, numeric_study
from whynear.report import page_errors
from whynear.report.page_errors import errors_data
from whynear.study.error_patterns import ErrorPattern


def test_the_errors_of_classes_are_those_of_the_study(study):
    shown, errors = errors_data(study), study.errors
    assert shown["confusion"] == errors.confusion.tolist()
    assert (shown["n_rows"], shown["n_wrong"]) == (150, errors.n_wrong)
    for (count, recall, predicted, precision), one in zip(shown["by_class"], errors.by_class, strict=True):
        assert (count, predicted) == (one.count, one.predicted)
        assert (recall, precision) == (pytest.approx(one.recall, abs=1e-4), pytest.approx(one.precision, abs=1e-4))
    assert [line[0] for line in shown["worst"]] == [str(error.row) for error in errors.worst]
    assert [line[2] for line in shown["confused"]] == [pair.count for pair in errors.confused]
    assert shown["roc"]["area"] == pytest.approx(errors.roc.area, abs=1e-3)
    assert [held[-1] for held in shown["calibration"]["bins"]] == [held.count for held in errors.calibration.bins]


def test_of_many_classes_the_most_frequent_confusions_are_kept(study, monkeypatch):
    monkeypatch.setattr(page_errors, "MOST_IN_MATRIX", 2)
    monkeypatch.setattr(page_errors, "MOST_PAIRS", 1)
    shown = errors_data(study)
    assert shown["confusion"] == []
    assert [line[2] for line in shown["confused"]] == [study.errors.confused[0].count]


def test_roc_curves_keep_their_ends_and_lose_only_equal_points(study):
    for shown, curve in zip(errors_data(study)["roc"]["curves"], study.errors.roc.curves, strict=True):
        points = list(zip(shown["false_rate"], shown["true_rate"], strict=True))
        assert points[0] == (0, 0)
        assert points[-1] == (1, 1)
        assert len(set(points)) == len(points)
        assert_allclose(sorted(set(shown["false_rate"])), sorted({round(x, 3) for x in curve.false_rate.tolist()}))


def test_a_class_that_is_never_predicted_has_no_precision(study):
    confusion = study.errors.confusion.copy()
    confusion[:, 1] += confusion[:, 0]
    confusion[:, 0] = 0
    errors = errors_data(replace(study, errors=replace(study.errors, confusion=confusion)))
    assert errors["by_class"][0][3] is None


def test_the_residuals_of_a_measured_target_are_those_of_the_study():
    study = numeric_study()
    shown = errors_data(study)
    assert shown["typical"] == pytest.approx(study.errors.typical, rel=1e-3)
    assert [line[0] for line in shown["largest"]] == [str(error.row) for error in study.errors.largest]
    assert_allclose(shown["interval"], study.errors.interval, rtol=1e-3)


def test_what_goes_with_large_errors_is_said():
    study = houses_study()
    errors = replace(study.errors, patterns=(ErrorPattern("age", None, None, 1e-4),))
    assert errors_data(replace(study, errors=errors))["patterns"] == ["Errors are larger where “age” is missing."]
