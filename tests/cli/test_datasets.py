import json
from functools import partial

import numpy as np
import pytest

from tests.helpers import command_line
from whynear.datasets import load

run = partial(command_line.run, "datasets")


def sets():
    result = run("--json")
    assert result.exit_code == 0, result.output
    return {known["name"]: known for known in json.loads(result.stdout)}


def test_bundled_sets_are_always_listed_as_they_load(monkeypatch):
    monkeypatch.delenv("WHYNEAR_DATA", raising=False)
    listed = sets()
    for name in ("breast_cancer", "digits", "iris", "wine"):
        data = load(name)
        assert (listed[name]["rows"], listed[name]["features"]) == data.X.shape
        assert listed[name]["classes"] == len(data.target_names)
        assert listed[name]["origin"] == "scikit-learn"
    assert listed["letter"]["origin"] == "OpenML 6, downloaded on first use"
    assert "colon" not in listed
    assert "WHYNEAR_DATA is not set" in run().stdout


def test_sets_in_the_folder_are_listed_where_they_are_taken_from(tmp_path, monkeypatch):
    monkeypatch.setenv("WHYNEAR_DATA", str(tmp_path))
    X, names = np.zeros((5, 2)), np.array(["a", "b"])
    np.savez_compressed(tmp_path / "iris.npz", X=X, y=np.zeros(5, int), feature_names=names, target_names=names)
    np.savez_compressed(tmp_path / "mine.npz", X=X, y=np.zeros(5), feature_names=names)
    (tmp_path / "broken.npz").write_bytes(b"PK nothing")
    np.savez(tmp_path / "empty.npz", y=np.zeros(3))
    listed = sets()
    assert listed["iris"] == {"name": "iris", "rows": 5, "features": 2, "classes": 2, "origin": "file in WHYNEAR_DATA"}
    assert (listed["mine"]["rows"], listed["mine"]["features"]) == load("mine").X.shape
    assert listed["mine"]["classes"] is None
    assert listed["broken"]["rows"] is listed["empty"]["rows"] is None
    shown = [line.split() for line in run().stdout.splitlines()]
    assert ["iris", "5", "2", "2", "file", "in", "WHYNEAR_DATA"] in shown
    assert ["mine", "5", "2", "numeric", "file", "in", "WHYNEAR_DATA"] in shown
    assert ["broken", "file", "in", "WHYNEAR_DATA"] in shown


@pytest.mark.parametrize("folder", ["nowhere", "file"])
def test_a_folder_that_is_none_holds_no_sets(tmp_path, monkeypatch, folder):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WHYNEAR_DATA", str(tmp_path / folder))
    assert sets()["iris"]["origin"] == "scikit-learn"
