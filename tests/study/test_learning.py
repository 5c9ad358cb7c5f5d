"""One learner fitted to a table."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from tests.helpers.gasoline import gasoline
from tests.helpers.measured_tables import houses, numbers
from tests.helpers.studies import of_patients, part_of_study
from whynear.learn import minimum_norm
from whynear.spectra import SpectralTransformer
from whynear.study.methods import column_of_names, remember_rows
from whynear.study.settings import grouped


def test_the_model_takes_the_columns_of_the_table_and_the_seed_repeats_it():
    one, two = (wn.learn_table("iris", learner="gmlvq", random_state=3) for _ in range(2))
    assert isinstance(one.model, Pipeline)
    assert wn.as_metric(one.model) == wn.as_metric(two.model)
    assert (one.model.predict(one.problem.X) == one.problem.y).mean() > 0.9
    assert (one.score, one.scores) == (None, ())


def test_raw_columns_have_no_scaler_and_scores_are_of_held_out_folds():
    learned = wn.learn_table("iris", learner="grlvq", raw=True, score=True)
    assert isinstance(learned.model, wn.GRLVQ)
    assert len(learned.scores) == 5
    assert all(0.8 < score <= 1 for score in learned.scores)
    assert learned.score.value == pytest.approx(np.mean(learned.scores))  # folds of equal size
    assert "of held-out cases right (5 folds)." in learned.finding()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learner": "magic"}, "There is no learner 'magic'. Use one of grlvq, "),
        (
            {"random_state": -1},
            r"The seed \(random_state\) must be a whole number from 0 to 4294967295, got -1 instead",
        ),
    ],
)
def test_unknown_learners_and_seeds_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        wn.learn_table("iris", **grouped(options))


@pytest.mark.parametrize("settings", [{"impute": "mean"}, {"categories": "ordinal"}])
def test_an_unknown_way_to_take_a_column_is_refused(settings):
    (name,) = settings
    with pytest.raises(ValueError, match=rf"{name} must be one of 'auto', .* got '{settings[name]}'"):
        wn.learn_table("iris", **grouped(settings))


@pytest.mark.parametrize("learner", ["lmnn", pytest.param("lann", marks=pytest.mark.slow)])
def test_scores_of_rows_that_belong_together_are_those_of_new_groups(learner):
    table = of_patients(60)
    alone = wn.learn_table(table, "y", learner=learner, score=True, reading=wn.Reading(drop="patient"))
    together = wn.learn_table(table, "y", learner=learner, score=True, splitting=wn.Splitting(group="patient"))
    assert sum(alone.scores) / 5 - sum(together.scores) / 5 > 0.2
    assert list(together.problem.X) == ["nose", "chin", "brow", "sign"]


def test_fewer_groups_than_folds_make_fewer_folds():
    learned = wn.learn_table(
        of_patients(8), "y", learner="grlvq", raw=True, score=True, splitting=wn.Splitting(group="patient")
    )
    assert len(learned.scores) == 4


@pytest.mark.parametrize("settings", [{}, {"group": "patient"}, {"time": "day"}, {"weight": "w"}])
def test_the_score_and_its_error_are_those_of_a_study(settings):
    table = of_patients(18).assign(day=np.arange(90), w=np.tile([1, 2, 0], 30))
    table = table[["nose", "chin", "y", *settings.values()]]
    learned = wn.learn_table(table, "y", learner="grlvq", score=True, **grouped(settings))
    assert learned.score == part_of_study("comparison", table, "y", learner="grlvq", **grouped(settings)).score


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_a_single_fold_has_an_error_over_its_rows(kind):
    rng = np.random.default_rng(0)
    a, day = rng.random(60), np.repeat([1, 2], 30)
    y = np.where(a + 0.1 * rng.random(60) > 0.5, "u", "v") if kind == "classes" else a + 0.1 * rng.random(60)
    learned = wn.learn_table(
        pd.DataFrame({"a": a, "day": day, "y": y}), "y", score=True, splitting=wn.Splitting(time="day")
    )
    assert len(learned.scores) == 1
    assert 0 < learned.score.error < 0.2
    assert "nan" not in learned.finding()
    assert learned.finding().endswith(" (1 fold).")


@pytest.mark.slow
def test_a_measured_target_is_learned_as_by_a_study():
    X, y = houses()
    table = X.assign(price=y)
    learned, studied = wn.learn_table(table, "price"), wn.study(table, "price", splitting=wn.Splitting(folds=3))
    assert learned.learner == studied.comparison.chosen == "minimum norm"
    assert_allclose(learned.model.predict(X), studied.model.predict(X))
    assert learned.model[-1].row_names_.tolist() == X.index.tolist()
    assert learned.model[-1].row_gaps_.tolist() == [[3, 1], [17, 1]]
    assert len(learned.scores) == 5
    assert all(0.8 < score < 1 for score in learned.scores)
    assert "a measured target from " in learned.finding()


def test_raw_columns_of_a_measured_target_have_no_scaler():
    X, y = numbers()
    learned = wn.learn_table(X.assign(y=y), "y", raw=True)
    assert wn.as_metric(learned.model).scale is None
    assert_allclose(learned.model[-1].cases_, X)


def test_classes_without_a_learner_are_learned_by_gmlvq():
    assert wn.learn_table("iris").learner == "gmlvq"


@pytest.mark.slow
def test_rows_of_a_group_are_held_out_together_for_the_errors_of_a_measured_target():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(20), 4)
    traits = rng.standard_normal((20, 15))[group]  # each group is known by its traits
    table = (
        pd.DataFrame(traits)
        .rename(columns=str)
        .assign(group=group, y=rng.standard_normal(20)[group] + 0.01 * rng.random(80))
    )
    alone, together = (wn.learn_table(table, "y", **grouped(how)) for how in ({"drop": "group"}, {"group": "group"}))
    assert np.mean(alone.scores) - np.mean(together.scores) > 0.5
    assert np.ptp(together.model[-1].error_interval_) > 2 * np.ptp(alone.model[-1].error_interval_)


def test_copies_of_rows_are_the_same_as_weights():
    table = wn.datasets.load("iris").X.assign(kind=wn.datasets.load("iris").y, count=np.tile([1, 2, 3], 50))
    copies = table.loc[table.index.repeat(table["count"])].drop(columns="count")
    weighted = wn.learn_table(table, "kind", learner="gmlvq", reading=wn.Reading(weight="count"))
    repeated = wn.learn_table(copies, "kind", learner="gmlvq", reading=wn.Reading(index=None))
    rows = repeated.problem.X[:20]
    assert_allclose(weighted.model.predict_proba(rows), repeated.model.predict_proba(rows), atol=1e-3)


def test_scores_forward_in_time_are_those_of_rows_to_come():
    rng = np.random.default_rng(0)
    day, x = np.arange(300), rng.normal(size=300)
    table = pd.DataFrame(
        {"x": x, "noise": rng.normal(size=300), "day": day, "y": np.where(x > 2 * day / 300, "a", "b")}
    )
    shuffled, forward = (
        np.mean(wn.learn_table(table.drop(columns=left_out), "y", score=True, splitting=wn.Splitting(time=time)).scores)
        for left_out, time in ((["day"], None), ([], "day"))
    )
    assert forward < shuffled - 0.03


@pytest.mark.parametrize("options", [{"weight": "w"}, {"class_weight": "balanced"}])
def test_weights_for_a_learner_without_them_are_refused_by_name(options):
    table = pd.DataFrame({"x": range(20), "w": 1, "y": list("ab") * 10})
    with pytest.raises(ValueError, match=r"'slider' takes no weights. Leave out --.*grlvq, "):
        wn.learn_table(table, "y", learner="slider", **grouped(options))


def test_weights_of_classes_are_refused_for_a_measured_target():
    X, price = houses()
    with pytest.raises(ValueError, match=r"class_weight weighs classes.*--bins 3"):
        wn.learn_table(X.assign(price=price), "price", class_weight="balanced")


@pytest.mark.slow
def test_a_spectrum_is_preprocessed_as_by_a_study():
    table = gasoline(50, seed=0, n_channels=41, scatter=0.5)
    learned, plain = (wn.learn_table(table, "octane", reading=wn.Reading(spectra=spectra)) for spectra in (None, False))
    assert any(isinstance(step, SpectralTransformer) for _, step in learned.model.steps)
    assert not any(isinstance(step, SpectralTransformer) for _, step in plain.model.steps)
    assert np.mean(learned.scores) > np.mean(plain.scores)


def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((20, 2)), columns=["a", "b"])
    return X.set_axis(pd.Index([f"p{row}" for row in range(20)], name="patient")), (X["a"] > 0).to_numpy()


def test_names_behind_a_scaler_are_those_of_the_table():
    X, y = table()
    model = make_pipeline(StandardScaler(), wn.LMNN(max_iter=3)).fit(X, y)
    assert wn.explain(model, X.iloc[0]).nearest.kind == "case"
    assert column_of_names(model) is None
    assert remember_rows(model, X) is model
    why = wn.explain(model, X.iloc[0])
    assert (why.nearest.kind, why.nearest.name) == ("row", "p0")  # a training row is nearest to itself
    assert column_of_names(model) == "patient"


def test_prototypes_are_no_rows_but_the_column_is_known():
    X, y = table()
    model = remember_rows(make_pipeline(StandardScaler(), wn.GRLVQ(random_state=0)).fit(X, y), X)
    assert not hasattr(model[-1], "row_names_")
    assert column_of_names(model) == "patient"
    assert wn.explain(model, X.iloc[0]).nearest.kind == "prototype"


def test_estimators_of_others_are_left_alone():
    X, y = table()
    model = KNeighborsClassifier(3).fit(X, y)
    before = set(vars(model))
    assert set(vars(remember_rows(model, X))) == before


@pytest.mark.parametrize("categories", ["auto", "onehot"])
def test_values_that_a_neighbour_lacks_are_missing_and_not_what_was_filled_in(categories, tmp_path):
    X, y = table()
    X.loc[["p3", "p4"], "b"] = None
    if categories == "onehot":
        X["colour"] = ["red", "blue", None, "green"] * 5
    model = wn.learn_table(
        X.assign(y=y), "y", learner="lmnn", reading=wn.Reading(categories=categories, impute="median")
    ).model
    wn.save(model, tmp_path / "model")
    for one in (model, wn.load(tmp_path / "model")):
        why = wn.explain(one, X.loc[["p3"]])
        assert why.nearest.name == "p3"
        assert pd.isna(why.nearest.values["b"])
        held, given = why.neighbor_values, X.loc[why.neighbors["row"]]
        pd.testing.assert_frame_equal(held.isna(), given.isna(), check_names=False)
        assert [row["values"][1] is None for row in why.to_dict()["neighbors"]] == given["b"].isna().tolist()


def test_a_learner_that_is_fitted_again_forgets_the_table():
    X, y = table()
    learner = remember_rows(wn.LMNN(max_iter=3, tol=0.9).fit(X, y), X)
    assert {"row_gaps_", "row_column_"} <= set(vars(learner))
    learner.fit(X.to_numpy(), y)
    assert not {"row_gaps_", "row_column_"} & set(vars(learner))
    assert learner.row_names_ is None


def test_of_a_part_of_the_rows_names_and_gaps_are_those_of_the_part(monkeypatch):
    monkeypatch.setattr(minimum_norm, "MOST_CASES", 40)
    X, y = houses()
    learner = wn.learn_table(X.assign(price=y), "price").model[-1]
    assert learner.row_names_.tolist() == X.index[::2].tolist()
    assert learner.row_gaps_.tolist() == []
    monkeypatch.setattr(minimum_norm, "MOST_CASES", 30)
    assert wn.learn_table(X.assign(price=y), "price").model[-1].row_gaps_.tolist() == [[1, 1]]


@pytest.mark.parametrize(("name", "given"), [("reading", {"drop": "a"}), ("reading", {}), ("splitting", 0)])
def test_settings_of_another_type_are_refused_with_the_value_to_write(name, given):
    for door in (wn.learn_table, wn.study):
        with pytest.raises(TypeError, match=f"{name} must be a {name.title()}.*wn.{name.title()}"):
            door("iris", learner="grlvq", **{name: given})
