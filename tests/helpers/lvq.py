"""The learners of vector quantization, and tables for them."""

from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

import whynear as wn

LEARNERS = [wn.GMLVQ, wn.GRLVQ, wn.LGMLVQ, wn.LGRLVQ]


IRIS = load_iris(return_X_y=True)


def scaled(load=load_breast_cancer):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y
