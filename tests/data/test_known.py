"""The list of data sets that can be named."""

import numpy as np

from whynear.datasets import known_sets


def test_sets_are_found_where_load_finds_them(tmp_path, monkeypatch):
    np.savez(tmp_path / "mine.npz", X=np.zeros((4, 3)), target_names=np.array(["a", "b"]))
    (tmp_path / "damaged.npz").write_bytes(b"no zip")
    monkeypatch.setenv("WHYNEAR_DATA", str(tmp_path))
    known = {known.name: known for known in known_sets()}
    assert (known["mine"].rows, known["mine"].features, known["mine"].classes) == (4, 3, 2)
    assert known["damaged"].rows is None
    assert (known["wine"].rows, known["wine"].origin) == (178, "scikit-learn")
    assert list(known) == sorted(known)
