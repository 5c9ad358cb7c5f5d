"""The study: all steps from a table to the relevance of its features."""

from typing import TYPE_CHECKING

from whynear.utils.lazy import make_lazy

__all__ = make_lazy(__name__, {"whynear.study.result": ("Study",), "whynear.study.settings": ("StudySettings",)})

if TYPE_CHECKING:
    from whynear.study.result import Study as Study
    from whynear.study.settings import StudySettings as StudySettings
