import numpy as np
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

import whynear as wn


def test_a_diagonal_metric_keeps_the_names_of_its_columns():
    table = load_iris(as_frame=True)
    model = wn.GRLVQ().set_output(transform="pandas").fit(table.data, table.target)
    mapped = model.transform(table.data)
    assert mapped.columns.tolist() == table.feature_names
    assert_allclose(wn.LinearMetric(np.eye(4)).sq_distances(mapped.to_numpy()), model.metric_.sq_distances(table.data))
