"""Two finished studies beside each other."""

from __future__ import annotations

from dataclasses import replace

from whynear.studio.studio import Studio
from whynear.studio.study_models import Differences
from whynear.study.compare import compare_studies
from whynear.study.saved import SavedStudy, read_study


def compared(studio: Studio, first: str, second: str) -> Differences:
    """Return what differs between two studies, which are called by their names in the project."""
    found = compare_studies(_named(studio, first), _named(studio, second))
    return Differences(differences=found.to_dict())


def _named(studio: Studio, study: str) -> SavedStudy:
    name = studio.finished(study)["name"]
    return replace(read_study(studio.project.results_of(study)), name=name)
