import numpy as np
import pandas as pd
import pytest

import whynear as wn
from tests.helpers.large_tables import messy_table, small_memory
from whynear.large import beyond_memory as problem
from whynear.large.beyond_memory import beyond_memory, large_problem
from whynear.large.parts import open_parts
from whynear.study.settings import StudySettings
from whynear.utils.progress import Steps


@pytest.fixture
def plain():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(600, 3)), columns=list("abc"))
    return frame.assign(kind=np.where(frame["a"] + 0.3 * rng.normal(size=600) > 0, "up", "down"))


@pytest.fixture
def file(tmp_path, plain):
    plain.to_parquet(tmp_path / "t.parquet", row_group_size=50, index=False)
    return tmp_path / "t.parquet"


def problems(path, target="kind", **words):
    return large_problem(open_parts(path), target, StudySettings.of(**words), Steps())


def test_tables_that_fit_and_tables_in_memory_are_read_as_ever(file, plain):
    for table in (plain, "iris", file, str(file), file.parent):
        assert beyond_memory(table, StudySettings()) is None


def test_files_and_folders_that_do_not_fit_are_read_in_parts(file, monkeypatch):
    small_memory(monkeypatch, 500)
    for path in (file, str(file), file.parent):
        found = beyond_memory(path, StudySettings())
        assert (found.n_rows, len(found.parts)) == (600, 12)


def test_a_folder_of_text_files_is_measured_by_its_first_file(tmp_path, plain, monkeypatch):
    for number, rows in enumerate((plain[:200], plain[200:])):
        rows.to_csv(tmp_path / f"{number}.csv", index=False)
    small_memory(monkeypatch, 700)
    assert beyond_memory(tmp_path, StudySettings()) is None
    small_memory(monkeypatch, 500)
    assert beyond_memory(tmp_path, StudySettings()).n_rows == 600


def test_a_text_file_beyond_a_given_limit_is_refused(tmp_path, plain):
    plain.to_csv(tmp_path / "t.csv", index=False)
    assert beyond_memory(tmp_path / "t.csv", StudySettings.of(memory="1GB")) is None
    with pytest.raises(ValueError, match=r"takes more than 750 MB of memory, and memory=700MB .* Save"):
        beyond_memory(tmp_path / "t.csv", StudySettings.of(memory="700MB"))


def test_too_little_memory_is_refused_with_what_is_needed(file):
    with pytest.raises(ValueError, match=r"at least 754 MB of memory, and memory=500MB .*0.8GB"):
        wn.study(file, "kind", running=wn.Running(memory="500MB"))
    assert problem.MemoryLimit.of("0.8GB").rows(4) >= problem.COMPARED_ROWS


def test_a_size_that_cannot_be_read_is_refused(file):
    with pytest.raises(ValueError, match=r"memory must be a size such as '500MB' .*, got 'lots'"):
        wn.study(file, "kind", running=wn.Running(memory="lots"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"target": "kid"}, "has no column 'kid'. Did you mean 'kind'"),
        ({"target": None}, r"t.parquet needs a target: name the column to predict \(--target COLUMN\)"),
        ({"drop": ("x",)}, "has no column 'x'"),
        ({"weight": "heavy"}, "has no column 'heavy'"),
    ],
)
def test_unknown_columns_are_refused_before_the_scan(file, monkeypatch, words, message):
    small_memory(monkeypatch, 500)
    monkeypatch.setattr(problem, "scan", None)
    with pytest.raises(ValueError, match=message):
        problems(file, **{"target": "kind", **words})


def test_whole_parts_are_held_out_at_random(file, monkeypatch):
    small_memory(monkeypatch, 500)
    sample, rows = problems(file)
    assert sum(part.n_rows for part in rows.held_out) == 50
    assert len(sample.X) == 500
    assert not set(sample.X.index) & set(range(rows.held_out[0].before + 1, rows.held_out[0].before + 51))
    assert rows.held_out == problems(file)[1].held_out
    assert {problems(file, random_state=seed)[1].held_out for seed in range(5)} != {rows.held_out}


def test_the_sample_does_not_depend_on_the_batches(file, monkeypatch):
    small_memory(monkeypatch, 300)
    samples = []
    for n_rows in (7, 1000):
        monkeypatch.setattr(problem, "FEWEST_BATCH_ROWS", n_rows)
        samples.append(problems(file)[0])
    pd.testing.assert_frame_equal(samples[0].X, samples[1].X)
    assert samples[0].caveats == samples[1].caveats


def test_a_class_is_not_lost_with_the_parts(tmp_path, plain, monkeypatch):
    small_memory(monkeypatch, 500)
    plain.sort_values("kind").to_parquet(tmp_path / "t.parquet", row_group_size=200, index=False)
    sample, rows = problems(tmp_path / "t.parquet")
    assert (rows.held_out, rows.why_none) == ((), "a class would be missing in the other row groups")
    assert len(sample.classes) == 2


