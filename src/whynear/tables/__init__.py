"""Tables from files: read strictly, their columns typed, split into features and a target."""

from whynear.tables.encoder import TableEncoder
from whynear.tables.problem import Problem, problem_from
from whynear.tables.reading import read_table

__all__ = ["Problem", "TableEncoder", "problem_from", "read_table"]
