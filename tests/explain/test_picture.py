"""The figure of an explanation as a file."""

import pytest
from sklearn.datasets import load_iris

import whynear as wn
from whynear.explain.picture import write_picture


@pytest.mark.parametrize(("name", "start"), [("a.svg", b"<?xml"), ("a.PNG", b"\x89PNG"), ("a.pdf", b"%PDF")])
def test_the_extension_sets_the_format(tmp_path, name, start):
    X, y = load_iris(return_X_y=True, as_frame=True)
    write_picture(wn.explain(wn.GRLVQ(random_state=0).fit(X, y), X.iloc[[0]]), tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)
