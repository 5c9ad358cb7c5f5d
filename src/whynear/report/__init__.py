"""The study: all steps composed, and the page that tells what came of it."""

from whynear.report.flow import study
from whynear.report.result import Study

__all__ = ["Study", "study"]
