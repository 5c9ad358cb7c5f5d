from whynear.work.pieces import differences, versions


def test_the_versions_of_this_process_differ_from_others_only():
    assert differences(versions()) == ""
    assert set(versions()) == {"whynear", "numba", "numpy", "scikit-learn", "scipy", "sources"}
    assert f"has whynear {versions()['whynear']} instead of 9.9. Install" in differences(
        versions() | {"whynear": "9.9"}
    )