@pytest.mark.parametrize(
    ("words", "why"), [({"group": "c"}, "rows are held out by 'c'"), ({"time": "c"}, "rows are held out by 'c'")]
)
def test_groups_and_times_have_their_own_rows_held_out(file, monkeypatch, words, why):
    small_memory(monkeypatch, 500)
    _, rows = problems(file, **words)
    assert (rows.held_out, rows.why_none) == ((), why)


def test_bins_are_those_of_the_sample(file, monkeypatch):
    small_memory(monkeypatch, 500)
    sample, rows = problems(file, "c", bins=3)
    assert (rows.held_out, rows.why_none) == ((), "the classes are bins of the sample")
    assert len(sample.classes) == 3


def test_numbers_written_as_text_are_a_target_without_parts_held_out(tmp_path, plain, monkeypatch):
    small_memory(monkeypatch, 500)
    written = plain.assign(kind=[f"{value:.4f}".replace(".", ",") for value in plain["a"]])
    written.to_parquet(tmp_path / "t.parquet", row_group_size=50, index=False)
    sample, rows = problems(tmp_path / "t.parquet")
    assert (sample.kind, rows.why_none) == ("numbers", "the target is text that was read as numbers")


def test_a_single_row_group_is_not_held_out(tmp_path, plain, monkeypatch):
    small_memory(monkeypatch, 500)
    plain.to_parquet(tmp_path / "t.parquet", index=False)
    assert problems(tmp_path / "t.parquet")[1].why_none == "the table has only 1 row group"
    plain.to_parquet(tmp_path / "t.parquet", index=False, row_group_size=300)
    assert problems(tmp_path / "t.parquet")[1].why_none == "the table has only 2 row groups"


def test_a_study_says_what_it_read_and_how_well_whole_parts_are_predicted(file, monkeypatch):
    small_memory(monkeypatch, 400)
    steps = []
    study = wn.study(
        file, "kind", learner="grlvq", splitting=wn.Splitting(folds=3), progress=lambda step, share: steps.append(step)
    )
    assert "The model has seen no row of 1 of 12 row groups: of their 50 rows it predicts " in study.finding()
    assert any(said.startswith("Of 600 rows, a random 400 were used to compare learners") for said in study.caveats)
    assert any(said.startswith("Columns were judged by 4") for said in study.caveats)
    assert study.problem.source == "t.parquet"
    assert len(study.problem.X) == 400
    assert {"read the table, row 1 of 600", "predict whole row groups, row 1 of 50"} <= set(steps)


@pytest.mark.slow
def test_a_folder_that_fits_gives_the_study_of_one_file(tmp_path, plain):
    (tmp_path / "parts").mkdir()
    for number, rows in enumerate((plain[:70], plain[70:130])):
        rows.to_parquet(tmp_path / "parts" / f"{number}.parquet", index=False)
    plain[:130].to_parquet(tmp_path / "t.parquet", index=False)
    of_folder, of_file = (
        wn.study(tmp_path / name, "kind", learner="grlvq", splitting=wn.Splitting(folds=2)).to_dict()
        for name in ("parts", "t.parquet")
    )
    assert (of_folder.pop("source"), of_file.pop("source")) == ("parts/", "t.parquet")
    assert of_folder == of_file


@pytest.mark.slow
def test_a_messy_table_is_studied_in_parts(tmp_path, monkeypatch):
    small_memory(monkeypatch, 300)
    messy_table().to_parquet(tmp_path / "t.parquet", row_group_size=50, index=False)
    study = wn.study(
        tmp_path / "t.parquet",
        "kind",
        learner="grlvq",
        splitting=wn.Splitting(folds=2),
        reading=wn.Reading(drop=["fat"]),
    )
    assert "blue" in study.model[0].categories_["colour"], "the model knows categories that the sample lacks"
    assert "of their 50 rows it predicts" in study.finding()


@pytest.mark.slow
def test_text_files_are_studied_in_parts(tmp_path, plain, monkeypatch):
    small_memory(monkeypatch, 300)
    (tmp_path / "parts").mkdir()
    for number in range(6):
        rows = plain[100 * number : 100 * number + 100].astype({"b": object})
        if number == 3:
            rows.iloc[7, 1] = "?"
        rows.to_csv(tmp_path / "parts" / f"part-{number}.csv", index=False)
    study = wn.study(tmp_path / "parts", "kind", learner="grlvq", splitting=wn.Splitting(folds=2))
    assert "The model has seen no row of 1 of 6 files: of their 100 rows it predicts" in study.finding()
    assert any(said.startswith("'?' was taken as missing: 1 value, in 'b' (1)") for said in study.caveats)
    assert study.problem.columns.set_index("column").loc["b", ["kind", "missing"]].tolist() == ["numbers", 1]
