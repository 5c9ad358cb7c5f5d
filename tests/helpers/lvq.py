"""The learners of vector quantization, and tables for them."""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

import whynear as wn
from whynear.learn.blocks import HeldBlocks
from whynear.learn.inputs import Labelled
from whynear.learn.lvq.objective import squash

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


def cost(metric, prototypes, labels, cases, squashing, sigma):
    """The cost of given prototypes under any metric, straight from its definition. Memory O(n m)."""
    sq = metric.sq_distances(cases.X) if len(metric) > 1 else metric.sq_distances(cases.X, prototypes)
    own = labels == cases.codes[:, None]
    nearest, other = np.where(own, sq, np.inf).min(axis=1), np.where(own, np.inf, sq).min(axis=1)
    total = nearest + other
    mu = np.divide(nearest - other, total, out=np.zeros_like(total), where=total > 0)
    return float(sum(w * squash(m, squashing, sigma)[0] for w, m in zip(cases.weights, mu, strict=True)))
