import numpy as np
import pandas as pd
import pytest

from whynear.report.problem import problem_from


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"a": rng.random(60), "b": rng.random(60), "kind": np.tile(["u", "v"], 30)})


def test_a_table_becomes_numbers_and_classes(frame):
    problem = problem_from(frame.assign(flag=True), "kind")
    assert list(problem.X.columns) == ["a", "b", "flag"]
    assert problem.X["flag"].tolist() == [1.0] * 60
    assert set(problem.y) == {"u", "v"}


def test_integer_and_boolean_targets_are_classes(frame):
    assert set(problem_from(frame.assign(kind=np.arange(60) % 3), "kind").y) == {"0", "1", "2"}
    assert set(problem_from(frame.assign(kind=np.arange(60) % 2 == 0), "kind").y) == {"True", "False"}


@pytest.mark.parametrize(
    ("change", "target", "message"),
    [
        ({}, None, "needs a target: .*--target.* Its columns are 'a', 'b', 'kind'"),
        ({}, "Kind", "no column 'Kind'. Did you mean 'kind'?"),
        ({"kind": ["u"] * 59 + [None]}, "kind", "1 values of the target 'kind' are missing, in rows 60 "),
        ({"kind": "u"}, "kind", "holds the single class 'u'"),
        ({"kind": np.random.default_rng(1).random(60)}, "kind", "a measurement with 60 different values.*--bins 3"),
        ({"kind": [f"id{i}" for i in range(60)]}, "kind", "no class with two rows"),
        ({"town": "Rome"}, "kind", r"1 of 3 columns are not numeric: 'town' \(text, such as 'Rome'\).*--drop 'town'"),
        ({"day": pd.Timestamp("2020-01-01")}, "kind", r"'day' \(dates\)"),
        ({"b": [np.nan] * 2 + [1.0] * 58}, "kind", "contains NaN: 2 in column 'b'"),
        ({"b": [np.inf] + [1.0] * 59}, "kind", "infinity .*1 in column 'b'"),
        ({"b": 1e300}, "kind", "in column 'b': its square overflows"),
    ],
)
def test_a_difficulty_is_named_with_its_remedy(frame, change, target, message):
    with pytest.raises(ValueError, match=message):
        problem_from(frame.assign(**change), target)


def test_a_table_without_features_or_with_a_name_twice_is_refused(frame):
    with pytest.raises(ValueError, match="no columns beside the target"):
        problem_from(frame[["kind"]], "kind")
    with pytest.raises(ValueError, match="the column 'a' twice"):
        problem_from(pd.concat([frame, frame[["a"]]], axis=1), "kind")


def test_columns_can_be_left_out(frame):
    assert list(problem_from(frame.assign(town="Rome"), "kind", drop=["town", "a"]).X.columns) == ["b"]
    with pytest.raises(ValueError, match="no column 'c'"):
        problem_from(frame, "kind", drop=["c"])


def test_a_measurement_is_binned_on_request(frame):
    problem = problem_from(frame, "a", drop=["kind"], bins=3)
    assert pd.Series(problem.y).value_counts().to_dict() == {f"bin {i} of 3": 20 for i in (1, 2, 3)}
    with pytest.raises(ValueError, match="needs a numeric target"):
        problem_from(frame, "kind", bins=3)


def test_caveats_tell_what_a_reader_must_know(frame):
    odd = pd.concat([frame.assign(same=1.0)] * 2, ignore_index=True)
    odd.loc[60, "kind"] = "v"
    odd.loc[3, "kind"] = "w"
    caveats = " ".join(problem_from(odd, "kind").caveats)
    assert "left out: 'w'" in caveats
    assert "never change" in caveats
    assert "'same'" in caveats
    assert "59 rows repeat" in caveats
    assert "2 rows share all features with a row of another class" in caveats
    assert "uncertain" in " ".join(problem_from(frame.head(20), "kind").caveats)


def test_a_data_set_knows_its_target():
    problem = problem_from("wine")
    assert problem.X.shape == (178, 13)
    assert set(problem.y) == {"class_0", "class_1", "class_2"}
    with pytest.raises(ValueError, match="Did you mean 'wine'"):
        problem_from("wyne")


def test_a_file_is_read_and_its_notes_are_kept(tmp_path, frame):
    path = tmp_path / "cases.csv"
    frame.rename(columns={"b": "a"}).to_csv(path, index=False, encoding="utf-8-sig")
    problem = problem_from(path, "kind")
    assert list(problem.X.columns) == ["a", "a.1"]
    assert "suffixed" in problem.caveats[0]
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv does not exist"):
        problem_from("nowhere.csv", "kind")


def test_spectra_of_the_papers_are_binned(real_data):
    problem = problem_from("wine_spectra", bins=3)
    assert problem.X.shape == (124, 256)
    assert sorted(pd.Series(problem.y).value_counts()) == [38, 43, 43]  # equal alcohol levels stay together
