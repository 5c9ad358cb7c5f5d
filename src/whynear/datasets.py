"""Data sets by name, generators of data with known relevances, and tables from files."""

from whynear.data.catalog import KnownSet, known_sets, load
from whynear.data.column_types import bin_target
from whynear.data.generators import make_casebase, make_licorice, make_relevance, make_xor
from whynear.data.opening import open_table
from whynear.data.reading import read_table
from whynear.data.truth import make_truth, truth_kinds

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
