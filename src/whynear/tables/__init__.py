"""Tables as people bring them: read with care, their columns typed, their target found."""

from whynear.tables.encoder import TableEncoder
from whynear.tables.problem import Problem, problem_from
from whynear.tables.reading import read_table

__all__ = ["Problem", "TableEncoder", "problem_from", "read_table"]
