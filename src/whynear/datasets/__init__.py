"""Data sets by name, generators of data with known relevances, and tables from files."""

from whynear.datasets.casebase import make_casebase
from whynear.datasets.known import KnownSet, known_sets
from whynear.datasets.licorice import make_licorice
from whynear.datasets.load import load
from whynear.datasets.opening import open_table
from whynear.datasets.relevance import make_relevance
from whynear.datasets.truth import make_truth, truth_kinds
from whynear.datasets.xor import make_xor
from whynear.tables.binning import bin_target
from whynear.tables.reading import read_table

__all__ = [
    "KnownSet",
    "bin_target",
    "known_sets",
    "load",
    "make_casebase",
    "make_licorice",
    "make_relevance",
    "make_truth",
    "make_xor",
    "open_table",
    "read_table",
    "truth_kinds",
]
