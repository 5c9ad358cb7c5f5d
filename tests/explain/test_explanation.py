from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline

import whynear as wn
from tests.helpers.explained_learners import fitted
from tests.helpers.explained_learners import table as table_of_drawing
from tests.helpers.mixed_tables import MIXED, table
from tests.helpers.notebook_html import HOSTILE, shown
from whynear import GMLVQ, LGRLVQ, explain
from whynear.explain import class_profiles, plot_class_profiles
from whynear.explain.near_cases import RowsOfPrototypes
from whynear.explain.why import explain_each
from whynear.model.pipeline import FittedPipeline


def explained(learner, n_features=4, names=None, labels=("a", "b")):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((40, n_features)), columns=names or [f"f{j}" for j in range(n_features)])
    y = np.array(labels)[(X.iloc[:, 0] > 0).to_numpy().astype(int)]
    return explain(learner.fit(X, y), X.iloc[0])


@pytest.mark.parametrize("learner", [GMLVQ(random_state=0), LGRLVQ(random_state=0)])
def test_an_explanation_shows_its_sentence_the_cases_and_the_features(learner):
    why = explained(learner)
    text = shown(why)
    assert repr(why)[1:] in text
    assert "f0" in text  # which alone decides
    assert f"adds to {why.nearest.label}, prototype {why.nearest.name}" in text
    assert f"adds to {why.nearest_other.label}, prototype {why.nearest_other.name}" in text


def test_hostile_names_and_classes_are_shown_as_they_are():
    why = explained(GMLVQ(random_state=0), names=HOSTILE, labels=("<b>up</b>", "</td><svg onload=alert(3)>"))
    text = shown(why)
    assert HOSTILE[0] in text
    assert "<b>up</b>" in text


def test_many_features_are_counted():
    assert "and 585 more features" in shown(explained(GMLVQ(n_components=1, random_state=0), n_features=600))


@pytest.mark.filterwarnings("ignore:.*anchors of a local metric")
@pytest.mark.parametrize("learner", [wn.GMLVQ(random_state=0), wn.LANN(random_state=0, epochs=1)], ids=str)
@pytest.mark.parametrize("name", MIXED)
def test_explanations_and_profiles_are_stated_in_the_columns_of_the_table(name, learner):
    X, y = table()
    pipeline = make_pipeline(MIXED[name], learner).fit(X, y)
    why = wn.explain(pipeline, X[list(X)[::-1]].iloc[3])
    assert why.values.index.tolist() == list(X)
    assert why.values["colour"] == X["colour"][3]
    assert_allclose(why.contributions.sum(axis=1), why.neighbors["sq_distance"])
    assert_allclose(why.relevances.sum(), 1)
    assert why.prediction == pipeline.predict(X.iloc[[3]])[0]
    assert why.nearest.values["colour"] in ("red", "green", "blue")
    assert why.frame().shape == (6, 8)
    profiles = wn.class_profiles(pipeline)
    assert profiles.index.tolist() == list(X)
    assert_allclose(profiles.sum(), 1)
    dropped = [column for column in X if column not in FittedPipeline.of(pipeline).sources]
    assert not profiles.loc[dropped].any(axis=None)
    assert not why.contributions[dropped].any(axis=None)
    assert_allclose(wn.class_profiles(pipeline, X, y).sum(), 1)


def test_the_parts_of_a_column_are_summed_and_its_category_is_read_back():
    X, y = table()
    pipeline = make_pipeline(wn.TableEncoder("onehot"), wn.GMLVQ(random_state=0)).fit(X, y)
    made = FittedPipeline.of(pipeline).numbers(X)
    parts = wn.explain(pipeline[1:], made.iloc[3])
    whole = wn.explain(pipeline, X.iloc[3])
    colours = [name for name in made if name.startswith("colour=")]
    assert len(colours) == 3
    assert_allclose(whole.contributions["colour"], parts.contributions[colours].sum(axis=1))
    assert_allclose(whole.relevances["colour"], parts.relevances[colours].sum())
    assert_allclose(whole.held_off_by["colour"], parts.held_off_by[colours].sum())
    assert_allclose(whole.contributions["age"], parts.contributions["age"])
    assert whole.held_off_by.is_monotonic_decreasing
    assert whole.values.to_dict() == X.iloc[3].to_dict()


