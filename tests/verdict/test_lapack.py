"""Factors of symmetric matrices, computed on several threads at once."""

import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from scipy.linalg.lapack import dpotrf, dtrtri

from whynear.utils.threads import one_blas_thread
from whynear.verdict.lapack import SMALL, eigen, inverse_factor


def positive(n, seed=0):
    A = np.random.default_rng(seed).standard_normal((n, n))
    return A @ A.T + np.eye(n)


@given(st.integers(1, 40) | st.integers(SMALL - 1, 3 * SMALL), st.integers(0, 100))
def test_the_inverse_factor_makes_the_inverse(n, seed):
    K = positive(n, seed)
    half = inverse_factor(K.copy())
    assert_allclose(half.T @ half, np.linalg.inv(K), atol=1e-9)
    assert (half == np.tril(half)).all()


@given(st.integers(1, 40), st.integers(0, 100))
def test_eigenvectors_make_the_matrix(n, seed):
    K = positive(n, seed)
    values, vectors = eigen(K.copy())
    assert (np.diff(values) >= 0).all()
    assert_allclose((vectors * values) @ vectors.T, K, atol=1e-9)
    assert_allclose(vectors.T @ vectors, np.eye(n), atol=1e-12)


def test_the_routines_are_those_of_scipy():
    K = positive(60)
    factor, _ = dpotrf(K, lower=1, clean=1)
    assert (inverse_factor(K.copy()) == dtrtri(factor, lower=1)[0]).all()
    assert (eigen(K.copy())[0] == eigh(K, driver="evd")[0]).all()


def test_a_matrix_that_is_not_positive_definite_is_refused():
    with pytest.raises(ArithmeticError, match="not positive definite"):
        inverse_factor(-np.eye(3))


@pytest.mark.parametrize("work", [inverse_factor, eigen])
def test_python_runs_meanwhile(work):
    K, begun, done = positive(900), threading.Event(), threading.Event()

    def factor():
        begun.set()
        work(K)
        done.set()

    with one_blas_thread():
        thread = threading.Thread(target=factor)
        thread.start()
        begun.wait()
        longest, last = 0.0, time.perf_counter()
        start = last
        while not done.is_set():
            time.sleep(0.0005)
            longest, last = max(longest, time.perf_counter() - last), time.perf_counter()
        thread.join()
    assert longest < 0.8 * (last - start)  # with Python's lock held it is one long wait
