"""Figures of errors: what is drawn is what was computed."""

from matplotlib.figure import Figure

from whynear.report.errors_drawing import draw_calibration, draw_roc


def test_every_curve_is_drawn_with_its_area(study):
    ax = draw_roc(study.errors.roc, Figure().add_subplot())
    named = [text.get_text() for text in ax.get_legend().get_texts()]
    assert named == [f"{curve.label} (area {curve.area:.3f})" for curve in study.errors.roc.curves]
    drawn = ax.lines[1:]
    for line, curve in zip(drawn, study.errors.roc.curves, strict=True):
        assert line.get_xdata().tolist() == curve.false_rate.tolist()
        assert line.get_ydata().tolist() == curve.true_rate.tolist()
    assert len({(line.get_color(), line.get_linestyle()) for line in drawn}) == 3


def test_every_bin_is_drawn_with_its_count(study):
    bins = study.errors.calibration.bins
    ax = draw_calibration(study.errors.calibration, Figure().add_subplot())
    assert [text.get_text() for text in ax.texts] == [f"{held.count:,}" for held in bins]
    points = ax.lines[-1]
    assert list(points.get_xdata()) == [held.probability for held in bins]
    assert list(points.get_ydata()) == [held.right for held in bins]
