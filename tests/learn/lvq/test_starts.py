import numpy as np
import pytest
from sklearn.datasets import load_iris

import whynear as wn
from tests.helpers.lvq import IRIS


def test_prototypes_per_class_as_a_number_or_a_mapping():
    X, y = IRIS
    names = load_iris().target_names[y]
    model = wn.GMLVQ(n_prototypes={"setosa": 1, "versicolor": 3, "virginica": 2}, random_state=0).fit(X, names)
    assert model.prototype_labels_.tolist() == ["setosa"] + ["versicolor"] * 3 + ["virginica"] * 2
    with pytest.raises(ValueError, match="no number for the class 'setosa'"):
        wn.GMLVQ(n_prototypes={"virginica": 1}).fit(X, names)
    with pytest.raises(ValueError, match=r"n_prototypes must be an integer >= 1 \(for every class\), got 0"):
        wn.GMLVQ(n_prototypes=0).fit(X, y)


def test_a_class_with_few_rows_gets_fewer_prototypes_with_a_warning():
    X, y = IRIS
    keep = np.r_[0:2, 50:150]
    with pytest.warns(UserWarning, match="Class 0 has 2 different rows and gets as many prototypes, instead of 4"):
        model = wn.GMLVQ(n_prototypes=4, random_state=0).fit(X[keep], y[keep])
    assert model.prototype_labels_.tolist() == [0] * 2 + [1] * 4 + [2] * 4
