"""How far distances computed as products in float32 may be off.

With c_i the squared length of case i from the centre and d_i the true squared distance, the absolute terms of a product
add up to at most 4 d_i + 6 c_i. So with p terms and g = 1.05 (p + 8) 2^-24, which leaves room for the roundings of the
comparison, the computed value is within 4 g d_i + 6 g c_i of the true one.
"""

import numpy as np
from numpy.typing import NDArray

from whynear.utils.arrays import Array

FLOAT32_ROUNDING = 2.0**-24
FARTHEST_FACTOR = 1e4  # of a query, in units of the cases; beyond it rounding near zero would count


def relative_error(n_terms: int) -> float:
    """The part 4 g of the bound, by which the error grows with the distance."""
    return 4 * _error_of_terms(n_terms)


def absolute_errors(constants: Array, n_terms: int) -> NDArray[np.float32]:
    """The part 6 g c_i of the bound for cases with the constants c_i.

    What is added covers what float32 loses below its smallest normal number, times the farthest factor.
    """
    return (6 * _error_of_terms(n_terms) * constants + 1e-33 * n_terms).astype(np.float32)


def _error_of_terms(n_terms: int) -> float:
    return 1.05 * (n_terms + 8) * FLOAT32_ROUNDING
