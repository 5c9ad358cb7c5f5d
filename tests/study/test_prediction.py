"""Tables predicted and explained by a fitted model or the file of one."""

import warnings

import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import whynear as wn
from tests.helpers.dated_tables import numbers_like_days, visits, visits_model
from tests.helpers.decimal_tables import as_file, as_folder, as_texts, measured_rows, model_of_commas
from tests.helpers.rejection import blobs


@pytest.fixture(scope="module")
def iris():
    data = load_iris(as_frame=True)
    return data.data, data.target_names[data.target]


@pytest.fixture(scope="module")
def learner(iris):
    return wn.GRLVQ(random_state=0).fit(*iris)


def test_a_model_and_its_file_predict_a_frame_and_its_file_alike(iris, learner, tmp_path):
    X, _ = iris
    wn.save(learner, tmp_path / "model")
    X.assign(note="x").to_csv(tmp_path / "cases.csv", index=False)
    given = wn.predict_table(learner, X)
    read = wn.predict_table(tmp_path / "model", str(tmp_path / "cases.csv"))
    pd.testing.assert_frame_equal(given, read, check_exact=False)
    assert given["row"].tolist() == list(range(1, 151))
    assert given["predicted"].tolist() == learner.predict(X).tolist()
    assert given["probability"].tolist() == learner.predict_proba(X).max(axis=1).tolist()
    assert (given.attrs["source"], read.attrs["source"]) == ("The table", "cases.csv")


def test_rows_are_named_by_a_column(iris, learner):
    X = iris[0].head(3).assign(id=["a", "b", "c"])
    assert wn.predict_table(learner, X, index="id")["row"].tolist() == ["a", "b", "c"]
    assert wn.explain_row(learner, X, "b", index="id").to_dict() == wn.explain_row(learner, X, 2).to_dict()
    with pytest.raises(ValueError, match="0 rows with 'd' in column 'id', and one is needed"):
        wn.explain_row(learner, X, "d", index="id")


def test_a_row_is_explained_as_by_explain(iris, learner):
    X = iris[0]
    assert wn.explain_row(learner, X, 60).to_dict() == wn.explain(learner, X.iloc[[59]]).to_dict()
    with pytest.raises(ValueError, match="The table has rows 1 to 150, got --row 151 instead"):
        wn.explain_row(learner, X, 151)


def test_what_cannot_predict_is_refused(iris, learner):
    X = iris[0]
    with pytest.raises(TypeError, match="model holds only a metric, which cannot predict"):
        wn.predict_table(learner.metric_, X)
    with pytest.raises(ValueError, match="model holds a model that is not fitted"):
        wn.predict_table(wn.GRLVQ(), X)
    with pytest.raises(TypeError, match="A fitted classifier with a method evidence is needed"):
        wn.explain_row(Ridge().fit(X, range(150)), X)
    with pytest.raises(ValueError, match="The table lacks 'petal width"):
        wn.predict_table(learner, X.iloc[:, :3])


def test_rejected_rows_are_marked_with_their_reason(tmp_path):
    table = blobs()
    option = wn.RejectOption(wn.GRLVQ(random_state=0), accuracy=0.9, random_state=0)
    option.fit(table[["width", "height"]], table["kind"])
    decided = option.decide(table[["width", "height"]])
    found = wn.predict_table(option, table)
    assert found["accepted"].tolist() == decided.accepted.tolist()
    assert found["certainty"].tolist() == decided.certainty.tolist()
    assert found["reason"].tolist() == decided.reason.tolist()
    assert found["predicted"].tolist() == decided.predicted.tolist()
    assert found.attrs["promise"] == option.promise.sentence
    wn.save(option, tmp_path / "option")
    stricter = wn.predict_table(tmp_path / "option", table, accuracy=0.95)
    assert 0 < stricter["accepted"].sum() < found["accepted"].sum()
    assert not wn.predict_table(tmp_path / "option", table, accuracy=0.999)["accepted"].any()
    assert "accepted" not in wn.predict_table(option.learner_, table)


def test_dates_are_predicted_and_explained_as_dates(tmp_path):
    wn.save(visits_model(), tmp_path / "model")
    table = visits().drop(columns=["kind", "dose"])
    table.loc[0, "visit"] = "04.03.2032"
    table.to_csv(tmp_path / "new.csv", index=False)
    predicted = wn.predict_table(tmp_path / "model", str(tmp_path / "new.csv"))
    assert predicted["out_of_range"].iloc[0].startswith("visit = 2032-03-04 (2021-")
    assert numbers_like_days(predicted.to_csv()) == []
    why = wn.explain_row(tmp_path / "model", str(tmp_path / "new.csv"), row=1)
    assert why.values["visit"] == "2032-03-04"
    assert "'visit' = 2032-03-04, outside the training range 2021-" in repr(why)


def test_what_is_no_date_is_refused_by_name():
    table = visits().drop(columns=["kind", "dose"])
    table.loc[2, "visit"] = "soon"
    with pytest.raises(ValueError, match=r"'visit', row 3, .* dates such as 2022-03-04 there"):
        wn.predict_table(visits_model(), table)


