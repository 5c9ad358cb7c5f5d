import numpy as np

from whynear.reject.curve import Decisions, reasons_for


def some():
    accepted = np.array([True, False, False])
    reason = reasons_for(accepted, np.array([False, True, False]))
    return Decisions(np.array(["a", "b", "a"]), accepted, np.array([0.9, 0.2, 0.4]), reason)


def test_rejected_cases_are_masked_and_keep_their_prediction():
    masked = some().masked()
    assert masked.mask.tolist() == [False, True, True]
    assert masked.compressed().tolist() == ["a"]
    assert masked.data.tolist() == ["a", "b", "a"]
    assert (masked == np.array(["a", "x", "x"])).mean() == 1


def test_tables_hold_a_row_for_each_case():
    assert reasons_for(np.zeros(2, dtype=bool), np.array([True, False]), promised=False).tolist() == [
        "outlier",
        "no promise",
    ]
    assert some().frame()["reason"].tolist() == ["", "outlier", "ambiguous"]
    assert some().to_dict()["accepted"] == [True, False, False]
    assert some() == some()
