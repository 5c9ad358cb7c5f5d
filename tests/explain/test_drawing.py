from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from numpy.testing import assert_allclose

from tests.helpers.explained_learners import fitted, table
from whynear.explain import class_profiles, explain, plot_class_profiles

mpl.use("agg")

FORMULA = "price $\\frac{$"  # no formula: reading it as one fails


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def explanation(learner="GMLVQ", case=41):
    return explain(fitted(learner, name="breast_cancer"), table("breast_cancer")[0].iloc[case])


def profiles(n_features=12, n_classes=3):
    values = np.random.default_rng(0).random((n_features, n_classes))
    names = [f"feature {i}" for i in range(n_features)]
    labels = pd.Index([f"class {i}" for i in range(n_classes)], name="class")
    return pd.DataFrame(values / values.sum(axis=0), names, labels)


def renamed(found, names):
    def swap(series):
        return series.rename(dict(zip(found.values.index, names, strict=True)))

    near, other = (
        replace(case, values=swap(case.values), contributions=swap(case.contributions), label=names[1])
        for case in (found.nearest, found.nearest_other)
    )
    return replace(found, values=swap(found.values), nearest=near, nearest_other=other)


def crowded(ax):
    """Whether labels or the legend cover each other, or anything is cut off at the edge of the figure."""
    ax.figure.canvas.draw()
    edge = ax.figure.bbox
    boxes = [ax.xaxis.label.get_window_extent(), ax.yaxis.label.get_window_extent()]
    for axis in (ax.xaxis, ax.yaxis):
        low, high = sorted(axis.get_view_interval())
        boxes += [tick.label1.get_window_extent() for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    if ax.get_legend():
        boxes.append(ax.get_legend().get_window_extent())
    boxes = [box for box in boxes if box.width > 0 and box.height > 0]
    overlap = any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[i + 1 :])
    return overlap or any(box.x0 < 0 or box.y0 < 0 or box.x1 > edge.x1 or box.y1 > edge.y1 for box in boxes)


def names_of(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_drawing_uses_the_given_axes_and_shows_nothing(monkeypatch):
    monkeypatch.setattr(plt, "show", lambda: pytest.fail("shown"))
    for draw in (explanation().plot, *(lambda ax=None, p=p: plot_class_profiles(p, ax) for p in all_profiles())):
        _, ax = plt.subplots()
        assert draw(ax=ax) is ax
        assert draw() is not ax


def all_profiles():
    return [profiles(), profiles(60), profiles(12, 9), profiles(60, 9)]


def test_the_bars_of_a_case_sum_to_its_squared_distance():
    found = explanation()
    for most in (1, 5, 12, 29, 30, 99):
        ax = found.plot(most=most)
        for bars, case in zip(ax.containers, (found.nearest, found.nearest_other), strict=True):
            assert_allclose(sum(bar.get_width() for bar in bars), case.sq_distance)
        assert len(names_of(ax.yaxis)) <= most + 1


def test_small_contributions_are_folded_and_the_features_that_hold_off_come_first():
    found = explanation("GRLVQ")
    ax = found.plot()
    names = names_of(ax.yaxis)
    assert names[-1] == f"{30 - len(names) + 1} other features"
    assert names[0].startswith(f"{found.held_off_by.index[0]} = ")
    assert len(names) < 12
    gaps = [other.get_width() - near.get_width() for near, other in zip(*ax.containers, strict=True)]
    assert gaps[:-1] == sorted(gaps[:-1], reverse=True)


def test_the_two_cases_differ_without_colour():
    ax = explanation().plot()
    assert len({bars.patches[0].get_hatch() for bars in ax.containers}) == 2
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert [text.split(":")[0] for text in texts] == ["nearest of this class", "nearest of another"]
    assert ax.get_legend().get_title().get_text().startswith("predicted: malignant (probability 0.99")


@pytest.mark.parametrize("learner", ["GMLVQ", "LGRLVQ"])
def test_nothing_of_an_explanation_overlaps_or_is_cut_off(learner):
    found = explanation(learner)
    assert not crowded(found.plot())
    long = [f"{name} and much more of it {FORMULA}" for name in found.values.index]
    assert not crowded(renamed(found, long).plot())


def test_names_are_never_read_as_formulas():
    found = explanation()
    names = [f"{FORMULA}{i}" for i in range(30)]
    ax = renamed(found, names).plot(most=30)
    ax.figure.canvas.draw()
    assert any(label.startswith(FORMULA) for label in names_of(ax.yaxis))
    for p in (profiles(12, 3), profiles(12, 9), profiles(60, 9), profiles(60, 3)):
        strange = p.rename(index=lambda name: f"{FORMULA}{name}", columns=lambda label: f"${label} \\frac{{$")
        plot_class_profiles(strange).figure.canvas.draw()


@pytest.mark.parametrize("n_features", [1, 40, 500])
@pytest.mark.parametrize("n_classes", [1, 6, 26])
def test_nothing_of_profiles_overlaps_or_is_cut_off(n_features, n_classes):
    assert not crowded(plot_class_profiles(profiles(n_features, n_classes)))


def test_profiles_are_ranked_and_classes_differ_without_colour():
    ax = plot_class_profiles(found := profiles())
    assert names_of(ax.yaxis)[0] == found.mean(axis=1).idxmax()
    assert len({line.get_marker() for line in ax.lines}) == 3
    along = plot_class_profiles(profiles(60))
    assert len({line.get_linestyle() for line in along.lines}) == 3
    assert "in the order of the table" in along.get_xlabel()


def test_profiles_that_are_alike_are_drawn_once():
    ax = plot_class_profiles(class_profiles(fitted("GMLVQ")))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["all alike"]
