"""Cases placed on a plane."""

from whynear.embedding.drawing import plot_embedding
from whynear.embedding.embed import embed, embedding_score

__all__ = ["embed", "embedding_score", "plot_embedding"]
