"""Nearest cases under any metric value: exact, or among candidates with a measured recall."""

from whynear.search.approximate import CandidateSearch
from whynear.search.exact import NeighborSearch

__all__ = ["CandidateSearch", "NeighborSearch"]
