"""Data: real sets found by name, generators whose truth is known, tables read with care."""

from whynear.datasets.by_name import load
from whynear.datasets.casebase import make_casebase
from whynear.datasets.licorice import make_licorice
from whynear.datasets.relevance import make_relevance
from whynear.datasets.tables import read_table
from whynear.datasets.targets import bin_target
from whynear.datasets.xor import make_xor

__all__ = [
    "bin_target",
    "load",
    "make_casebase",
    "make_licorice",
    "make_relevance",
    "make_xor",
    "read_table",
]
