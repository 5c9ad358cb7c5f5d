"""What a metric is good for once it is learned: maps of the cases, and a base to find them in."""

from whynear.apply.case_base import CaseBase
from whynear.apply.drawing import plot_embedding
from whynear.apply.embedding import embed, embedding_score
from whynear.apply.retrieval import Cases, Retrieval

__all__ = ["CaseBase", "Cases", "Retrieval", "embed", "embedding_score", "plot_embedding"]
