"""The finished parts of an unfinished study."""

import pandas as pd
import pytest

import whynear as wn
from whynear.report.unfinished import Unfinished

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
