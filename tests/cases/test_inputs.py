import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from tests.helpers.case_bases import slow_nearest
from tests.helpers.measured_tables import houses, model_of_houses, numbers
from tests.helpers.mixed_tables import MIXED, model_of, model_of_patients, patients
from whynear import DiagonalMetric, LinearMetric, MinimumNormRegressor, as_metric, explain
from whynear.cases import tables
from whynear.cases.case_base import CaseBase
from whynear.cases.inputs import (
    RowEncoding,
    case_metric,
    case_table,
    checked_ids,
    encoder_of,
    fitting_metric,
    query_case,
)
from whynear.cases.tables import numbers_out_of_range, rerank_by
from whynear.spectra import SavitzkyGolay, StandardNormalVariate


@pytest.mark.parametrize(
    ("payload", "fact"),
    [
        ({"x": np.int64(1)}, "int64"),
        ({"x": float("nan")}, "Out of range"),
        ({1: "x"}, "strings as keys"),
        ({"x": (1, 2)}, "not tuples"),
        ("text", "must be a dict"),
    ],
)
def test_payloads_json_cannot_hold_are_refused_by_row(tmp_path, payload, fact):
    with CaseBase(tmp_path / "base", DiagonalMetric(np.ones(2))) as base:
        with pytest.raises((TypeError, ValueError), match=rf"payloads\[1\].*{fact}"):
            base.add(np.zeros((2, 2)), [{}, payload])
        with pytest.raises(ValueError, match="one dict for each of the 2 cases, got 1"):
            base.add(np.zeros((2, 2)), [{}])
        assert len(base) == 0


@pytest.mark.parametrize(
    ("frame", "fact"),
    [
        (pd.DataFrame({"a": [1.0, np.nan], "b": [1, 2]}), "NaN: 1 in column 'a'"),
        (pd.DataFrame({"a": [1.0, np.inf], "b": [1, 2]}), "inf.*1 in column 'a'"),
        (pd.DataFrame({"a": ["1", "two"], "b": [1, 2]}), "'two' in column 'a', row 2"),
        (pd.DataFrame({"a": [1.0], "c": [1]}), "lacks 'b' and has unknown 'c'"),
        (pd.DataFrame({"a": [1e60], "b": [1]}), r"1e\+60 in column 'a', larger"),
        (pd.DataFrame({"a": [1e-60], "b": [1]}), "1e-60 in column 'a', smaller"),
        (np.ones((1, 3)), "must have 2 features"),
    ],
)
def test_cases_that_cannot_be_kept_are_refused_by_name(tmp_path, frame, fact):
    with CaseBase(tmp_path / "base", DiagonalMetric(np.ones(2), ["a", "b"])) as base:
        with pytest.raises(ValueError, match=fact):
            base.add(frame)
        assert len(base) == 0


def test_columns_that_float32_blurs_are_named(tmp_path):
    base = CaseBase(tmp_path / "base", DiagonalMetric(np.ones(2), ["time", "b"]))
    with pytest.warns(UserWarning, match="differences within 'time'"):
        base.add([[1.7e9, 0.5], [1.7e9 + 1, 0.7]])


@pytest.mark.parametrize("query", [[1.0, np.nan], {"a": 1.0}, {"a": 1.0, "b": "x"}, np.ones((2, 2)), [1.0], "ab"])
def test_bad_queries_are_refused(tmp_path, query):
    with CaseBase(tmp_path / "base", DiagonalMetric(np.ones(2), ["a", "b"])) as base:
        base.add([[1, 2]])
        with pytest.raises(ValueError, match=r"query|could not convert|Expected"):
            base.retrieve(query)


def test_cases_and_queries_are_taken_by_name_in_any_order():
    table = pd.DataFrame({"b": ["2", "4"], "a": [1, 3]})
    assert_array_equal(case_table(table, ["a", "b"]), [[1, 2], [3, 4]])
    for query in ([1, "2"], {"b": "2", "a": 1}, table.iloc[0], table.head(1)):
        assert_array_equal(query_case(query, ["a", "b"]), [1, 2])


