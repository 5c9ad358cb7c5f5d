"""Factors of symmetric matrices on several threads at once: SciPy's own functions hold Python's lock meanwhile.

The routines of LAPACK are those of SciPy, called through `ctypes`, which gives the lock back.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from numba.extending import get_cython_function_address

from whynear.utils.arrays import Array

SMALL = 80  # rows of a triangular matrix that LAPACK inverts


def inverse_factor(K: Array) -> Array:
    """Return the inverse H of the lower Cholesky factor of a positive definite matrix, whose inverse is H^T H.

    The matrix is overwritten. Time O(n^3).
    """
    n, info = ctypes.c_int(len(K)), ctypes.c_int()
    K = np.ascontiguousarray(K)  # symmetric: by columns, as LAPACK reads it, it is the same
    _routine("dpotrf", 5)(b"L", _at(n), _data(K), _at(n), _at(info))
    if info.value:
        raise ArithmeticError("The kernel is not positive definite.")
    inverse = np.zeros_like(K)
    _invert_upper(K, inverse)
    return inverse.T


def _invert_upper(U: Array, inverse: Array) -> None:
    """Write the inverse of an upper triangular matrix into a matrix of zeros; what is below its diagonal is not read.

    By halves, so that most of the work is products of matrices, which are faster than LAPACK's own routine.
    """
    n = len(U)
    if n <= SMALL:
        rows, size, info = np.triu(U), ctypes.c_int(n), ctypes.c_int()
        _routine("dtrtri", 6)(b"L", b"N", _at(size), _data(rows), _at(size), _at(info))
        inverse[...] = rows
        return
    half = n // 2
    first, last = inverse[:half, :half], inverse[half:, half:]
    _invert_upper(U[:half, :half], first)
    _invert_upper(U[half:, half:], last)
    inverse[:half, half:] = -(first @ (U[:half, half:] @ last))


def eigen(K: Array) -> tuple[Array, Array]:
    """Return the eigenvalues of a symmetric matrix in ascending order, and its eigenvectors as columns.

    The matrix is overwritten. Time O(n^3).
    """
    K = np.ascontiguousarray(K)
    values, info, n = np.empty(len(K)), ctypes.c_int(), ctypes.c_int(len(K))
    # What "divide and conquer" needs for all vectors, from the documentation of dsyevd.
    work, whole = np.empty(1 + 6 * len(K) + 2 * len(K) ** 2), np.empty(3 + 5 * len(K), dtype=np.intc)
    sizes = ctypes.c_int(len(work)), ctypes.c_int(len(whole))
    _routine("dsyevd", 11)(
        b"V", b"L", _at(n), _data(K), _at(n), _data(values),
        _data(work), _at(sizes[0]), _data(whole), _at(sizes[1]), _at(info),
    )  # fmt: skip
    if info.value:
        raise ArithmeticError("The eigenvalues of the kernel were not found.")
    return values, K.T


@cache
def _routine(name: str, n_arguments: int) -> Any:
    address = get_cython_function_address("scipy.linalg.cython_lapack", name)
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * n_arguments)(address)


def _data(array: np.ndarray[Any, Any]) -> int:
    return array.ctypes.data


def _at(number: ctypes.c_int) -> Any:
    return ctypes.addressof(number)