@pytest.mark.parametrize("learner", [wn.GRLVQ(random_state=0), wn.MinimumNormRegressor()], ids=["classes", "measured"])
@pytest.mark.filterwarnings("ignore:.*none of the categories")
def test_a_list_is_an_unknown_category(learner):
    X = pd.DataFrame({"colour": ["red", "blue"] * 10, "size": np.arange(20.0)})
    y = X["size"].to_numpy() if isinstance(learner, wn.MinimumNormRegressor) else X["colour"]
    model = make_pipeline(wn.TableEncoder("onehot", "median"), learner).fit(X, y)
    case = pd.DataFrame({"colour": pd.Series([np.array([1, 2])], dtype=object), "size": [np.nan]})
    values = wn.explain(model, case).values
    assert list(values["colour"]) == [1, 2]
    assert [one.kind for one in wn.explain(model, case).unusual] == ["unseen_category", "filled_in"]


mpl.use("agg")

FORMULA = "price $\\frac{$"  # no formula: reading it as one fails


def explanation(learner="GMLVQ", case=41):
    return explain(fitted(learner, name="breast_cancer"), table_of_drawing("breast_cancer")[0].iloc[case])


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


# Prototypes, and the rows nearest to them


@pytest.mark.parametrize("learner", ["GMLVQ", "LGMLVQ"])
def test_the_row_nearest_to_a_prototype_is_nearest_under_its_metric(learner):
    X, _ = table_of_drawing()
    model = FittedPipeline.of(fitted(learner))
    known = RowsOfPrototypes.of(model, X)
    anchors = model.learner.prototypes_
    local = isinstance(model.learner.metric_, wn.LocalMetric)
    for number, name in enumerate(known.names):
        sq = model.learner.metric_.sq_distances(model.seen(X), None if local else anchors)[:, number]
        assert name == sq.argmin() + 1  # rows with the default index are numbered from one
        assert_allclose(known.values[number].astype(float), X.iloc[sq.argmin()])


def test_an_explanation_shows_the_rows_nearest_to_prototypes_instead_of_values_that_no_row_has():
    X, _ = table_of_drawing()
    model = FittedPipeline.of(fitted("GMLVQ"))
    (plain,), (why,) = (explain_each(model, X.iloc[[60]], rows) for rows in (None, RowsOfPrototypes.of(model, X)))
    assert "nearest_row" not in plain.neighbors
    held = X.reset_index(drop=True).iloc[why.neighbors["nearest_row"] - 1]
    assert_allclose(why.neighbor_values.astype(float), held)
    assert not np.isclose(plain.neighbor_values, held).all()
    assert why.contributions.equals(plain.contributions)
    assert repr(why) == repr(plain)
    assert why.to_dict()["nearest"]["nearest_row"] == why.nearest.nearest_row == why.neighbors["nearest_row"][0]
    assert "nearest row" in shown(why)


def test_rows_of_prototypes_have_the_text_and_gaps_of_the_table():
    X, y = table()
    X.loc[::3, "age"] = np.nan
    pipeline = make_pipeline(wn.TableEncoder("onehot", "median"), wn.GMLVQ(random_state=0)).fit(X, y)
    model = FittedPipeline.of(pipeline)
    known = RowsOfPrototypes.of(model, X)
    for name, values in zip(known.names, known.values, strict=True):
        own = X.iloc[name - 1]
        assert values[list(X).index("colour")] == own["colour"]
        assert (values[list(X).index("age")] is None) == pd.isna(own["age"])


def test_a_learner_that_keeps_its_rows_has_no_prototypes():
    assert RowsOfPrototypes.of(FittedPipeline.of(fitted("LMNN")), table_of_drawing()[0]) is None
