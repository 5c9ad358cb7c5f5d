"""The learners of vector quantization, and tables for them."""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

import whynear as wn
from whynear.learn.blocks import HeldBlocks
from whynear.learn.inputs import Labelled

LEARNERS = [wn.GMLVQ, wn.GRLVQ, wn.LGMLVQ, wn.LGRLVQ]


IRIS = load_iris(return_X_y=True)


def scaled(load=load_breast_cancer):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def blocks_of(X, codes=None, weights=None, n_classes=2):
    """A training set as it is, as one block."""
    codes = np.arange(len(X)) % n_classes if codes is None else codes
    weights = np.ones(len(X)) if weights is None else weights
    return HeldBlocks.of(Labelled(X, codes, np.arange(n_classes), tuple(map(str, range(X.shape[1]))), weights))
