"""Vector quantization, prototypes and the distance to them learned together: a matrix or a weight per feature.

They are the same for all prototypes, or separate for each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from whynear.learn import solvers
from whynear.learn.blocks import Blocks, Cases, HeldBlocks, held_cases, summed
from whynear.learn.inputs import ClassWeight, check_for_stream, fit_inputs, measurable_inputs, stream_inputs, weighed
from whynear.learn.lvq.objective import Squashing
from whynear.learn.lvq.prototypes import (
    Coordinates,
    Quantizer,
    certainty,
    chosen_directions,
    class_distances,
    prototype_counts,
    relative_distances,
    starting_map,
    starting_prototypes,
)
from whynear.learn.mixins import CheckedWhenLoaded, MapsCases, Predictions, WithEvidence, WithMetric, measured_to
from whynear.learn.registry import FitCost, Traits
from whynear.metric import Evidence, LocalMetric
from whynear.model.files import register
from whynear.utils.arrays import Array, Indices
from whynear.utils.checks import check_parameters, choice, number, whole
from whynear.utils.threads import one_blas_thread

MOST_STREAM_FEATURES = 2_000  # up to which a map may have as many rows
GENTLE_SIGMA = 5.0  # steepness of a squashing with which learning can begin


class LVQ(CheckedWhenLoaded, WithEvidence, WithMetric, ClassifierMixin, BaseEstimator):
    """Classification by the nearest prototype; subclasses state whether maps are local and whether diagonal."""

    _local: bool
    _diagonal: bool
    n_components: int | None = None
    effective_dim: int | None = None
    count_prototypes = False
    map_init = "auto"
    certainty_: float
    metric_: Any
    classes_: NDArray[Any]
    prototypes_: Array
    prototype_labels_: NDArray[Any]
    loss_curve_: list[float]
    n_iter_: int

    def __init__(
        self,
        n_prototypes: int | Mapping[Any, int] = 1,
        squashing: Literal["identity", "sigmoid", "swish"] = "sigmoid",
        sigma: float = 5.0,
        prototype_init: Literal["auto", "means", "kmeans"] = "auto",
        solver: Literal["lbfgs", "adam"] = "lbfgs",
        max_iter: int = 1000,
        tol: float = 1e-6,
        batch_size: int = 256,
        learning_rate: float = 0.01,
        verbose: bool = False,
        callback: solvers.Callback | None = None,
        random_state: int | np.random.RandomState | None = None,
        class_weight: ClassWeight = None,
    ) -> None:
        self.n_prototypes = n_prototypes
        self.squashing = squashing
        self.sigma = sigma
        self.prototype_init = prototype_init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.verbose = verbose
        self.callback = callback
        self.random_state = random_state
        self.class_weight = class_weight

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn prototypes and metric.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training cases.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            How much each case counts: one of weight two counts as two copies of it.
        """
        self.check_settings()
        data = weighed(fit_inputs(self, X, y, sample_weight), self.class_weight).distinct()
        return self.fit_blocks(HeldBlocks.of(data))

    def fit_blocks(self, blocks: Blocks) -> Self:
        """Learn prototypes and metric from a checked training set in blocks of rows, as `fit` does from one block."""
        self.check_settings()
        rng = check_random_state(self.random_state)
        coordinates, start = self._begin(blocks, blocks.varying, self.n_components, rng)
        inside = blocks.moved(coordinates.inside, start.prototypes.shape[1])
        with one_blas_thread(blocks.n_rows * inside.n_features):
            solution = self._minimize(start, inside, rng)
        self.classes_, self.loss_curve_, self.n_iter_ = blocks.classes, solution.loss_curve, solution.n_iter
        self._n_seen = 0
        self._settle(start.unpacked(solution.x), coordinates, blocks)
        self._stream: dict[str, Any] | None = None
        solvers.warn_unless_converged(solution, self, stacklevel=4)
        return self

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from a part of a stream: one pass over it in batches, with a step for each.

        A map has as many rows as features on a first call without ``n_components``: later parts may vary in directions
        in which the first does not. ``certainty_`` is a mean over the parts, each by its number of rows.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        classes : array-like, optional
            All classes that may occur; needed on the first call, unless `fit` came before.
        """
        self.check_settings()
        check_for_stream(self.class_weight)
        data = weighed(stream_inputs(self, X, y, classes, sample_weight), self.class_weight)
        rng, blocks = check_random_state(self.random_state), HeldBlocks.of(data)
        if not hasattr(self, "metric_"):
            self.classes_, self.loss_curve_, self._stream, self._n_seen = data.classes, [], None, 0
            varying = np.ones(data.X.shape[1], dtype=bool)  # a column may vary later
            coordinates, quantizer = self._begin(blocks, varying, self._streamed_components(data.X.shape[1]), rng)
        else:
            coordinates = Coordinates(**self._coordinates)
            labels = np.searchsorted(self.classes_, self.prototype_labels_)
            quantizer = Quantizer.of(self.metric_, self.prototypes_, labels, coordinates)
        at = quantizer.packed()
        adam = solvers.Adam.at(at) if self._stream is None else solvers.Adam(at, **self._stream)
        cases = Cases(coordinates.inside(data.X), data.codes, data.shares)
        loss = solvers.epoch(
            adam,
            self._of_batch(quantizer, cases),
            len(cases.X),
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            rng=rng,
        )
        self.loss_curve_ = [*self.loss_curve_, loss]
        self.n_iter_ = len(self.loss_curve_)
        self._stream = {"first": adam.first, "second": adam.second, "n_steps": adam.n_steps}
        self._settle(quantizer.unpacked(adam.x), coordinates, blocks)
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """How much nearer each class is than the nearest other one: (d_other - d) / (d_other + d), in [-1, 1].

        Of shape (n_samples, n_classes), or (n_samples,) for two classes: that of the second one.
        """
        relative = self._relative(measurable_inputs(self, X))
        return relative[:, 1] if len(self.classes_) == 2 else relative

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of the nearest prototype; the first one of equally near classes."""
        nearest = self._relative(measurable_inputs(self, X)).argmax(axis=1)
        return self.classes_[nearest]

    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities of the classes: softmax of the relative distances times ``certainty_``.

        That factor was fitted to the training cases by maximum likelihood, with the smoothing of Platt's method.
        """
        return self._probabilities(self._relative(measurable_inputs(self, X)))

    def evidence_of(self, cases: Array) -> Evidence:
        """The nearest prototype of each class, nearest first, with the probability of its class as its vote."""
        metric = self.metric_
        sq = metric.between(cases, None if isinstance(metric, LocalMetric) else self.prototypes_)
        codes = np.searchsorted(self.classes_, self.prototype_labels_)
        nearest = np.array([np.where(codes == c, sq, np.inf).argmin(axis=1) for c in range(len(self.classes_))]).T
        distances = np.take_along_axis(sq, nearest, axis=1)
        votes = self._probabilities(relative_distances(distances))
        order = np.argsort(distances, axis=1, kind="stable")
        indices, distances, votes = (np.take_along_axis(a, order, axis=1) for a in (nearest, distances, votes))
        labels = self.prototype_labels_
        return Evidence(self.prototypes_, labels, indices, distances, votes, self.classes_, prototypes=True)

    def predictions_from(self, evidence: Evidence) -> Predictions:
        """Return what `predict` and `predict_proba` return for the cases of this `evidence`."""
        codes = np.searchsorted(self.classes_, evidence.labels[evidence.indices])
        by_class = np.empty_like(evidence.sq_distances)
        np.put_along_axis(by_class, codes, evidence.sq_distances, axis=1)
        relative = relative_distances(by_class)
        return Predictions(self.classes_[relative.argmax(axis=1)], self._probabilities(relative))

    def with_metric(self, metric: Any) -> Self:
        """Return a copy that measures the distances to its prototypes by another metric; see `WithMetric`."""
        twin = super().with_metric(metric)
        if isinstance(twin.metric_, LocalMetric):
            twin.metric_ = measured_to(twin.metric_, self.prototypes_, "prototypes")
        twin._stream = None  # which belongs to the parameters of the old metric
        return twin

    def _relative(self, X: Array) -> Array:
        return class_distances(X, self.metric_, self.prototypes_, self._first_of_classes)

    @property
    def _first_of_classes(self) -> Indices:
        return np.searchsorted(self.prototype_labels_, self.classes_)  # prototypes are sorted by class

    def _probabilities(self, relative: Array) -> Array:
        probabilities: Array = softmax(self.certainty_ * relative, axis=1)
        return probabilities

    def check_settings(self) -> None:
        """Refuse parameters that cannot be used, by name and value."""
        choice("squashing", self.squashing, [name.lower() for name in Squashing.__members__])
        choice("prototype_init", self.prototype_init, ("auto", "means", "kmeans"))
        choice("map_init", self.map_init, ("auto", "identity", "pca", "random"))
        choice("solver", self.solver, ("lbfgs", "adam"))
        check_parameters(self, number, "sigma", "learning_rate", above=0)
        check_parameters(self, number, "tol")
        check_parameters(self, whole, "max_iter", "batch_size")
        check_parameters(self, whole, "n_components", "effective_dim", optional=True)
        if (self.n_components or 0) > (self.effective_dim or np.inf):
            raise ValueError(
                f"n_components={self.n_components} asks for more directions than effective_dim={self.effective_dim} "
                f"leaves. Use n_components <= {self.effective_dim}, or None for all of them."
            )

    def _begin(
        self, blocks: Blocks, varying: NDArray[np.bool_], n_components: int | None, rng: np.random.RandomState
    ) -> tuple[Coordinates, Quantizer]:
        """Where learning starts; weights that are zero there, as in columns that do not vary, stay zero."""
        coordinates = Coordinates.about(blocks)
        inside = blocks.moved(coordinates.inside, blocks.n_features)
        counts = prototype_counts(self.n_prototypes, blocks.classes)
        prototypes, labels = starting_prototypes(inside, counts, self.prototype_init, rng)
        if self.effective_dim is not None:
            counting = prototypes[: len(prototypes) * self.count_prototypes]
            directions = chosen_directions(inside, self.effective_dim, counting)
            directions[~varying] = 0.0  # but for rounding they are
            coordinates = replace(coordinates, directions=directions)
            inside = blocks.moved(coordinates.inside, self.effective_dim)
            prototypes = prototypes @ directions
            varying = np.ones(self.effective_dim, dtype=bool)
        if self._diagonal:
            maps = varying.astype(np.float64)
        else:
            maps = starting_map(inside, varying, n_components, self.map_init, rng)
        maps /= np.linalg.norm(maps)
        if self._local:
            maps = np.repeat(maps[None], len(prototypes), axis=0)
        return coordinates, Quantizer(maps, prototypes, labels, self._local)

    def _streamed_components(self, n_features: int) -> int | None:
        if self.n_components is not None or self._diagonal:
            return self.n_components
        if self.effective_dim is None and n_features > MOST_STREAM_FEATURES:
            raise ValueError(
                f"n_components=None asks for a map with a row for each of the {n_features} features of a stream, more "
                f"than {MOST_STREAM_FEATURES}. Give n_components."
            )
        return n_features if self.effective_dim is None else self.effective_dim

    def _minimize(self, start: Quantizer, inside: Blocks, rng: np.random.RandomState) -> solvers.Solution:
        watch = solvers.watcher(type(self).__name__, self.verbose, self.callback)
        if self.solver == "lbfgs":

            def loss_grad(x: Array, squashing: Squashing, sigma: float) -> tuple[float, Array]:
                total: tuple[float, Array] = summed(inside.map(start.loss_grad, x, squashing, sigma))
                return total

            return solvers.lbfgs_in_turn(
                [partial(loss_grad, squashing=squashing, sigma=sigma) for squashing, sigma in self._stages()],
                start.packed(),
                max_iter=self.max_iter,
                tol=self.tol,
                watch=watch,
            )
        (cases,) = inside.map(held_cases)  # batches are drawn from one block
        return solvers.stochastic(
            self._of_batch(start, cases),
            start.packed(),
            len(cases.X),
            max_iter=self.max_iter,
            tol=self.tol,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            rng=rng,
            watch=watch,
        )

    def _of_batch(self, quantizer: Quantizer, cases: Cases) -> solvers.BatchLossGrad:
        def of_batch(x: Array, rows: NDArray[np.intp]) -> tuple[float, Array]:
            weights = cases.weights[rows] * (len(cases.X) / len(rows))
            batch = Cases(cases.X[rows], cases.codes[rows], weights)
            return quantizer.loss_grad(batch, x, *self._squash)

        return of_batch

    def _settle(self, quantizer: Quantizer, coordinates: Coordinates, blocks: Blocks) -> None:
        """Set what a fitted learner has; ``certainty_`` is fitted to the rows of the blocks."""
        self._coordinates = vars(coordinates)
        self.prototypes_ = coordinates.points(quantizer.prototypes)
        self.prototype_labels_ = self.classes_[quantizer.labels]
        self.metric_ = quantizer.metric(coordinates, blocks.feature_names)
        distances = partial(
            class_distances, metric=self.metric_, prototypes=self.prototypes_, first=self._first_of_classes
        )
        found, n = certainty(blocks.moved(distances, len(self.classes_))), blocks.n_rows
        share = n / (self._n_seen + n)
        self.certainty_ = found if share == 1 else self.certainty_ ** (1 - share) * found**share
        self._n_seen += n

    def _stages(self) -> list[tuple[Squashing, float]]:
        """The squashing, gentle at first: a steep one is flat for all cases but those on the border."""
        squashing, sigma = self._squash
        stages = [(squashing, sigma)]
        while squashing is not Squashing.IDENTITY and stages[0][1] > 2 * GENTLE_SIGMA:
            stages.insert(0, (squashing, stages[0][1] / 2))
        return stages

    @property
    def _squash(self) -> tuple[Squashing, float]:
        return Squashing[self.squashing.upper()], float(self.sigma)


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
        callback: solvers.Callback | None = None,
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
