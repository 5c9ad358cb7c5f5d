import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from tests.helpers.dated_tables import numbers_like_days, visits, visits_model
from whynear.explain.flips import Flip, FlipSearch, Movable, flips, nearest_first

LEARNERS = [wn.GMLVQ(random_state=0), wn.LMNN(random_state=0)]


def moons(n=120, seed=0):
    """Two classes that a curve divides, and a column of noise; columns of very different units."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)) * [1.0, 100.0, 0.01]
    y = np.where(X[:, 0] + X[:, 1] / 100 + 0.5 * (X[:, 0] ** 2 - 1) > 0, "up", "down")
    return pd.DataFrame(X, columns=["a", "b", "noise"]), y


@pytest.fixture(scope="module", params=LEARNERS, ids=lambda one: type(one).__name__)
def fitted(request):
    X, y = moons()
    return make_pipeline(StandardScaler(), request.param).fit(X, y), X


def changed(row, flip):
    return row.assign(**{name: [value] for name, value in zip(flip.features, flip.after, strict=True)})


def test_every_change_is_small_within_the_range_and_changes_the_prediction(fitted):
    model, X = fitted
    for place in range(0, 40, 10):
        row = X.iloc[[place]]
        found = flips(model, row, X)
        assert found.prediction == model.predict(row)[0]
        for flip in found:
            assert model.predict(changed(row, flip))[0] == flip.prediction != found.prediction
            for name, value in zip(flip.features, flip.after, strict=True):
                assert X[name].min() <= value <= X[name].max()
            moves = [(row[name].iloc[0] - value) / X[name].std(ddof=0)
                     for name, value in zip(flip.features, flip.after, strict=True)]  # fmt: skip
            assert flip.size == pytest.approx(np.linalg.norm(moves))


def brute_force(model, row, X, name, n=1001):
    """The smallest change of one feature on a fine grid."""
    grid = np.linspace(X[name].min(), X[name].max(), n)
    table = pd.concat([row] * n, ignore_index=True).assign(**{name: grid})
    flipped = model.predict(table) != model.predict(row)[0]
    sizes = np.abs(grid - row[name].iloc[0]) / X[name].std(ddof=0)
    return sizes[flipped].min() if flipped.any() else np.inf


def test_one_feature_changes_by_as_little_as_on_a_fine_grid(fitted):
    model, X = fitted
    for place in (0, 6, 12):
        row = X.iloc[[place]]
        best = min(brute_force(model, row, X, name) for name in X)
        alone = [flip for flip in flips(model, row, X) if len(flip.features) == 1]
        assert bool(alone) == np.isfinite(best)
        if alone:
            step = max(float(np.ptp(X[name]) / X[name].std(ddof=0)) for name in X) / 1000
            assert alone[0].size <= best + 1e-6
            assert alone[0].size >= best - step


def test_two_features_change_by_little_more_than_on_a_grid_of_the_plane(fitted):
    model, X = fitted
    deviations = X[["a", "b"]].std(ddof=0).to_numpy()
    axes = [np.linspace(X[name].min(), X[name].max(), 81) for name in ("a", "b")]
    plane = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    for place in (0, 7):
        row = X.iloc[[place]]
        table = pd.concat([row] * len(plane), ignore_index=True).assign(a=plane[:, 0], b=plane[:, 1])
        sizes = np.linalg.norm((plane - row[["a", "b"]].to_numpy()) / deviations, axis=1)
        best = sizes[model.predict(table) != model.predict(row)[0]].min()
        found = flips(model, row, X, features=["a", "b"])
        assert min(flip.size for flip in found) <= 1.05 * best + 0.02


def test_a_named_class_is_reached_and_named_features_change():
    iris = wn.datasets.load("iris")
    y = np.array(iris.target_names)[iris.y]
    model = wn.GRLVQ(random_state=0).fit(iris.X, y)
    found = flips(model, iris.X.iloc[0], iris.X, to="virginica")
    assert found
    assert {flip.prediction for flip in found} == {"virginica"}
    assert not flips(model, iris.X.iloc[0], iris.X, to="setosa")
    few = flips(model, iris.X.iloc[70], iris.X, features=["petal width (cm)"])
    assert all(flip.features == ("petal width (cm)",) for flip in few)


def test_where_two_features_do_not_suffice_more_are_taken_from_a_near_row():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = pd.DataFrame(np.where(y, 1.0, -1.0)[:, None] + 0.3 * rng.standard_normal((120, 8))).add_prefix("f")
    model = wn.GRLVQ(random_state=0).fit(X, y).with_metric(wn.DiagonalMetric(np.ones(8), list(X.columns)))
    (flip,) = flips(model, X.iloc[0], X)
    assert len(flip.features) > 2
    assert model.predict(changed(X.iloc[[0]], flip))[0] == 1
    for name in flip.features:  # none of them can be spared
        others = {one: value for one, value in zip(flip.features, flip.after, strict=True) if one != name}
        assert model.predict(X.iloc[[0]].assign(**{one: [value] for one, value in others.items()}))[0] == 0


def test_categories_and_whole_numbers_take_values_of_the_table():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"colour": rng.choice(["r", "g", "b"], 90), "count": rng.integers(0, 5, 90), "x": rng.random(90)})
    y = np.where((X["colour"] == "r") | (X["count"] > 3), "yes", "no")
    model = make_pipeline(wn.TableEncoder("onehot"), StandardScaler(), wn.GMLVQ(random_state=0)).fit(X, y)
    seen = set()
    for place in range(0, 60, 4):
        for flip in flips(model, X.iloc[[place]], X):
            for name, value in zip(flip.features, flip.after, strict=True):
                seen.add(name)
                if name != "x":
                    assert value in set(X[name])
    assert {"colour", "count"} <= seen


def test_ordered_categories_change_to_others_of_the_order():
    rng = np.random.default_rng(0)
    grade = rng.integers(0, 3, 120)
    grades = pd.Categorical.from_codes(grade, ["low", "mid", "high"], ordered=True)
    X = pd.DataFrame({"grade": grades, "size": rng.normal(size=120)})
    y = np.where(4 * grade + X["size"] > 4, "a", "b")
    model = make_pipeline(wn.TableEncoder("onehot"), StandardScaler(), wn.GRLVQ(random_state=0)).fit(X, y)
    found = [flip for place in range(10) for flip in flips(model, X.iloc[[place]], X) if "grade" in flip.features]
    assert found
    assert {dict(zip(flip.features, flip.after, strict=True))["grade"] for flip in found} <= {"low", "mid", "high"}


def test_a_missing_value_is_not_changed():
    X, y = moons()
    gap = X.copy()
    gap.iloc[::7, 0] = np.nan
    model = make_pipeline(wn.TableEncoder(impute="median"), StandardScaler(), wn.GMLVQ(random_state=0)).fit(gap, y)
    assert all("a" not in flip.features for flip in flips(model, gap.iloc[[0]], gap))


def test_the_result_is_read_as_a_table_and_as_plain_values():
    X, y = moons()
    found = flips(wn.GRLVQ(random_state=0).fit(X / X.std(), y), (X / X.std()).iloc[3], X / X.std())
    frame = found.frame()
    assert frame["feature"].tolist() == [name for flip in found for name in flip.features]
    assert found.to_dict()["flips"][0]["sentence"] == str(found[0])
    assert found == type(found)(found.prediction, found.found)


@pytest.mark.parametrize(
    ("options", "words"), [({"to": "sideways"}, "to='sideways' is no class"), ({"features": ["z"]}, "features has 'z'")]
)
def test_what_is_not_there_is_refused(options, words):
    X, y = moons()
    with pytest.raises(ValueError, match=words):
        flips(wn.GRLVQ(random_state=0).fit(X, y), X.iloc[0], X, **options)


def test_several_cases_are_refused():
    X, y = moons()
    with pytest.raises(ValueError, match="one case"):
        flips(wn.GRLVQ(random_state=0).fit(X, y), X, X)


def test_one_standard_deviation_is_singular():
    assert str(Flip(("age",), (57.0,), (76.1,), (1.04,), 1.04, "ill")).endswith("'ill' (1 standard deviation)")
    assert str(Flip(("age",), (57.0,), (76.1,), (1.1,), 1.1, "ill")).endswith("'ill' (1.1 standard deviations)")


def test_dates_change_to_dates_that_change_the_prediction():
    """What is said is what was predicted: a date of the prediction, not the moment between two days."""
    X, model = visits().drop(columns=["kind", "dose"]), visits_model()
    n_found = 0
    for place in range(20, 40, 4):
        row = X.iloc[[place]]
        found = flips(model, row, X, features=["visit"])
        if not found:  # the other columns outweigh the date
            continue
        n_found += 1
        (before,), (after,) = found[0].before, found[0].after
        assert model.predict(row.assign(visit=after))[0] == found[0].prediction != found.prediction
        moved = (pd.Timestamp(after) - pd.Timestamp(before)).days
        nearer = pd.Timestamp(after) - pd.Timedelta(days=int(np.sign(moved)))
        assert model.predict(row.assign(visit=str(nearer.date())))[0] == found.prediction
        side = "later" if moved > 0 else "earlier"
        assert str(found[0]).startswith(f"'visit' from {before} to {after} ({abs(moved)} day")
        assert f"{side}): '{found[0].prediction}' (" in str(found[0])
        for flip in flips(model, row, X):
            assert model.predict(changed(row, flip))[0] == flip.prediction != found.prediction
            assert numbers_like_days(str(flip)) == []
    assert n_found > 2


def test_days_apart_are_stated():
    flip = Flip(("day",), ("2022-03-04",), ("2022-03-03",), (0.1,), 0.1, "ill")
    assert str(flip) == "'day' from 2022-03-04 to 2022-03-03 (1 day earlier): 'ill' (0.1 standard deviations)"


ROW = pd.DataFrame({"a": [0.0], "b": [0.0], "c": ["x"]})
A, B = Movable("a", -2.0, 4.0, 1.0), Movable("b", -5.0, 5.0, 2.0)
C = Movable("c", values=("x", "y"), is_number=False)


def search(flipped, *features):
    return FlipSearch(ROW, features, lambda table: flipped(table).to_numpy())


def test_the_border_is_found_exactly():
    found = search(lambda table: table["a"] > 1.2345, A, B).along_one()
    (point,) = found
    assert point["a"] == pytest.approx(1.2345, abs=1e-6)
    assert point["a"] > 1.2345


def test_of_both_sides_the_nearer_one_is_taken():
    (point,) = search(lambda table: (table["a"] > 1.5) | (table["a"] < -1.0), A).along_one()
    assert point["a"] == pytest.approx(-1.0, abs=1e-6)


def test_sizes_are_in_standard_deviations():
    points = search(lambda table: (table["a"] > 1.5) | (table["b"] > 2.0), A, B).along_one()
    assert [list(point) for point in points] == [["b"], ["a"]]


def test_beyond_the_range_there_is_nothing():
    assert search(lambda table: table["a"] > 4.1, A).along_one() == []


def test_a_case_outside_of_the_range_moves_into_it():
    inside = Movable("a", 1.0, 3.0, 1.0)
    (point,) = search(lambda table: table["a"] >= 1.0, inside).along_one()
    assert point["a"] == pytest.approx(1.0)
    assert search(lambda table: table["a"] < 0, inside).along_one() == []


def test_two_features_go_straight_to_the_border():
    point = search(lambda table: table["a"] + table["b"] / 2 > 2.0, A, B).along_two(["a", "b"])
    assert np.hypot(point["a"], point["b"] / 2) == pytest.approx(np.sqrt(2), rel=0.01)
    assert search(lambda table: table["a"] + table["b"] / 2 > 2.0, A, B).along_two(["a", "b"], within=1.0) is None
    assert search(lambda table: table["a"] > 1, A).along_two(["a"]) is None


def test_another_category_is_one_step():
    one = search(lambda table: table["c"] == "y", A, C)
    assert one.along_one() == [{"c": "y"}]
    assert one.size({"c": "y"}) == 1.0


def test_only_needed_features_are_taken_from_another_case():
    others = pd.DataFrame({"a": [3.0], "b": [4.0], "c": ["y"]})
    point = search(lambda table: (table["a"] > 1) & (table["c"] == "y"), A, B, C).towards(others)
    assert set(point) == {"a", "c"}
    assert search(lambda table: table["a"] > 9, A).towards(others) is None


def test_rows_are_sorted_by_their_distance_in_standard_deviations():
    table = pd.DataFrame({"a": [3.0, 0.5, 0.0, np.nan], "b": [0.0, 0.0, 4.0, 0.0], "c": ["x", "x", "x", "y"]})
    assert nearest_first(table, ROW, [A, B, C]).tolist() == [1, 3, 2, 0]
