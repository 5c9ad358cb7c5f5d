"""Vector quantization with a weight per feature: the same for all prototypes, or for each its own."""

from whynear.learn.lvq.base import LVQ
from whynear.learn.lvq.texts import documented
from whynear.learn.mixins import MapsCases
from whynear.metric import register


@register
@documented()
class GRLVQ(MapsCases, LVQ):
    r"""Generalized relevance learning vector quantization: prototypes and a weight per feature, learned together.

    As `GMLVQ` with a diagonal matrix: the squared distance is :math:`\sum_l \lambda_l^2 (x_l - w_l)^2`, and the weights
    :math:`\lambda_l^2` sum to one.

    Parameters
    ----------
    n_prototypes : int or mapping from classes to int, default=1
        Prototypes of each class.
    {parameters}

    Attributes
    ----------
    metric_ : DiagonalMetric
        The metric learned.
    {attributes}

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


@register
@documented()
class LGRLVQ(LVQ):
    r"""Localized GRLVQ: every prototype weighs the features in its own way.

    As `GRLVQ`, with weights of their own for the distance to each prototype; those of every prototype sum to one.

    Parameters
    ----------
    n_prototypes : int or mapping from classes to int, default=1
        Prototypes of each class.
    {parameters}

    Attributes
    ----------
    metric_ : LocalMetric
        The metric learned: its anchors are the prototypes.
    {attributes}

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
