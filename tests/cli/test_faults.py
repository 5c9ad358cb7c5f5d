"""Faulty tables through the command line: each is refused in a sentence, or studied and told of."""

import numpy as np
import pandas as pd
import pytest

import whynear
from tests.helpers.fault_tables import answer, cases, refused, studied, with_values

pytestmark = pytest.mark.usefixtures("figures")


@pytest.fixture(scope="module")
def plain(tmp_path_factory, figures):
    """The study of a table without any fault."""
    return studied(tmp_path_factory.mktemp("plain"), cases())


GAPS = with_values("noise", {1: None, 4: None, 9: None}).assign(drift=with_values("drift", {2: None})["drift"])


def test_missing_values_are_refused_by_column_and_count_if_the_study_is_strict(tmp_path):
    said = refused(tmp_path, GAPS, "--strict")
    assert said.startswith("cases.csv contains NaN: 3 in column 'noise', 1 in column 'drift'. ")
    assert "--impute median" in said
    assert "--drop 'noise'" in said


@pytest.mark.slow
@pytest.mark.parametrize("impute", ["auto", "median"])
def test_missing_values_are_filled_in_and_recorded_in_the_model(tmp_path, impute):
    result = studied(tmp_path, GAPS, *([] if impute == "auto" else ["--impute", impute]))
    undone = "; --strict refuses them" if impute == "auto" else ""
    assert (
        "4 missing values were filled in by the median of the column, in 2 columns, "
        f"the most (3) in 'noise'; the model does the same when it predicts{undone}." in result.caveats
    )
    assert result.content["settings"]["impute"] == impute
    encoder = whynear.load(result.model)[0]
    assert encoder.fill_values_["noise"] == pytest.approx(GAPS["noise"].median())
    assert encoder.n_filled_ == {"noise": 3, "drift": 1}
    predicted = answer("predict", result.model, tmp_path / "cases.csv")["predictions"]
    assert all(0.5 <= row["probability"] <= 1 for row in predicted)


@pytest.mark.parametrize("words", [[], ["--strict"], ["--impute", "median"], ["--impute", "most_frequent"]])
def test_infinities_are_refused_even_where_gaps_are_filled_in(tmp_path, words):
    said = refused(tmp_path, with_values("noise", {1: np.inf, 4: -np.inf}), *words)
    assert said == ("cases.csv contains infinity (inf): 2 in column 'noise'. Replace these values or drop their rows.")


def test_missing_targets_are_refused_by_row(tmp_path):
    said = refused(tmp_path, with_values("y", {1: None, 4: "  "}))
    assert said.startswith("cases.csv: 2 values of the target 'y' are missing, in rows 2, 5 (counting from 1 below")
    assert said.endswith("leave these rows out (--drop-missing-target).")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gaps", "caveat"),
    [
        ({1: None, 4: "  "}, "2 rows have no value of the target and were left out."),
        pytest.param({1: None}, "1 row has no value of the target and was left out.", marks=pytest.mark.slow),
    ],
)
def test_rows_without_a_target_are_dropped_on_request_and_counted(tmp_path, gaps, caveat):
    result = studied(tmp_path, with_values("y", gaps), "--drop-missing-target")
    assert result.content["rows"] == 24 - len(gaps)
    assert caveat in result.caveats


def test_the_remedy_named_for_an_infinite_target_is_one(tmp_path):
    table = cases().assign(y=[np.inf, *[0, 1] * 11, 1])
    said = refused(tmp_path, table)
    assert said.startswith("cases.csv: 1 value of the target 'y' is infinite, in row 1 ")
    assert "--drop-missing-target" not in said or studied(tmp_path, table, "--drop-missing-target")


def test_constant_and_empty_columns_are_irrelevant_and_change_nothing_else(tmp_path, plain):
    result = studied(tmp_path, cases().assign(same=7.5, empty=np.nan))
    for name in ("same", "empty"):
        assert result.relevance.loc[name, ["lower", "upper", "verdict"]].tolist() == [0, 0, "no evidence"]
    bounds, others = ["lower", "upper"], ["size", "noise", "drift"]
    pd.testing.assert_frame_equal(result.relevance.loc[others, bounds], plain.relevance.loc[others, bounds])
    assert "Columns without any value carry no information: 'empty'." in result.caveats
    assert "Columns that never change carry no information: 'same'." in result.caveats