def test_a_metric_is_brought_into_the_order_of_the_columns():
    named = DiagonalMetric([1.0, 2.0], ["a", "b"])
    assert fitting_metric(named, None) is named
    assert fitting_metric(named, ["b", "a"]) == DiagonalMetric([2.0, 1.0], ["b", "a"])
    assert fitting_metric([1.0, 2.0], ["b", "a"]) == DiagonalMetric([1.0, 2.0], ["b", "a"])


@pytest.mark.parametrize("ids", [1.5, "1", [[1]], [True]])
def test_ids_are_whole_numbers(ids):
    assert_array_equal(checked_ids(3), [3])
    assert_array_equal(checked_ids([]), [])
    with pytest.raises(ValueError, match="ids must be whole numbers"):
        checked_ids(ids)


def test_a_linear_regressor_compares_cases_feature_by_feature():
    X, y = numbers()
    model = make_pipeline(StandardScaler(), MinimumNormRegressor()).fit(X, y)
    metric = case_metric(model)
    why = explain(model, X.iloc[[0]])
    assert_allclose(metric.sq_distances(X.iloc[[0]], X)[0][why.neighbors["row"] - 1], why.neighbors["sq_distance"])
    assert_allclose(metric.relevances(), as_metric(model).relevances())
    assert_allclose(metric.scale, as_metric(model).scale)
    assert metric.units == "per standard deviation"


def test_a_map_of_one_row_that_is_no_regressor_is_taken_as_it_is():
    metric = LinearMetric([[1.0, -1.0]])
    assert case_metric(metric) is metric


ROWS = np.array([[0.0, -5.0], [1.5, 2.0], [3.0, 0.1]])
NAMES = ["width", "height"]


@pytest.fixture
def base():
    with CaseBase(":memory:", DiagonalMetric([1.0, 4.0], NAMES)) as base:
        base.add(ROWS)
        yield base


@pytest.mark.parametrize(
    "form", [np.asarray, lambda x: dict(zip(NAMES, x, strict=True)), lambda x: pd.DataFrame([x], columns=NAMES)]
)
def test_numbers_are_outside_exactly_where_they_exceed_the_stored_ones(base, form):
    rng = np.random.default_rng(0)
    for case in rng.uniform(-8, 5, (40, 2)):
        outside = (case < ROWS.min(axis=0)) | (case > ROWS.max(axis=0))
        assert [value.column for value in numbers_out_of_range(base, form(case))] == list(np.array(NAMES)[outside])


def test_a_stored_number_is_within_the_range_though_it_was_rounded(base):
    for row in ROWS:
        assert numbers_out_of_range(base, row) == []


def test_text_gaps_and_unknown_columns_are_not_compared(base):
    assert numbers_out_of_range(base, {"width": "wide", "height": None, "depth": 1e9}) == []
    assert [value.column for value in numbers_out_of_range(base, {"width": "7"})] == ["width"]


def test_large_and_empty_bases_are_not_read(base, monkeypatch):
    monkeypatch.setattr(tables, "MOST_COMPARED", 2)
    assert numbers_out_of_range(base, [99.0, 99.0] @ np.eye(2)) == []
    with CaseBase(":memory:", DiagonalMetric([1.0, 4.0], NAMES)) as empty:
        assert numbers_out_of_range(empty, ROWS[0]) == []


# Case bases of tables with categories, dates and missing values, behind the encoder of a model.


LEARNERS = {
    "global": wn.GMLVQ(random_state=0),
    "weights": wn.GRLVQ(random_state=0),
    "local": wn.LANN(random_state=0, epochs=1),
}


@pytest.fixture(scope="module")
def model():
    return model_of_patients()


def filled(path, model, X=None):
    X = patients()[0] if X is None else X
    with wn.CaseBase(path, model) as base:
        base.add(X, [{"number": number} for number in range(len(X))])
    return path


