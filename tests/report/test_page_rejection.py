"""Which predictions can be relied on, for the page."""

from types import SimpleNamespace

import numpy as np

from whynear.reject.promise import Promise
from whynear.report.page_rejection import rejection_data


def promise(accuracy, given):
    coverage, threshold, needed = (0.91272, 0.5, None) if given else (0.0, np.inf, 900)
    return Promise(accuracy, 0.9, given, coverage, threshold, 132, 120, 1, needed)


def test_promises_certainties_and_rejected_cases_are_those_of_the_study():
    strict, loose = promise(0.99, False), promise(0.95, True)
    held = SimpleNamespace(
        promise=loose,
        sentences=(loose.sentence,),
        certainty=[0.98765, 0.5],
        promises=(strict, loose),
        rejected=(SimpleNamespace(row="r2", reason="ambiguous"),),
    )
    assert loose.sentence.startswith("Accepting 91.2% of the cases")
    assert rejection_data(SimpleNamespace(rejection=held)) == {
        "sentences": [loose.sentence],
        "certainty": [0.988, 0.5],
        "promised": 0.91272,
        "promises": [[0.99, False, 0, 120, 1, 230], [0.95, True, 0.912, 120, 1, None]],
        "rejected": [["r2", "ambiguous"]],
    }
    held.promise = None
    assert rejection_data(SimpleNamespace(rejection=held))["promised"] is None


def test_a_study_without_certainties_has_none(study):
    assert rejection_data(SimpleNamespace(rejection=None)) is None
