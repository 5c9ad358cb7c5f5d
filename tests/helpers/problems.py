"""Problems made of whatever names a table."""

from whynear.data.problem import problem_from
from whynear.datasets import open_table
from whynear.study.settings import grouped


def problem_of(table, *words, **settings):
    return problem_from(open_table(table), *words, **grouped(settings))
