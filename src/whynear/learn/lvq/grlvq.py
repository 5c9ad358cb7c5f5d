"""Vector quantization with a weight per feature: the same for all prototypes, or separate ones for each."""

from whynear.learn.lvq.base import LVQ
from whynear.learn.mixins import MapsCases
from whynear.learn.registry import FitCost, Traits
from whynear.model.files import register


@register
class GRLVQ(MapsCases, LVQ):
    r"""Generalized relevance learning vector quantization: prototypes and a weight per feature, learned together.

    As `GMLVQ` with a diagonal matrix: the squared distance is :math:`\sum_l \lambda_l^2 (x_l - w_l)^2`, and the weights
    :math:`\lambda_l^2` sum to one.

    Parameters
    ----------
    n_prototypes : int or mapping from classes to int, default=1
        Prototypes of each class.
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
    metric_ : DiagonalMetric
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
    metric_ : LocalMetric
        The metric learned: its anchors are the prototypes.
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
