"""The guard: of memories with different metrics, the one with the best faded accuracy predicts; compiled."""

import numpy as np

from whynear.utils.arrays import Array, Indices
from whynear.utils.compiling import njit


@njit(nogil=True, cache=True)
def guarded(
    predictions: Indices, codes: Indices, accuracies: Array, fading: float, answers: Indices, chosen: Indices
) -> None:
    """Set the predictions and the memories that made them, and move the faded accuracies.

    Memory m predicts case t if its accuracy a_m before t is the largest, the first of equal ones; then
    a_m <- fading a_m + (1 - fading) [m was right].

    Parameters
    ----------
    predictions : (n_memories, n_cases)
        Codes of classes; -1 before the first case.
    """
    for i in range(len(codes)):
        best = np.argmax(accuracies)
        answers[i], chosen[i] = predictions[best, i], best
        for m in range(len(accuracies)):
            accuracies[m] = fading * accuracies[m] + (1.0 - fading) * (predictions[m, i] == codes[i])
