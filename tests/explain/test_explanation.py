import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline

import whynear as wn
from tests.helpers.mixed_tables import MIXED, table
from tests.helpers.notebook_html import HOSTILE, shown
from whynear import GMLVQ, LGRLVQ, explain
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