def made(model, X):
    return np.ascontiguousarray(model[0].transform(X))


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_nearest_are_those_of_the_encoded_rows(tmp_path, learner):
    X, model = patients()[0], model_of_patients(LEARNERS[learner])
    stored = made(model, X).astype(np.float32).astype(float)
    with wn.CaseBase(filled(tmp_path / "base", model)) as base:
        assert {"dose=missing", "ward=A", "sex=m"} < set(base.metric.feature_names)
        for place in (0, 4, 33):
            found = base.retrieve(X.iloc[[place]], k=9, explain=True)
            ids, sq = slow_nearest(case_metric(model), stored, made(model, X.iloc[[place]])[0], 9)
            assert_array_equal(found.ids, ids)
            assert_array_equal(found.sq_distances, sq)
            assert list(found.contributions) == list(X)
            assert_allclose(found.contributions.sum(axis=1), found.sq_distances, atol=1e-12)


def test_a_column_contributes_what_its_features_do(tmp_path, model):
    X = patients()[0]
    with wn.CaseBase(filled(tmp_path / "base", model)) as base:
        parts = base.retrieve(X.iloc[[0]], k=5, explain=True).contributions
        query = pd.Series(made(model, X.iloc[[0]])[0], base.metric.feature_names)
        for case in parts.index:
            of_features = base.metric.contributions(query.to_numpy(), base.get(case).X.to_numpy()[0])
            by_column = pd.Series(of_features).groupby(np.array(base.encoder.sources_)).sum()
            assert_allclose(parts.loc[case], by_column[list(X)])


def test_the_cases_of_a_regressor_are_near_as_it_explains_them(tmp_path):
    (X, _), model = houses(), model_of_houses()
    with wn.CaseBase(filled(tmp_path / "base", model, X)) as base:
        near = wn.explain(model, X.iloc[[5]]).neighbors
        found = base.retrieve(X.iloc[[5]], k=len(near))
        assert found.rows == near["row"].tolist()
        assert_allclose(found.sq_distances, near["sq_distance"], rtol=1e-5, atol=1e-9)


def test_names_payloads_and_answers_outlive_the_process(tmp_path, model):
    X = patients()[0]
    with wn.CaseBase(tmp_path / "base", model) as base:
        base.add(X, [{"number": number} for number in range(len(X))])
        before = base.retrieve(X.iloc[[1]], k=7, explain=True)
    with wn.CaseBase(tmp_path / "base") as base:
        assert base.columns == tuple(X)
        assert base.check() == len(X)
        after = base.retrieve(X.iloc[[1]], k=7, explain=True)
        assert base.like(base.id_of("p1"), k=6).rows == after.rows[1:]
        assert_array_equal(base.get(after.ids).X, made(model, X.loc[after.rows]).astype(np.float32))
    assert after.frame().equals(before.frame())
    assert after.contributions.equals(before.contributions)
    assert after.rows[0] == "p1"
    assert [f"p{payload['number']}" for payload in after.payloads] == after.rows


def test_a_query_is_taken_in_every_form(tmp_path, model):
    X, place = patients()[0], 11
    row, numbers = X.iloc[place], made(model, X.iloc[[place]])
    named = pd.DataFrame(numbers, columns=model[0].made_)
    with wn.CaseBase(filled(tmp_path / "base", model)) as base:
        expected = base.retrieve(X.iloc[[place]], k=5)
        forms = [row, row.to_dict(), row.tolist(), row[::-1].to_dict(), X.iloc[[place], ::-1], X.iloc[place].to_numpy()]
        for query in (*forms, numbers[0], named, named.iloc[:, ::-1], named.iloc[0].to_dict()):
            found = base.retrieve(query, k=5)
            assert_array_equal(found.ids, expected.ids)
            assert_array_equal(found.sq_distances, expected.sq_distances)


def test_cases_are_taken_encoded_too(tmp_path, model):
    X = patients()[0]
    with wn.CaseBase(filled(tmp_path / "base", model)) as base:
        base.add(made(model, X.head(3)))
        base.add(model[0].transform(X.head(3)).iloc[:, ::-1])
        vectors = base.get(np.arange(1, len(base) + 1)).X.to_numpy()
        for later in (vectors[-6:-3], vectors[-3:]):
            assert_array_equal(later, vectors[:3])


