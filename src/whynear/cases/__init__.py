"""A case base on the disk, searched by a learned metric."""

from whynear.cases.case_base import CaseBase
from whynear.cases.retrieval import Cases, Retrieval

__all__ = ["CaseBase", "Cases", "Retrieval"]
