"""What a metric is good for once it is learned: maps of the cases."""

from whynear.apply.drawing import plot_embedding
from whynear.apply.embedding import embed, embedding_score

__all__ = ["embed", "embedding_score", "plot_embedding"]
