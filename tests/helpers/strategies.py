"""Random metric values and cases for property tests."""

import numpy as np
from hypothesis import strategies as st

from whynear import DiagonalMetric, LinearMetric, LocalMetric

SIZES = st.integers(1, 6)


@st.composite
def cases(draw, n_features, n_rows=SIZES):
    """A table with repeated values, offsets and very different column scales."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = rng.integers(-3, 4, (draw(n_rows), n_features)) + rng.standard_normal(n_features) * draw(
        st.sampled_from([0.0, 1.0, 1e3])
    )
    return rows * draw(st.sampled_from([1e-6, 1.0, 1e4]))


@st.composite
def scales(draw, n_features):
    values = st.sampled_from([1e-3, 0.5, 1.0, 40.0, np.inf])
    return draw(st.none() | st.lists(values, min_size=n_features, max_size=n_features))


@st.composite
def global_metrics(draw, n_features=SIZES):
    d = draw(n_features)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scale = draw(scales(d))
    seen = np.ones(d) if scale is None else np.isfinite(scale)
    if draw(st.booleans()):
        return DiagonalMetric(rng.exponential(size=d).round(1) * seen, scale=scale)
    return LinearMetric(rng.standard_normal((draw(SIZES), d)) * seen, scale=scale)


@st.composite
def local_metrics(draw, n_features=SIZES):
    d = draw(n_features)
    anchors = draw(cases(d))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scale = draw(scales(d))
    seen = np.ones(d) if scale is None else np.isfinite(scale)
    if draw(st.booleans()):
        return LocalMetric(anchors, weights=rng.exponential(size=anchors.shape) * seen, scale=scale)
    omegas = rng.standard_normal((len(anchors), draw(SIZES), d)) * seen
    return LocalMetric(anchors, omegas=omegas, scale=scale)


def metrics(n_features=SIZES):
    return global_metrics(n_features) | local_metrics(n_features)
