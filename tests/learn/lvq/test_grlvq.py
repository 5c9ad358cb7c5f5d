import numpy as np
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

import whynear as wn
from tests.helpers.lvq import IRIS


def test_a_diagonal_metric_keeps_the_names_of_its_columns():
    table = load_iris(as_frame=True)
    model = wn.GRLVQ().set_output(transform="pandas").fit(table.data, table.target)
    mapped = model.transform(table.data)
    assert mapped.columns.tolist() == table.feature_names
    assert_allclose(wn.LinearMetric(np.eye(4)).sq_distances(mapped.to_numpy()), model.metric_.sq_distances(table.data))


def test_weights_are_one_set_for_all_prototypes_or_one_for_each():
    assert wn.GRLVQ(tol=1e-2).fit(*IRIS).metric_.weights.shape == (4,)
    local = wn.LGRLVQ(tol=1e-2).fit(*IRIS)
    assert local.metric_.weights.shape == (3, 4)
    assert_allclose(local.metric_.anchors, local.prototypes_)