def test_a_model_without_names_takes_a_table_whose_index_names_the_rows(iris):
    X, y = iris
    nameless = wn.GRLVQ(random_state=0).fit(X.to_numpy(), y)
    named = X.set_axis([f"flower {row}" for row in range(150)], axis=0).rename_axis("id")
    found = wn.predict_table(nameless, named, index="id")
    assert found["row"].tolist() == list(named.index)
    assert found["predicted"].tolist() == nameless.predict(X.to_numpy()).tolist()


def test_a_model_with_an_encoder_and_without_names_takes_columns_by_place():
    colours = pd.DataFrame({"first": ["red", "red", "blue", "blue"] * 5, "second": ["a", "b"] * 10})
    steps = OneHotEncoder(sparse_output=False), wn.GRLVQ(random_state=0)
    model = make_pipeline(*steps).fit(colours.to_numpy(), colours["first"])
    assert wn.predict_table(model, colours)["predicted"].tolist() == colours["first"].tolist()
    with pytest.raises(ValueError, match="The table lacks a value in column 'second', row 3"):
        wn.predict_table(model, colours.assign(second=["a", "b", None, "b"] * 5))


def test_a_whole_number_beyond_all_floats_is_refused_by_name(iris):
    X, y = iris
    table = X.astype(object)
    table.iloc[3, 1] = 10**400
    with pytest.raises(ValueError, match=r"whole number above 1e308 in column 'sepal width.*, row"):
        wn.predict_table(wn.GRLVQ(random_state=0).fit(X, y), table)


WAYS = {
    "file": lambda rows, folder: as_file(rows, folder / "new.csv"),
    "folder": lambda rows, folder: as_folder(rows, folder / "new"),
    "points": lambda rows, folder: as_file(rows, folder / "new.csv", "."),
    "texts": lambda rows, folder: as_texts(rows),
    "text of parquet": lambda rows, folder: written_by(as_texts(rows).to_parquet, folder / "new.parquet"),
    "text of excel": lambda rows, folder: written_by(as_texts(rows).to_excel, folder / "new.xlsx"),
    "parquet": lambda rows, folder: written_by(rows.to_parquet, folder / "new.parquet"),
    "excel": lambda rows, folder: written_by(rows.to_excel, folder / "new.xlsx"),
}


def written_by(write, path):
    write(path, index=False)
    return path


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("way", "whole"), [(way, whole) for way in WAYS for whole in (False, True) if (way, whole) != ("points", True)]
)
def test_predictions_do_not_depend_on_how_numbers_are_written(tmp_path, way, whole):
    model = model_of_commas(tmp_path / "training.csv")
    new = measured_rows(6, seed=1).drop(columns="kind")
    if whole:  # so that no number of the table shows its sign, unless it is that of the thousands
        new["dose"] = new["dose"].round().astype(int)
    expected = wn.predict_table(model, new)
    table = WAYS[way](new, tmp_path)
    pd.testing.assert_frame_equal(wn.predict_table(model, table), expected)
    wn.predict_to_parquet(model, table, tmp_path / "out.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out.parquet"), expected, check_dtype=False)
    assert wn.explain_row(model, table, 3).values.to_dict() == new.iloc[2].to_dict()


def test_the_sign_of_a_model_is_noted_where_the_table_shows_none(tmp_path):
    model = model_of_commas(tmp_path / "training.csv")
    new = measured_rows(2, seed=1).drop(columns="kind").assign(dose=[5, 6], cells=[4236, 2588])
    for table in (as_file(new, tmp_path / "new.csv"), as_folder(new, tmp_path / "new")):
        note = (
            "'4.236' in column 'cells' was read as 4236: the table that the model was fitted to is written with decimal"
        )
        with pytest.warns(UserWarning, match=note):
            wn.predict_table(model, table)
        with pytest.warns(UserWarning, match=note):
            wn.predict_to_parquet(model, table, tmp_path / "out.parquet")


def test_a_table_with_the_other_sign_is_noted(tmp_path):
    model = model_of_commas(tmp_path / "training.csv")
    new = measured_rows(6, seed=1).drop(columns="kind")
    note = "Column 'dose' is written with decimal points, the table that the model was fitted to with decimal commas"
    with pytest.warns(UserWarning, match=note):
        wn.predict_table(model, as_file(new, tmp_path / "new.csv", "."))


def test_whole_numbers_with_decimal_points_are_read_alone_as_among_others(tmp_path):
    """In a file with semicolons, 2.000 is 2000 only for models whose own table was written so."""
    rows = pd.DataFrame(
        {"a": [2.0, 3.5, 9.0, 8.25] * 5, "b": [1.0, 2.0, 4.5, 3.0] * 5, "kind": ["x", "x", "y", "y"] * 5}
    )

    def file(table):
        table.to_csv(tmp_path / "t.csv", sep=";", index=False, float_format="%.3f")
        return tmp_path / "t.csv"

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = wn.learn_table(file(rows), "kind", learner="grlvq", score=False).model
        expected = wn.predict_table(model, file(rows[:4]))
    note = "'2.000' in columns 'a', 'b' was read as 2: the table that the model was fitted to has no signs between"
    with pytest.warns(UserWarning, match=note):
        pd.testing.assert_frame_equal(wn.predict_table(model, file(rows[:1])), expected[:1])
