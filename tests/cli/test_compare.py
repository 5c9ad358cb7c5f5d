import json
import re
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_iris

import whynear
from tests.helpers import command_line
from tests.helpers.blank_figures import save_empty
from whynear.data.options import Reading, Splitting

DROPPED = "sepal length (cm)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two studies: the second by another learner, without one of the columns."""
    folder = tmp_path_factory.mktemp("compare")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("matplotlib.figure.Figure.savefig", save_empty)
        iris = load_iris(as_frame=True).frame[::2]
        whynear.study(iris, "target", learner="grlvq", splitting=Splitting(folds=3)).save(folder / "one")
        whynear.study(
            iris, "target", learner="gmlvq", splitting=Splitting(folds=4), reading=Reading(drop=DROPPED)
        ).save(folder / "two")
    return folder


run, answer = partial(command_line.run, "compare"), partial(command_line.answer, "compare")


def held(folder):
    return json.loads((folder / "study.json").read_text(encoding="utf-8"))


def written(path, **changes):
    """A study with some of its content changed, and without what is changed to None."""
    content = {"format": 1, "chosen": "gmlvq", "expected_scores": [0.9, 0.92], **changes}
    path.write_text(json.dumps({name: value for name, value in content.items() if value is not None}))
    return path


def test_differences_are_those_of_the_files(folder):
    found, one, two = answer(folder / "one", folder / "two"), held(folder / "one"), held(folder / "two")
    parts = [np.array(study["row_scores"]["parts"]) for study in (one, two)]
    error = np.std(parts[1] - parts[0], ddof=1) / np.sqrt(len(parts[0]))  # of the same rows, in other folds
    assert found["difference"] == two["expected"] - one["expected"]
    assert found["standard_error"] == pytest.approx(error)
    assert found["exceeds_error"] == (abs(found["difference"]) > 2 * error)
    assert (found["first"]["chosen"], found["second"]["chosen"]) == ("grlvq", "gmlvq")
    verdicts = [{row["feature"]: row["verdict"] for row in s["verdicts"]["features"]} for s in (one, two)]
    assert found["lost"] == [{"feature": DROPPED, "verdict": verdicts[0][DROPPED]}]
    assert found["gained"] == []
    changed = {name for name in verdicts[1] if verdicts[0][name] != verdicts[1][name]}
    assert {change["feature"] for change in found["changed"]} == changed
    assert {"setting": "folds", "first": 3, "second": 4} in found["settings"]


def test_words_and_tables_are_printed_for_people(folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    shown = " ".join(run(folder / "one", folder / "two" / "study.json").stdout.split())
    assert "On held-out rows, the first reaches " in shown
    assert "more than twice its standard error." in shown
    assert "The first chose grlvq, the second gmlvq." in shown
    assert f"1 feature was lost: '{DROPPED}' (" in shown
    assert "held-out accuracy" in shown
    assert "Verdicts on features" in shown


def test_a_study_does_not_differ_from_itself(folder):
    found = answer(folder / "one", folder / "one")
    assert (found["difference"], found["exceeds_error"]) == (0.0, False)
    assert all(found[kind] == [] for kind in ("changed", "gained", "lost", "settings"))
    assert found["caveats"] == {"first": [], "second": []}
    assert "Both chose grlvq. No verdict on a feature changed." in found["finding"]


def test_caveats_of_one_alone_and_other_data_are_told(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    one = written(tmp_path / "one.json", source="a.csv", caveats=["few rows", "odd"])
    two = written(tmp_path / "two.json", source="b.csv", caveats=["odd", "copies"])
    shown = run(one, two).stdout
    assert "The studies use different data, 'a.csv' (target 'unknown') and 'b.csv'" in shown
    assert "Caveat of the first only: few rows\nCaveat of the second only: copies\n" in shown


def test_studies_of_numbers_are_compared_by_their_own_measure(tmp_path, monkeypatch):
    one = written(tmp_path / "one.json", measure="r2", expected_scores=[0.5, 0.7])
    two = written(tmp_path / "two.json", measure="r2", expected_scores=[0.8, 0.8])
    found = answer(one, two)
    assert found["difference"] == pytest.approx(0.2)
    assert "the first reaches 60.0% ± 10.0% and the second 80.0% ± 0.0% (variance explained)" in found["finding"]
    refused = run(one, written(tmp_path / "three.json"))
    assert refused.exit_code == 2
    assert "scores by r2 and " in refused.stderr
    assert "by accuracy, which cannot be compared. Study both with the same kind of target" in refused.stderr
    monkeypatch.setenv("COLUMNS", "1000")
    shown = run(one, two).stdout
    assert "the difference of +20.0 ± 10.0 points" in shown
    assert re.search(r"held-out variance explained +60.0% ± 10.0% +80.0% ± 0.0%", shown)


def test_what_is_missing_is_unknown(tmp_path):
    found = answer(written(tmp_path / "one.json", expected_scores=None), written(tmp_path / "two.json", chosen=None))
    assert found["difference"] is None
    assert found["exceeds_error"] is None
    assert "there are too few scores to compare them." in found["finding"]
    assert "dimension" not in found["finding"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 2, "settings": {"whynear": "9.1"}}, "has format 2, written by whynear 9.1, and this is whynear"),
        ({"format": None}, "is not a study: it has no format."),
        ({"format": True}, "is not a study: it has no format."),
        ({"relevance": {"features": ["a"], "strength": []}}, "is inconsistent"),
        ({"expected_scores": ["high"]}, "is inconsistent"),
        ({"relevance": 3}, "is inconsistent"),
        ({"settings": [1]}, "is inconsistent"),
    ],
)
def test_other_formats_and_broken_content_are_refused_by_name(tmp_path, changes, message):
    result = run(written(tmp_path / "one.json"), written(tmp_path / "two.json", **changes))
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith(f"Error: {tmp_path / 'two.json'} {message}")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b"[" * 100_000])
def test_what_is_no_study_is_refused(tmp_path, content):
    (tmp_path / "study.json").write_bytes(content)
    result = run(tmp_path, tmp_path)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {tmp_path / 'study.json'} is ")
    (tmp_path / "study.json").unlink()
    assert "holds no study. Name the folder of a study, or make one first:" in run(tmp_path, tmp_path).stderr
    assert "nope does not exist. Name the folder of a study" in run(tmp_path / "nope", tmp_path).stderr


def test_names_cannot_command_the_terminal(tmp_path):
    relevance = {"features": ["\x1b[31m[red]a"], "strength": ["\x1b[2Jstrong"]}
    odd = written(tmp_path / "o\x07dd.json", source="\x1b[2J", chosen="\x1b", relevance=relevance, caveats=["\x1bx"])
    result = run(odd, written(tmp_path / "two.json"))
    assert result.exit_code == 0, result.output
    assert not set(result.output) & set("\x1b\x07")
    assert "[red]a" in result.stdout