def test_gaps_and_new_categories_of_a_query_are_taken_as_the_model_takes_them(tmp_path, model):
    X, encoder = patients()[0], model[0]
    with wn.CaseBase(filled(tmp_path / "base", model)) as base:
        gap, filled_in = X.iloc[[1]].assign(age=np.nan), X.iloc[[1]].assign(age=encoder.fill_values_["age"])
        found = base.retrieve(gap, k=5)
        assert_array_equal(found.sq_distances, base.retrieve(filled_in, k=5).sq_distances)
        assert [(value.column, value.kind, value.filled) for value in found.unusual] == [
            ("age", "filled_in", encoder.fill_values_["age"])
        ]
        assert found.to_dict()["unusual"][0]["column"] == "age"
        assert "&#39;age&#39;, which is missing" in found._repr_html_()
        with pytest.warns(UserWarning, match="'ward' holds 'Z', which is none of the categories"):
            found = base.retrieve(X.iloc[[1]].assign(ward="Z"), k=5)
        assert [(value.column, value.kind) for value in found.unusual] == [("ward", "unseen_category")]
        assert base.retrieve(X.iloc[[1]], k=5).unusual == base.like(1, k=5).unusual == ()


def test_an_encoder_that_only_fills_in_takes_rows_without_names(tmp_path):
    X = np.random.default_rng(0).standard_normal((30, 3)).round(1)
    X[::7, 1] = np.nan
    encoder = wn.TableEncoder(impute="median")
    model = make_pipeline(encoder, wn.GRLVQ(random_state=0)).fit(
        pd.DataFrame(X, columns=list("abc")), np.arange(30) % 2
    )
    with wn.CaseBase(filled(tmp_path / "base", model, X)) as base:
        assert base.columns == base.metric.feature_names == ("a", "b", "c")
        found = base.retrieve([0.5, None, 1.0], k=4, explain=True)
        assert_array_equal(found.ids, base.retrieve([0.5, np.nanmedian(X[:, 1]), 1.0], k=4).ids)
        assert [value.column for value in found.unusual] == ["b"]
        with pytest.raises(ValueError, match="masked values"):
            base.retrieve(np.ma.masked_invalid(X[0]))


def test_another_metric_behind_the_same_encoder_is_taken(tmp_path, model):
    other, X = model_of_patients(LEARNERS["global"]), patients()[0]
    with wn.CaseBase(filled(tmp_path / "base", model), other) as base:
        assert base.metric == wn.as_metric(other)
        expected = base.retrieve(X.iloc[[2]], k=5)
        base.set_metric(model)
        base.set_metric(wn.as_metric(other))  # a metric alone has no encoder
        assert_array_equal(base.retrieve(X.iloc[[2]], k=5).sq_distances, expected.sq_distances)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"rows": slice(1, 60)}, r"column 'age' in another way .*missing values become: \d+.0, in the case base \d+"),
        ({"missing": {}}, "column 'dose' in another way"),
        ({"indicators": False}, r"'dose' .*indicator of missing values: False, in the case base True"),
        ({"readings": {"admitted": "category"}}, "column 'admitted' in another way than the case base .categories: "),
    ],
)
def test_a_model_with_another_encoder_is_refused(tmp_path, model, settings, sentence):
    other, path = model_of_patients(**settings), filled(tmp_path / "base", model)
    with pytest.raises(ValueError, match=f"{sentence}.*Make a new case base with this model"):
        wn.CaseBase(path, other)
    with wn.CaseBase(path) as base:
        assert base.metric == wn.as_metric(model)


def test_a_model_of_other_columns_is_refused_by_their_names(tmp_path, model):
    X, y = patients()
    encoder = wn.TableEncoder("onehot", "median")
    other = make_pipeline(encoder, wn.GRLVQ(random_state=0)).fit(X[["age", "ward"]], y)
    with pytest.raises(ValueError, match=r"takes the columns 'age', 'ward', and the case base .*'s"):
        wn.CaseBase(filled(tmp_path / "base", model), other)


def test_a_base_of_numbers_stays_one(tmp_path, model):
    """As files of earlier versions, whose cases were encoded before they were added."""
    X = patients()[0]
    with wn.CaseBase(tmp_path / "base", wn.as_metric(model)) as base:
        base.add(made(model, X))
    with wn.CaseBase(tmp_path / "base", model) as base:
        assert base.encoder is None
        assert base.columns == base.metric.feature_names
        assert base.retrieve(made(model, X.iloc[[3]])[0], k=1).ids == [4]
        with pytest.raises(ValueError, match="query lacks"):
            base.retrieve(X.iloc[3])


