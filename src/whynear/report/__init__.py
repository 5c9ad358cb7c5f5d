"""A study as files: the page, its figures, tables and the model.

They read a `Study`, which does not depend on them: its methods ``save`` and ``show``, and its summary in a notebook,
are functions of this folder that are bound here. The public name `Study` is therefore that of this module.
"""

import copyreg
from typing import Any

from whynear.report.files import save
from whynear.report.page import show, summary
from whynear.study.result import Study


def _restored(state: dict[str, Any]) -> Study:
    found = object.__new__(Study)
    vars(found).update(state)
    return found


Study.save, Study.show, Study._repr_html_ = save, show, summary
copyreg.pickle(Study, lambda held: (_restored, (vars(held),)))  # read again, a study has these methods too
