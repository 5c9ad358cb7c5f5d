"""The study: all steps from a table to what it says about features."""

from whynear.study.flow import study
from whynear.study.result import Study

__all__ = ["Study", "study"]