def test_the_second_phase_sees_what_the_encoder_made(tmp_path, model):
    X = patients()[0]
    with wn.CaseBase(filled(tmp_path / "base", model)) as base:
        found = base.retrieve(X.iloc[[6]], k=8, filter_k=8, rerank=rerank_by(model), explain=True)
        assert_array_equal(found.ids, base.retrieve(X.iloc[[6]], k=8).ids)
        assert_allclose(found.similarities, -found.sq_distances, rtol=1e-6, atol=1e-12)
        wards = base.retrieve(X.iloc[[6]], k=70, filter_k=70, rerank=lambda query, cases, _: cases["ward=B"])
        assert_array_equal(wards.similarities, np.sort(X["ward"] == "B")[::-1])


def test_rows_that_cannot_be_encoded_are_refused_by_name_and_none_is_added(tmp_path, model):
    X = patients()[0].head(3)
    old = X.assign(age=["20", "old", "30"])
    with wn.CaseBase(filled(tmp_path / "base", model)) as base:
        with pytest.raises(ValueError, match=r"holds 'old' in column 'age', row p1, which is not a number"):
            base.add(old)
        with pytest.raises(ValueError, match=r"^new\.csv holds 'old'"):
            base.add(old, what="new.csv")
        with pytest.raises(ValueError, match="X lacks 'dose'"):
            base.add(X.drop(columns="dose"))
        for query, fact in [
            (old.iloc[1], "query holds 'old' in column 'age', which"),
            (X, "query must be one case, got 3 instead"),
            ({"age": 3}, "query lacks 'ward', 'sex'"),
            ([1, 2], "query must have the 6 features"),
        ]:
            with pytest.raises(ValueError, match=fact):
                base.retrieve(query)
        assert len(base) == 70


def test_gaps_before_the_preprocessing_of_spectra_are_filled_in(tmp_path):
    rng = np.random.default_rng(3)
    spectra = pd.DataFrame(rng.standard_normal((24, 6)).cumsum(axis=1), columns=[str(1000 + i) for i in range(6)])
    spectra.iloc[::5, 2] = np.nan
    steps = [wn.TableEncoder(impute="median"), SavitzkyGolay(window=3), StandardScaler()]
    model = make_pipeline(*steps, wn.GMLVQ(random_state=0)).fit(spectra, np.arange(24) % 2)
    with wn.CaseBase(filled(tmp_path / "base", model, spectra)) as base:
        found = base.retrieve(spectra.iloc[[0]], k=24)
        seen = model[:-1].transform(spectra)
        sq = model[-1].metric_.sq_distances(seen[:1], seen)[0]
        assert_allclose(found.sq_distances, np.sort(sq), rtol=1e-4, atol=1e-9)
    bent = make_pipeline(steps[0], StandardNormalVariate(), wn.GMLVQ(random_state=0))
    with pytest.raises(TypeError, match="StandardNormalVariate"):
        wn.CaseBase(tmp_path / "other", bent.fit(spectra, np.arange(24) % 2))


def test_only_a_table_encoder_is_stored(model):
    assert encoder_of(model) is model[0]
    for other in (wn.as_metric(model), model[-1], model_of(MIXED["scaled and one-hot"]), np.eye(2)):
        assert encoder_of(other) is None


def test_sums_are_those_of_the_columns_in_their_order(model):
    encoding = RowEncoding(model[0])
    parts = pd.DataFrame(np.ones((2, len(model[0].made_))), index=[7, 9], columns=model[0].made_)
    summed = encoding.summed(parts)
    assert summed.loc[7].to_dict() == {"age": 1, "ward": 3, "sex": 1, "pain": 1, "admitted": 1, "dose": 2}
    assert summed.index.tolist() == [7, 9]


def test_a_category_is_warned_of_once_for_each_query(tmp_path, model):
    with wn.CaseBase(filled(tmp_path / "base", model)) as base, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        base.retrieve(patients()[0].iloc[[1]].assign(ward="Z"), k=1)
    assert len(caught) == 1
