import numpy as np

from whynear.search.products import FARTHEST_FACTOR, absolute_errors, relative_error


def test_products_in_float32_keep_to_the_bound():
    rng = np.random.default_rng(0)
    cases, queries = (
        rng.standard_normal((200, 12)),
        FARTHEST_FACTOR ** rng.uniform(-0.5, 0.25) * rng.standard_normal((50, 12)),
    )
    constants = np.square(cases).sum(axis=1)
    terms = np.hstack([-2 * cases, constants[:, None], np.ones((200, 1))]).astype(np.float32)
    factors = np.hstack([queries, np.ones((50, 1)), np.square(queries).sum(axis=1)[:, None]]).astype(np.float32)
    true = np.square(queries[:, None] - cases).sum(axis=2)
    error = np.abs((factors @ terms.T).astype(np.float64) - true)
    assert (error <= relative_error(14) * true + absolute_errors(constants, 14)).all()


def test_the_bound_grows_with_the_number_of_terms_and_never_vanishes():
    assert 0 < relative_error(3) < relative_error(30)
    assert (absolute_errors(np.zeros(2), 3) > 0).all()
