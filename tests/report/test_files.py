"""The files of a study."""

import json
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_iris

import whynear as wn
from tests.helpers.blank_figures import save_empty
from tests.helpers.studies import numeric_study
from whynear.report import files
from whynear.report.files import FILES, RECORD, UNFINISHED, Unfinished, comparison_tables, finish_moving, save, tables


@pytest.mark.slow
@pytest.mark.parametrize("drawn", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_same_seed_gives_the_same_files_byte_for_byte(tmp_path, monkeypatch, drawn):
    if not drawn:
        monkeypatch.setattr(Figure, "savefig", save_empty)
    iris = load_iris(as_frame=True).frame
    first, second = (
        [
            path.read_bytes()
            for path in wn.study(iris[::5], "target", learner="gmlvq", splitting=wn.Splitting(folds=3)).save(
                tmp_path / name
            )
        ]
        for name in ("one", "two")
    )
    assert first == second


@pytest.mark.slow
def test_what_is_written_can_be_read_again(study, saved):
    assert {"study.json", "model.whynear", "relevance.csv", "cases.csv", "predictions.csv"} <= set(saved)
    content = json.loads(saved["study.json"].read_text())
    assert content["format"] == 1
    assert content["finding"] == study.finding()
    assert content["relevance"]["upper"] == study.relevance.upper.tolist()
    model = wn.load(saved["model.whynear"])
    X = study.problem.X
    assert (model.predict(X) == study.model.predict(X)).all()
    predictions = pd.read_csv(saved["predictions.csv"])
    assert list(predictions.columns) == ["row", "true", "predicted", "probability", "by", "fold", "certainty"]
    assert len(pd.read_csv(saved["cases.csv"])) == len(study.cases)
    assert saved["intervals.svg"].read_text().startswith("<svg")


@pytest.fixture
def blank(monkeypatch):
    """Figures without anything on them."""
    monkeypatch.setattr(Figure, "savefig", save_empty)


@pytest.mark.slow
@pytest.mark.usefixtures("blank")
def test_all_files_are_in_the_folder_and_the_page_is_the_last(study, tmp_path):
    written = save(study, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in written)
    assert set(FILES) <= {path.name for path in written}
    assert written[-1].name == "report.html"


@pytest.mark.usefixtures("blank")
def test_older_files_stay_where_a_file_cannot_be_written(study, tmp_path, monkeypatch):
    (tmp_path / "relevance.csv").write_text("older")

    def fail(path: Path, *_):
        if path.name == "report.html":
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "write_data", fail)
    with pytest.raises(OSError, match="No space left"):
        save(study, tmp_path, overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["relevance.csv"]
    assert (tmp_path / "relevance.csv").read_text() == "older"


@pytest.mark.usefixtures("blank")
def test_no_part_of_the_study_is_called_an_older_file(study, tmp_path, monkeypatch):
    """Parts that were kept while it was computed do not outlive a write that fails, and its error must not say so."""
    (tmp_path / UNFINISHED).mkdir()
    for name in ("predictions.csv", "model.whynear"):
        (tmp_path / UNFINISHED / name).write_text("a part")
    found = []

    def seen(path: Path, *_):
        found.append(path.exists())

    monkeypatch.setattr(files, "write_data", seen)
    monkeypatch.setattr(files, "save", lambda _, path: seen(path))
    monkeypatch.setattr(files, "move_in", lambda *_: None)
    save(study, tmp_path)
    assert len(found) > len(FILES)
    assert not any(found)


class Killed(BaseException):
    """Ends a process where it stands."""


@pytest.mark.usefixtures("blank")
@pytest.mark.parametrize("last", ["report.html", "relevance.csv", "study.json"])
def test_files_are_not_taken_for_a_study_before_all_of_them_are_written(study, tmp_path, monkeypatch, last):
    real = files.write_data

    def killed(path: Path, *how):
        if path.name == last:
            raise Killed
        real(path, *how)

    (tmp_path / UNFINISHED).mkdir()
    (tmp_path / UNFINISHED / "study.json").write_text("of another study")
    (tmp_path / "study.json").write_text("older")
    monkeypatch.setattr(files, "write_data", killed)
    with pytest.raises(Killed):
        save(study, tmp_path, overwrite=True)
    (tmp_path / "study.json").unlink()
    finish_moving(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [UNFINISHED]


@pytest.mark.usefixtures("blank")
def test_a_warning_names_the_file_by_its_final_path(study, tmp_path, monkeypatch):
    def save_model(_model, path):
        path.write_text("")
        files.warnings.warn(f"{path} contains rows.", stacklevel=2)

    monkeypatch.setattr(files, "save_model", save_model)
    with pytest.warns(UserWarning, match="contains rows") as caught:
        save(study, tmp_path)
    assert str(caught[0].message) == f"{tmp_path / 'model.whynear'} contains rows."
    assert not (tmp_path / UNFINISHED).exists()


class BackwardsWriters:
    """Writers that are done in another order than they were given: threads may be."""

    def __init__(self, _n_threads):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def map(self, write, names):
        return [write(name) for name in reversed(list(names))]


@pytest.mark.usefixtures("blank")
def test_the_record_is_written_when_all_other_files_are_there(study, tmp_path, monkeypatch):
    folder, real, there = tmp_path / UNFINISHED, files.write_data, []

    def write(path, *words):
        if path.name == RECORD:
            there.extend(one.name for one in folder.iterdir())
        real(path, *words)

    monkeypatch.setattr(files, "ThreadPoolExecutor", BackwardsWriters)
    monkeypatch.setattr(files, "write_data", write)
    written = {path.name for path in save(study, tmp_path)}
    assert set(there) == written - {RECORD}


def test_every_figure_has_a_table_with_its_data(study, saved):
    elsewhere = {"intervals": "relevance.csv", "verdicts": "relevance.csv"}
    for name in [path.removesuffix(".svg") for path in saved if path.endswith(".svg")]:
        table = pd.read_csv(saved[elsewhere.get(name, f"{name}.csv")])
        assert len(table), name
    votes = pd.read_csv(saved["votes-1.csv"])
    written, known = votes[study.relevance.feature_names[0]], study.cases[0].why.contributions.iloc[:, 0]
    assert written.tolist() == pytest.approx(known.tolist(), rel=1e-12)


def test_the_scores_and_predictions_are_those_of_the_comparison(study):
    found = comparison_tables(study.comparison)
    assert found["scores.csv"].set_index("fold").equals(study.accuracy)
    assert found["predictions.csv"]["predicted"].tolist() == study.comparison.predictions["predicted"].tolist()


def test_the_tables_of_errors_hold_the_confusion_and_the_classes(study):
    found = study.errors.tables()
    assert found["confusion"]["count"].sum() == len(study.problem.y)
    assert found["classes"]["class"].tolist() == list(study.errors.classes)
    assert found["classes"]["recall"].tolist() == [one.recall for one in study.errors.by_class]


def test_certainties_stand_beside_the_predictions_and_rejected_cases_have_a_reason(study):
    found = dict(tables(study))
    assert found["predictions.csv"]["certainty"].tolist() == study.rejection.certainty.tolist()
    assert found["rejection.csv"]["coverage"].iloc[-1] == 1
    rejected = found["rejected.csv"]
    assert len(rejected) == len(study.rejection.rejected)
    assert set(rejected["reason"]) <= {"no promise", "outlier"}  # too few cases
    assert not {"rejection.csv", "rejected.csv"} & set(dict(tables(numeric_study())))


def test_points_of_a_map_stand_beside_their_cases(study):
    found = dict(tables(study))
    for name, points in study.maps.items():
        table = found[f"map-{name}.csv"]
        assert table[["across", "up"]].to_numpy().tolist() == points.tolist()
        assert table["true"].tolist() == study.problem.y.tolist()


def test_the_cases_of_a_numeric_target_have_tables():
    study = numeric_study()
    found = dict(tables(study))
    assert {"relevance.csv", "scores.csv", "predictions.csv", "map-before.csv", "map-after.csv"} <= set(found)
    cases = found["cases.csv"]
    assert cases["residual"].tolist() == (cases["true"] - cases["predicted"]).tolist()
    why = study.cases[0].why
    assert found["case-1.csv"]["contribution"].tolist() == why.contributions.tolist()
    assert found["near-1.csv"]["a"].tolist() == why.neighbor_contributions["a"].tolist()
    assert found["near-1.csv"]["measured"].tolist() == why.neighbors["measured"].tolist()


PARTS = ("problem", "comparison", "model", "interpretation", "verdicts")


def run(study, out, parts, error=None):
    """Finish these parts of a study, and then all of it or with an error."""
    with Unfinished(out) as unfinished:
        for part in parts:
            unfinished.keep(part, getattr(study, part))
        if error is not None:
            raise error


def test_parts_are_kept_after_an_interrupt_which_names_them(study, tmp_path):
    kept = tmp_path / "unfinished"
    with pytest.raises(KeyboardInterrupt) as stopped:
        run(study, tmp_path, PARTS, KeyboardInterrupt)
    names = "model.whynear, predictions.csv, relevance.csv, scores.csv"
    assert str(stopped.value) == f"The finished parts are in {kept}: {names}."
    assert ", ".join(sorted(path.name for path in kept.iterdir())) == names
    assert (wn.load(kept / "model.whynear").predict(study.problem.X) == study.model.predict(study.problem.X)).all()
    assert pd.read_csv(kept / "relevance.csv")["verdict"].tolist() == study.verdicts.verdict.tolist()


def test_parts_are_removed_after_a_finished_study_and_after_an_error(study, tmp_path):
    run(study, tmp_path, PARTS)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="wrong"):
        run(study, tmp_path, PARTS, ValueError("wrong"))
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_before_the_first_part_is_finished(study, tmp_path):
    with pytest.raises(KeyboardInterrupt) as stopped:
        run(study, tmp_path / "out", ["problem"], KeyboardInterrupt)
    assert not str(stopped.value)
    assert not (tmp_path / "out").exists()


def test_parts_of_two_studies_are_never_mixed(study, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run(study, tmp_path, PARTS, KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        run(study, tmp_path, ["problem", "comparison"], KeyboardInterrupt)
    assert sorted(path.name for path in (tmp_path / "unfinished").iterdir()) == ["predictions.csv", "scores.csv"]


def test_parts_of_an_earlier_study_stay_if_the_next_one_is_refused(study, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run(study, tmp_path, PARTS, KeyboardInterrupt)
    with pytest.raises(ValueError, match="refused"):
        run(study, tmp_path, [], ValueError("refused"))
    assert (tmp_path / "unfinished" / "model.whynear").exists()
