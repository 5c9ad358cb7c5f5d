"""What learned kernels of classes and of numbers share: learning, predictions, evidence, and models without columns."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray

from whynear.data.rows import RowSplit
from whynear.learn.inputs import Labelled, measurable_inputs, range_of_columns
from whynear.learn.kernel.choosing import CANDIDATES, Candidate, Choice, choose
from whynear.learn.kernel.intervals import reach_of
from whynear.learn.kernel.learning import COLUMNS, SHAPES, Columns, Coordinates, Rows, Shape, order_of, steps
from whynear.learn.kernel.leaves import PREDICTION_BYTES, Each, Kernel, LeafModels, Leaves, fit_leaf, fit_leaves
from whynear.learn.kernel.matrices import distances, kernel_of
from whynear.learn.kernel.table import CHOOSING_ROWS, GRADIENT_ROWS, LEARNING_ROWS, Table, at_most, distinct
from whynear.learn.mixins import CheckedWhenLoaded, WithEvidence, WithMetric
from whynear.learn.registry import FitCost, Traits
from whynear.learn.solvers import Callback, Step, watcher
from whynear.metric import Evidence, LocalMetric
from whynear.metric.base import rebuild
from whynear.utils.arrays import Array, Indices
from whynear.utils.checks import check_parameters, choice, seed_of, whole
from whynear.utils.threads import row_blocks

COMPARING_ROWS = 2_400  # from which, of a larger table, the shapes that are left are learned, and as many to compare
SCALING_ROWS = 500  # of which distances are compared
WEAK = 0.9  # of the variance is left by the best shape: so few rows then say little about any of them
HOLDING_OUT = 5  # parts of the rows, of which one is held out to count steps


class LearnedKernel(CheckedWhenLoaded, WithEvidence, WithMetric):
    """What classes and numbers share: a kernel model of the training rows under a learned distance."""

    traits = Traits(FitCost(0.1, row=2e-3, entry=1e-5), most_rows=20_000, partitions="leaves", settled=0.15)
    classifies: ClassVar[bool]
    shape: str
    columns: str
    max_steps: int
    n_folds: int | None
    random_state: int | RandomState | None
    verbose: bool
    callback: Callback | None
    n_jobs: int | None
    metric_: Any
    cases_: Array
    weights_: Array
    coefficients_: Array
    constants_: Array
    members_: Indices
    leaves_: Indices
    cuts_: dict[str, Any]
    width_: float
    ridge_: float
    reach_: float
    shape_: Shape
    columns_: Columns
    n_steps_: int
    row_names_: NDArray[Any] | None
    input_range_: Array
    search_results_: dict[str, list[Any]]

    def check_settings(self) -> None:
        """Refuse parameters that cannot be used, by name and value."""
        choice("shape", self.shape, ("auto", *SHAPES))
        choice("columns", self.columns, ("auto", *COLUMNS))
        check_parameters(self, whole, "max_steps", least=0)
        check_parameters(self, whole, "n_folds", least=2, optional=True)
        if self.n_folds is None and "auto" in (self.shape, self.columns):
            raise ValueError(
                f"n_folds=None chooses nothing, and shape={self.shape!r} and columns={self.columns!r} leave a choice. "
                "Give both, or a number of folds."
            )

    def chosen_settings(self) -> dict[str, Any]:
        """Return the parameters that were chosen: a fit with them to other rows of the table makes no choice again."""
        return {"shape": self.shape_, "columns": self.columns_, "max_steps": self.n_steps_, "n_folds": None}

    def restore_fields(self) -> None:
        """Check what `whynear.load` set."""
        super().restore_fields()
        if hasattr(self, "metric_"):
            tree = Leaves(**self.cuts_)
            tree.check(self.metric_.n_features)
            for name, end in (("members_", len(self.cases_)), ("leaves_", tree.n_leaves)):
                array = getattr(self, name)
                if array.dtype.kind != "i" or array.min(initial=0) < 0 or array.max(initial=0) >= end:
                    raise ValueError(f"{name} has numbers of none")

    def _learn(self, data: Labelled, Y: Array, groups: Any, each: Each, unit: float = 1.0) -> Array:
        """Learn the metric and the model of checked rows; return the outputs for each of them, held out.

        Outputs are predicted in the ``unit`` given, which is that of the coefficients. The models of leaves are fitted
        by ``each``, a map over them.

        Copies of a row count as one row of their weight together, and are left out together. The order in which rows
        are taken depends only on the order of the values within columns, not on that of the table or on its units.
        """
        vars(self).pop("search_results_", None)  # of an earlier fit
        rng = np.random.default_rng(seed_of(self.random_state))
        first, copy_of = distinct(data.X, Y, groups)
        of_copies = np.asarray(np.bincount(copy_of, weights=data.weights), dtype=np.float64)
        apart = None if groups is None else groups[first]
        origin = np.average(Y, axis=0, weights=data.weights)
        table = Table(data.X[first], (Y[first] - origin) / unit, of_copies, data.codes[first], apart)
        some = at_most(LEARNING_ROWS, len(first), rng)
        candidate, n_steps = self._chosen(table, some, rng)
        coordinates = Coordinates.of(table.X[some], of_copies[some], candidate.columns)
        rows = table.rows(some)._replace(X=coordinates.inside(table.X[some]))
        watch = watcher(type(self).__name__, self.verbose, self.callback)
        for step, fit in enumerate(steps(rows, candidate.shape, n_steps, at_most(GRADIENT_ROWS, len(some), rng))):
            watch(Step(step + 1, fit.error))
        self.cases_, self.row_names_, self.input_range_ = data.X.copy(), data.row_names, range_of_columns(data.X)
        self.weights_ = data.weights
        self.metric_ = coordinates.metric(fit.weights, candidate.shape, data.feature_names)
        self.shape_, self.columns_ = candidate.shape, candidate.columns
        self.width_, self.n_steps_ = fit.width, step
        sizes = fit.weights if fit.weights.ndim == 1 else np.linalg.norm(fit.weights, axis=1)
        leaves = Leaves.of(table.X, lambda X: np.std(coordinates.inside(X), axis=0) * sizes)
        placed, kernel = self.metric_.mapped(table.X), Kernel(order_of(self.shape_), self.width_, self.n_jobs)
        model = fit_leaves(
            leaves,
            table.X,
            lambda places: table.rows(places)._replace(X=placed[places]),
            kernel,
            fit.ridge,
            each,
        )
        self.cuts_, self.ridge_ = dict(vars(leaves)), model.ridge
        self.reach_ = reach_of(placed, order_of(self.shape_), self.n_jobs)
        self.constants_ = unit * np.asarray(model.constant, dtype=np.float64) + origin
        self._keep_coefficients(model, copy_of, unit * data.weights / of_copies[copy_of])
        return np.asarray(unit * model.held_out[copy_of] + origin, dtype=np.float64)

    def _keep_coefficients(self, model: LeafModels, copy_of: Indices, factors: Array) -> None:
        """Set the rows of each leaf and their coefficients, of which each copy of a row has its part."""
        members, leaves, coefficients = [], [], []
        for leaf, (rows, alpha) in enumerate(zip(model.rows, model.alphas, strict=True)):
            place = np.full(copy_of.max() + 1, -1)
            place[rows] = np.arange(len(rows))
            own = np.flatnonzero(place[copy_of] >= 0)
            members.append(own)
            leaves.append(np.full(len(own), leaf))
            coefficients.append(factors[own, None] * np.asarray(alpha[place[copy_of[own]]], dtype=np.float64))
        self.members_, self.leaves_ = np.concatenate(members), np.concatenate(leaves)
        self.coefficients_ = np.concatenate(coefficients)

    def _chosen(self, table: Table, learning: Indices, rng: np.random.Generator) -> tuple[Candidate, int]:
        """Return the shape and the number of steps, chosen in folds, the number of steps on as many rows as learn."""
        candidates = [
            one for one in CANDIDATES if self.shape in ("auto", one.shape) and self.columns in ("auto", one.columns)
        ]
        if self.n_folds is None:
            return candidates[0], self.max_steps
        some = learning[at_most(CHOOSING_ROWS, len(learning), rng)]
        parts = table.folds(some, self.n_folds, self.classifies, rng)
        if not parts:
            return candidates[0], 0

        def gradient_rows(n: int) -> Indices:
            return at_most(GRADIENT_ROWS, n, np.random.default_rng(0))

        def chosen_from(places: Indices, splits: Sequence[RowSplit], tried: Sequence[Candidate]) -> Choice:
            def rows_of(own: Indices) -> Rows:
                return table.rows(places[own])

            n_errors = 1.0 if len(table.X) <= LEARNING_ROWS else 0.0  # with many rows the best is surely near the best
            found = choose(table.X[places], rows_of, splits, tried, self.max_steps, gradient_rows, n_errors)
            if len(tried) > 1 or not hasattr(self, "search_results_"):
                self.search_results_ = {
                    "shape": [one.shape for one in found.losses],
                    "columns": [one.columns for one in found.losses],
                    "loss": list(found.losses.values()),
                }
            return found

        found = chosen_from(some, parts, candidates)
        if len(some) == len(learning):
            return found.candidate, found.n_steps
        many = len(table.X) > LEARNING_ROWS
        if many:
            learning = at_most(2 * COMPARING_ROWS, len(table.X), rng)
        split = table.folds(learning, 2 if many else HOLDING_OUT, self.classifies, rng)[0]
        if min(found.losses.values()) > WEAK * table.variance(some):
            near = candidates
        else:
            near = [one for one in candidates if one in found.losses] if many else [found.candidate]
        found = chosen_from(learning, [split], near)
        return found.candidate, found.n_steps

    def _kernel(self, cases: Array, known: Array) -> tuple[Array, Array]:
        """Return the distances of checked rows to some of the training rows, and the kernel of both."""
        metric = self.metric_
        D = distances(metric.mapped(cases), metric.mapped(known), order=order_of(self.shape_), n_jobs=self.n_jobs)
        return D, kernel_of(D.copy(), self.width_)

    def _outputs(self, X: ArrayLike) -> Array:
        """Return the outputs of the model for rows."""
        return self._outputs_and_nearness(X)[0]

    def _outputs_and_nearness(self, X: ArrayLike) -> tuple[Array, Array]:
        """Return outputs, and the kernel of each row with its nearest training row, in blocks of bounded memory."""
        cases = measurable_inputs(self, X)  # first: it refuses a model that is not fitted
        found, nearness = np.tile(self.constants_, (len(cases), 1)), np.zeros(len(cases))
        shares = Leaves(**self.cuts_).shares(cases)
        for leaf, of_leaf in enumerate(shares.T):
            own, new = np.flatnonzero(self.leaves_ == leaf), np.flatnonzero(of_leaf)
            known, coefficients = self.cases_[self.members_[own]], self.coefficients_[own]
            for block in row_blocks(len(new), row_bytes=24 * len(own), budget=PREDICTION_BYTES):
                rows = new[block]
                K = self._kernel(cases[rows], known)[1]
                found[rows] += of_leaf[rows, None] * (K @ coefficients)
                nearness[rows] = np.maximum(nearness[rows], K.max(axis=1))
        return found, nearness

    def with_metric(self, metric: Any) -> Self:
        """Return a copy that measures the distances to its training rows by another metric; see `WithMetric`."""
        twin = super().with_metric(metric)
        if isinstance(twin.metric_, LocalMetric):
            raise ValueError(
                f"{type(self).__name__} measures by one metric for all cases, and metric is local, with "
                f"{len(twin.metric_)} anchors. Use LANN for it."
            )
        if (order := getattr(twin.metric_, "p", 2.0)) not in (1.0, 2.0):
            raise ValueError(f"metric has the order {order:g}, and kernels are those of distances of order 1 or 2.")
        twin.shape_ = "l1" if order == 1.0 else "map"
        twin.reach_ = reach_of(twin.metric_.mapped(twin.cases_), order_of(twin.shape_), twin.n_jobs)
        return twin

    def without(self, features: Sequence[int]) -> Self:
        """Return a copy that predicts without some columns: the weights of others stay, coefficients are fitted again.

        The width shrinks with the distances. A fit without these columns could also move their weights to others, and
        so lose less. ``held_out_`` and ``certainty_`` stay those of the model with all columns.
        """
        if (n_cuts := len(self.cuts_["columns"])) > 0:
            raise ValueError(f"The model has {n_cuts + 1} leaves. Fit one without these columns instead.")
        arrays = dict(self.metric_.arrays())
        maps = arrays[name := "omega" if "omega" in arrays else "weights"].copy()
        maps[..., features] = 0.0
        twin = copy.copy(self)
        twin.metric_ = rebuild(
            type(self.metric_), self.metric_.feature_names, {**arrays, name: maps}, self.metric_.units
        )
        order, (before, after) = order_of(self.shape_), (one.metric_.mapped(self.cases_) for one in (self, twin))
        now, then = (float(distances(rows[:SCALING_ROWS], order=order).mean()) for rows in (after, before))
        twin.width_ = self.width_ * now / then if now > 0 else self.width_
        Y = self._targets()
        model, twin.ridge_ = fit_leaf((Rows(after, Y, self.weights_), Kernel(order, twin.width_), self.ridge_))
        twin.coefficients_, twin.constants_ = (
            np.asarray(one, dtype=np.float64) for one in (model.alpha, model.constant)
        )
        twin.members_, twin.leaves_ = np.arange(len(Y)), np.zeros(len(Y), dtype=np.intp)
        twin.reach_ = reach_of(after, order, self.n_jobs)
        return twin

    def _targets(self) -> Array:
        """Return what the outputs are fitted to."""
        raise NotImplementedError

    def evidence_of(self, cases: Array) -> Evidence:
        """All training rows, nearest first, with the signed share of each in every output; see `Evidence`.

        The shares and ``base`` add up to the outputs of the model. Of more than 20,000 rows, they are those of the
        leaves that predict any of the cases.
        """
        of_leaves = Leaves(**self.cuts_).shares(cases)
        counting = of_leaves.max(axis=0)[self.leaves_] > 0
        known, place = np.unique(self.members_[counting], return_inverse=True)
        D, K = self._kernel(cases, self.cases_[known])
        shares = np.zeros((*K.shape, len(self.constants_)))
        for leaf in np.unique(self.leaves_[counting]):
            own = np.flatnonzero(self.leaves_[counting] == leaf)
            of_leaf = K[:, place[own]] * of_leaves[:, [leaf]]
            shares[:, place[own]] += of_leaf[:, :, None] * self.coefficients_[counting][own]
        nearest = np.argsort(D, axis=1, kind="stable")
        along, order = np.take_along_axis(D, nearest, axis=1), known[nearest]
        shares = np.take_along_axis(shares, nearest[:, :, None], axis=1)
        return self._evidence(order, along if order_of(self.shape_) == 1 else np.square(along), shares)

    def _evidence(self, order: Indices, sq: Array, shares: Array) -> Evidence:
        raise NotImplementedError
