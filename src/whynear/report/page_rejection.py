"""Which predictions of a study can be relied on, for its page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whynear.report.plain_numbers import decimals, share
from whynear.utils.text import label

if TYPE_CHECKING:
    from whynear.study.result import Study


def rejection_data(study: Study) -> dict[str, Any] | None:
    """Return the certainty of each held-out prediction, what is promised for accepted ones, and which are rejected.

    None for a measured target.
    """
    found = study.rejection
    if found is None:
        return None
    given = found.promise
    return {
        "sentences": list(found.sentences),
        "certainty": [decimals(chance, 3) for chance in found.certainty],
        "promised": None if given is None else share(given.coverage),
        "promises": [
            [
                share(one.accuracy),
                bool(one.given),
                share(one.stated_coverage),
                one.n_accepted,
                one.n_wrong,
                one.stated_need,
            ]
            for one in found.promises
        ],
        "rejected": [[label(case.row), str(case.reason)] for case in found.rejected],
    }