@pytest.mark.parametrize(
    ("labels", "fact"),
    [
        (["only"] * 24, "the single class 'only'"),
        (["only"] * 23 + ["one"], "the single class 'only'"),
        ([f"class {row}" for row in range(24)], "no class with two rows"),
    ],
)
def test_a_single_class_is_refused_by_name(tmp_path, labels, fact):
    said = refused(tmp_path, cases().assign(y=labels))
    assert said == f"cases.csv: column 'y' holds {fact}; at least two classes are needed. Choose another target."


@pytest.mark.slow
def test_small_classes_shrink_the_folds_or_are_left_out(tmp_path):
    result = studied(tmp_path, with_values("y", {0: "single", 1: "pair", 2: "pair"}), "--folds", 5)
    assert "Classes with a single row cannot be held out and were left out: 'single'." in result.caveats
    assert "Class 'pair' has 2 rows, so 2 folds were made instead of 5." in result.caveats
    assert result.content["settings"]["folds"] == 2
    assert result.content["rows"] == 23


@pytest.mark.slow
def test_fewer_rows_than_columns_and_columns_that_follow_from_others(tmp_path):
    table = cases(20).assign(twin=lambda rows: 2 * rows["size"] + 1, total=lambda rows: rows["noise"] + rows["drift"])
    noise = pd.DataFrame(np.random.default_rng(1).normal(size=(20, 30))).add_prefix("x")
    result = studied(tmp_path, pd.concat([noise, table], axis=1))
    assert len(result.relevance) == 35
    assert 1 <= result.content["relevance"]["effective_dim"] <= result.content["relevance"]["rank"] <= 19
    assert "indispensable" not in result.relevance.loc[["size", "twin"], "verdict"].tolist()
    assert not result.content["verdicts"]["alternatives"].get("noise")


@pytest.mark.slow
def test_one_column_is_enough(tmp_path):
    result = studied(tmp_path, cases()[["size", "y"]])
    assert 0.5 < result.relevance.loc["size", "upper"] <= 1
    assert result.relevance["verdict"].tolist() == ["indispensable"]


@pytest.mark.parametrize(
    ("table", "fact"),
    [
        (cases().head(1), "cases.csv has 1 row; two classes with two rows each are needed at least. Add rows."),
        (cases().head(0), "cases.csv must have rows below its header, got 4 column names and no rows instead."),
        ("", "cases.csv must have a header and rows, got an empty file instead. Export it again."),
        (cases()[["y"]], "cases.csv has no columns beside the target; at least one feature is needed."),
        (cases()[["y"]].assign(same=1), "cases.csv: all columns are constant: 'same'."),
    ],
    ids=["one row", "header only", "empty file", "no column", "nothing changes"],
)
def test_too_little_of_a_table_is_refused(tmp_path, table, fact):
    assert fact in refused(tmp_path, table)


@pytest.mark.parametrize(
    ("factor", "fact", "remedy"),
    [
        (1e300, "e+300 in column 'noise': its square overflows.", "Divide the column by a constant"),
        (1e-300, "e-300 in column 'noise': its square vanishes.", "Multiply the column by a constant"),
    ],
)
def test_magnitudes_beyond_any_square_are_refused_by_column(tmp_path, factor, fact, remedy):
    said = refused(tmp_path, cases().assign(noise=cases()["noise"] * factor))
    assert fact in said
    assert remedy in said


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1e100, 1e-100])
def test_large_and_small_magnitudes_change_no_answer(tmp_path, plain, factor):
    result = studied(tmp_path, cases().assign(noise=cases()["noise"] * factor))
    pd.testing.assert_frame_equal(result.relevance, plain.relevance)


@pytest.mark.slow
def test_narrow_and_whole_numbers_give_the_study_of_doubles(tmp_path):
    doubles = cases().drop(columns="drift").assign(count=np.arange(24) % 5, flag=np.arange(24) % 3 == 0)
    narrow = doubles.astype({"size": "float32", "noise": "float32", "count": "int8", "flag": "bool"})
    (tmp_path / "narrow").mkdir()
    narrow.to_parquet(tmp_path / "narrow" / "cases.parquet")
    given = studied(tmp_path / "narrow", tmp_path / "narrow" / "cases.parquet")
    expected = studied(tmp_path, doubles.astype({"count": float, "flag": float}))
    pd.testing.assert_frame_equal(given.relevance, expected.relevance, rtol=1e-3, atol=1e-5)
    assert given.content["expected_scores"] == expected.content["expected_scores"]
