"""The study: all steps composed, and the page that tells what came of it."""

from whynear.report.flow import Study, study

__all__ = ["Study", "study"]
