"""Vector quantization with a matrix or a weight per feature: the same for all prototypes, or separate for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from whynear.learn.inputs import ClassWeight
from whynear.learn.lvq.base import LVQ
from whynear.learn.mixins import MapsCases
from whynear.learn.registry import FitCost, Traits
from whynear.learn.solvers import Callback
from whynear.model.files import register


class MatrixLVQ(LVQ):
    """Vector quantization whose maps are matrices."""

    _diagonal = False

    def __init__(
        self,
        n_prototypes: int | Mapping[Any, int] = 1,
        n_components: int | None = None,
        effective_dim: int | None = None,
        count_prototypes: bool = False,
        squashing: Literal["identity", "sigmoid", "swish"] = "sigmoid",
        sigma: float = 5.0,
        prototype_init: Literal["auto", "means", "kmeans"] = "auto",
        map_init: Literal["auto", "identity", "pca", "random"] = "auto",
        solver: Literal["lbfgs", "adam"] = "lbfgs",
        max_iter: int = 1000,
        tol: float = 1e-6,
        batch_size: int = 256,
        learning_rate: float = 0.01,
        verbose: bool = False,
        callback: Callback | None = None,
        random_state: int | np.random.RandomState | None = None,
        class_weight: ClassWeight = None,
    ) -> None:
        super().__init__(
            n_prototypes, squashing, sigma, prototype_init, solver, max_iter, tol, batch_size, learning_rate, verbose,
            callback, random_state, class_weight,
        )  # fmt: skip
        self.n_components = n_components
        self.effective_dim = effective_dim
        self.count_prototypes = count_prototypes
        self.map_init = map_init


@register
class GMLVQ(MapsCases, MatrixLVQ):
    r"""Generalized matrix learning vector quantization: prototypes and one linear map, learned together.

    Minimises the mean of :math:`f((d^+ - d^-) / (d^+ + d^-))` over the training cases, where :math:`d^+` and
    :math:`d^-` are the squared distances :math:`||\Omega (x - w)||^2` to the nearest prototype of the case's own and of
    another class. The trace of :math:`\Lambda = \Omega^T \Omega` is one.

    Parameters
    ----------
    n_prototypes : int or mapping from classes to int, default=1
        Prototypes of each class.
    n_components : int, default=None
        Rows of the map: the rank of the metric at most. None gives as many as features that vary, or with more
        features than rows as many as the data have directions.
    effective_dim : int, default=None
        Learn along that many principal directions of the data only: null-space regularization during training. None
        learns in all of the space; see `regularize` for the same afterwards.
    count_prototypes : bool, default=False
        Whether the prototypes' starting points count as rows when these directions are found.
    map_init : {"auto", "identity", "pca", "random"}, default="auto"
        Where the map starts: at the axes, at the first principal directions, or at random numbers. ``"auto"`` takes
        the axes where the map has as many rows as features, else the directions.
    squashing : {"identity", "sigmoid", "swish"}, default="sigmoid"
        The function of the relative distance that is summed: itself, 1 / (1 + exp(-sigma mu)), or
        mu / (1 + exp(-sigma mu)).
    sigma : float, default=5.0
        Its steepness; a steep one is approached from a gentle one. A large one with ``"sigmoid"`` counts errors
        (Strickert et al. use 50). ``"swish"`` gives little weight to cases that are predicted right: often a
        little more accurate, with more weight on useless features.
    prototype_init : {"auto", "means", "kmeans"}, default="auto"
        Where prototypes start: at the mean of their class, or at cluster centres, which ``"auto"`` takes for classes
        with several.
    solver : {"lbfgs", "adam"}, default="lbfgs"
        All cases in every iteration, or passes in random batches for very many cases.
    max_iter : int, default=1000
        Most iterations of L-BFGS, or passes over the cases.
    tol : float, default=1e-6
        Learning ends when an iteration lowers the loss by less than this share of it.
    batch_size : int, default=256
        Cases per step of ``"adam"`` and of `partial_fit`.
    learning_rate : float, default=0.01
        Step size of ``"adam"`` and of `partial_fit`.
    verbose : bool, default=False
        Whether to print the loss after every iteration.
    callback : callable, default=None
        Called after every iteration with a step that has ``n_iter`` and ``loss``; what it raises ends the fit.
    random_state : int or RandomState, default=None
        Seed of random starts and batches.
    class_weight : {"balanced"} or mapping from classes to float, default=None
        How much the cases of each class count, times ``sample_weight``; classes that are not named count once.
        ``"balanced"`` lets all classes count alike together, however many cases they have.

    Attributes
    ----------
    metric_ : LinearMetric
        The metric learned.
    prototypes_ : ndarray of shape (n_prototypes, n_features)
        The prototypes.
    prototype_labels_ : ndarray of shape (n_prototypes,)
        Their classes.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    input_range_ : ndarray of shape (2, n_features)
        The smallest and the largest training value of each feature.
    certainty_ : float
        The factor between relative distances and the exponents of the probabilities.
    loss_curve_ : list of float
        The loss after every iteration, under the squashing of that iteration.
    n_iter_ : int
        Number of iterations.

    References
    ----------
    Schneider, Biehl, Hammer: Adaptive relevance matrices in learning vector quantization, 2009.

    Strickert, Hammer, Villmann, Biehl: Regularization and improved interpretation of linear data mappings and adaptive
    distance measures, 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GMLVQ().fit(X, y)
    >>> bool(model.score(X, y) > 0.97)
    True
    >>> model.prototypes_.shape
    (3, 4)
    """

    _local = False
    traits = Traits(FitCost(0.01, column=1.3e-4, entry_class=1.6e-7, map_product=1e-8, spectral=9.0), partitions="sums")


@register
class LGMLVQ(MatrixLVQ):
    r"""Localized GMLVQ: every prototype has its own linear map.

    As `GMLVQ`, with :math:`||\Omega_j (x - w_j)||^2` the squared distance to prototype j. The trace of every
    :math:`\Lambda_j` is one, during training too: the sizes of the maps are not learned.

    Parameters
    ----------
    map_init : {"auto", "identity", "pca", "random"}, default="auto"
        Where all maps start: at the axes, at the first principal directions, or at random numbers. ``"auto"`` takes
        the axes where a map has as many rows as features, else the directions.
    n_prototypes, n_components, effective_dim, count_prototypes : as for `GMLVQ`
    squashing, sigma, prototype_init, solver, max_iter, tol : as for `GMLVQ`
    batch_size, learning_rate, verbose, callback, random_state, class_weight : as for `GMLVQ`

    Attributes
    ----------
    metric_ : LocalMetric
        The metric learned: its anchors are the prototypes.
    prototypes_, prototype_labels_, classes_, input_range_, certainty_, loss_curve_, n_iter_
        As for `GMLVQ`.

    References
    ----------
    Schneider, Biehl, Hammer: Adaptive relevance matrices in learning vector quantization, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LGMLVQ(n_components=2).fit(X, y).metric_.omegas.shape
    (3, 2, 4)
    """

    _local = True
    traits = Traits(
        FitCost(0.02, column=1.3e-4, entry_class_pair=3e-8, map_product=1.6e-8, spectral=18.0), partitions="sums"
    )


@register
class GRLVQ(MapsCases, LVQ):
    r"""Generalized relevance learning vector quantization: prototypes and a weight per feature, learned together.

    As `GMLVQ` with a diagonal matrix: the squared distance is :math:`\sum_l \lambda_l^2 (x_l - w_l)^2`, and the weights
    :math:`\lambda_l^2` sum to one.

    Parameters
    ----------
    n_prototypes : int or mapping from classes to int, default=1
        Prototypes of each class.
    squashing, sigma, prototype_init, solver, max_iter, tol : as for `GMLVQ`
    batch_size, learning_rate, verbose, callback, random_state, class_weight : as for `GMLVQ`

    Attributes
    ----------
    metric_ : DiagonalMetric
        The metric learned.
    prototypes_, prototype_labels_, classes_, input_range_, certainty_, loss_curve_, n_iter_
        As for `GMLVQ`.

    References
    ----------
    Hammer, Villmann: Generalized relevance learning vector quantization, 2002.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> GRLVQ().fit(X, y).metric_
    DiagonalMetric(4 features: x0, x1, x2, ...)
    """

    _local, _diagonal = False, True
    traits = Traits(FitCost(0.01, column=1.3e-4, entry_class=1.6e-7, spectral=6.0), partitions="sums")


@register
class LGRLVQ(LVQ):
    r"""Localized GRLVQ: every prototype has its own weights of the features.

    As `GRLVQ`, with weights of their own for the distance to each prototype; those of every prototype sum to one.

    Parameters
    ----------
    n_prototypes : int or mapping from classes to int, default=1
        Prototypes of each class.
    squashing, sigma, prototype_init, solver, max_iter, tol : as for `GMLVQ`
    batch_size, learning_rate, verbose, callback, random_state, class_weight : as for `GMLVQ`

    Attributes
    ----------
    metric_ : LocalMetric
        The metric learned: its anchors are the prototypes.
    prototypes_, prototype_labels_, classes_, input_range_, certainty_, loss_curve_, n_iter_
        As for `GMLVQ`.

    References
    ----------
    Hammer, Schleif, Villmann: On the generalization ability of prototype-based classifiers with local relevance
    determination, 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LGRLVQ().fit(X, y).metric_
    LocalMetric(3 anchors, 4 features: x0, x1, x2, ...)
    """

    _local, _diagonal = True, True
    traits = Traits(FitCost(0.02, column=1.3e-4, entry_class_pair=3e-8, spectral=10.0), partitions="sums")
