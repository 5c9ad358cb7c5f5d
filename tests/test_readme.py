"""What the README shows is what happens."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from tests.helpers.markdown import blocks, run

README = (Path(__file__).parent.parent / "README.md").read_text()


@pytest.mark.slow
def test_the_python_lines_run_as_they_stand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    load_iris(as_frame=True).frame[::5].rename(columns={"target": "diagnosis"}).to_csv("cases.csv", index=False)
    (block,) = [block for block in blocks(README) if block.language == "python"]
    names = run([block], tmp_path)
    assert names["metric"].feature_names[0] == "alcohol"
    assert names["cases"].shape == (3, 5)
    assert np.array_equal(names["cases"][:, 0], [0, 1, 2])
    assert (tmp_path / "wine.whynear").exists()
    listed = README[README.index("| file | content |") : README.index("| command | what it does |")]
    for name in re.findall(r"`([\w-]+\.(?:csv|html|json|whynear))`", listed):
        assert (tmp_path / "gmlvq" / name).exists(), name
