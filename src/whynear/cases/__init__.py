"""A case base in a file, searched with a learned metric."""

from typing import TYPE_CHECKING

from whynear.utils.lazy import make_lazy

__all__ = make_lazy(
    __name__,
    {
        "whynear.cases.case_base": ("CaseBase",),
        "whynear.cases.inputs": ("case_metric",),
        "whynear.cases.tables": (
            "numbers_out_of_range",
            "add_table",
            "rerank_by",
            "row_of",
        ),
        "whynear.cases.retrieval": (
            "Cases",
            "Retrieval",
        ),
    },
)

if TYPE_CHECKING:
    from whynear.cases.case_base import CaseBase as CaseBase
    from whynear.cases.inputs import case_metric as case_metric
    from whynear.cases.retrieval import Cases as Cases
    from whynear.cases.retrieval import Retrieval as Retrieval
    from whynear.cases.tables import add_table as add_table
    from whynear.cases.tables import numbers_out_of_range as numbers_out_of_range
    from whynear.cases.tables import rerank_by as rerank_by
    from whynear.cases.tables import row_of as row_of
