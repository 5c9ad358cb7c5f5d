"""Checks for learners: scikit-learn's own, the laws of the metric, and errors for every kind of bad input."""

import ast
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.utils.estimator_checks import check_estimator

from whynear.metric import LinearMetric, Metric
from whynear.model.files import ESTIMATORS, load, save
from whynear.testing.metric import Check, check_metric, refused, run_checks

Learner = Any  # an estimator with fit, predict, predict_proba and metric_
NAMES = ("width", "height", "depth", "colour", "age")


def check_learner(learner: BaseEstimator, expected_failed_checks: Mapping[str, str] | None = None) -> None:
    """Check that a learner passes all checks of scikit-learn and of this library.

    These are scikit-learn's estimator checks, and then: ``metric_`` is a metric value that fulfils its laws and has the
    feature names; a seed makes the learner deterministic; inputs are not modified; a registered learner is equal after
    saving and loading; and bad input (missing values, constant columns, contradicting copies, single classes, extreme
    magnitudes, unusual layouts, other columns) is handled, or refused with its name.

    Parameters
    ----------
    learner : estimator
        An unfitted instance; it is cloned.
    expected_failed_checks : mapping of str to str, optional
        Checks of scikit-learn that its settings cannot pass, by name, and why.

    Raises
    ------
    AssertionError
        Lists every check that failed, and why.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> check_learner(KNeighborsClassifier())  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    AssertionError: it has no attribute metric_
    """
    own = [(name, partial(check, learner, *table())) for name, check in CHECKS.items()]
    run_checks(repr(learner), [*_scikit_learn_checks(learner, expected_failed_checks), *own])


def _scikit_learn_checks(learner: Learner, expected: Mapping[str, str] | None) -> Iterator[Check]:
    known = None if expected is None else dict(expected)
    try:
        results = check_estimator(clone(learner), on_fail=None, on_skip=None, expected_failed_checks=known)
    except Exception as error:  # the list of checks could not be made
        results = [{"check_name": "checks", "status": "failed", "exception": error}]
    for result in results:
        yield f"scikit-learn's {result['check_name']}", partial(_pass_on, result)


def _pass_on(result: dict[str, Any]) -> None:
    if result["status"] == "failed":
        raise result["exception"]


def table(n: int = 90, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return three well separated classes with names for features and labels."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 3
    X = rng.standard_normal((n, len(NAMES)))
    X[:, 0] += 4.0 * codes
    X[:, 1] += 4.0 * (codes == 1)
    return pd.DataFrame(X, columns=NAMES), np.array(["cat", "dog", "eel"])[codes]


def fitted(learner: Learner, X: Any, y: Any) -> Learner:
    """Return a fitted clone of the learner, with a seed if it takes one."""
    fresh = clone(learner)
    if "random_state" in fresh.get_params():
        fresh.set_params(random_state=0)
    return fresh.fit(X, y)


def _has_a_metric(learner: Learner, X: pd.DataFrame, y: np.ndarray) -> None:
    metric = fitted(learner, X, y).metric_
    assert isinstance(metric, Metric), f"metric_ must be a metric value, got {type(metric).__name__}"
    assert metric.feature_names == NAMES, f"metric_ has the names {metric.feature_names}"
    check_metric(metric, X)


def _predicts(learner: Learner, X: pd.DataFrame, y: np.ndarray) -> None:
    accuracy = np.mean(fitted(learner, X, y).predict(X) == y)
    assert accuracy > 0.8, f"the accuracy on three well separated classes is {accuracy:.2f}"


def _probabilities_fit_predictions(learner: Learner, X: pd.DataFrame, y: np.ndarray) -> None:
    model = fitted(learner, X, y)
    probabilities = _finite_probabilities(model, X)
    assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))


def _seeded(learner: Learner, X: pd.DataFrame, y: np.ndarray) -> None:
    first, second = fitted(learner, X, y), fitted(learner, X, y)
    assert first.metric_ == second.metric_, "two fits with one seed give different metrics"
    assert_array_equal(first.predict_proba(X), second.predict_proba(X), "one seed, different probabilities")


def _maps_by_its_metric(learner: Learner, X: pd.DataFrame, y: np.ndarray) -> None:
    model = fitted(learner, X, y)
    if hasattr(model, "transform") and isinstance(model.metric_, LinearMetric):
        mapped = model.transform(X)
        assert_allclose(mapped, X.to_numpy() @ model.metric_.omega.T, rtol=1e-9, atol=1e-9)
        assert len(model.get_feature_names_out()) == mapped.shape[1], "get_feature_names_out does not fit transform"


def _gives_evidence(learner: Learner, X: pd.DataFrame, y: np.ndarray) -> None:
    """Check that the cases behind a prediction have the distances of the metric, and that their votes decide."""
    model = fitted(learner, X, y)
    if not hasattr(model, "evidence"):
        return
    evidence = model.evidence(X)
    support = evidence.support()
    assert_array_equal(evidence.classes[support.argmax(axis=1)], model.predict(X), "the votes give another class")
    assert evidence.shares is not None or (evidence.votes >= 0).all(), "a vote is negative"
    assert (np.diff(evidence.sq_distances, axis=1) >= 0).all(), "the nearest is not the first"
    sq = model.metric_.sq_distances_at(X.to_numpy(), evidence.cases, evidence.indices)
    assert_allclose(evidence.sq_distances, sq, rtol=1e-6, atol=1e-9)


def _survives_a_file(learner: Learner, X: pd.DataFrame, y: np.ndarray) -> None:
    if type(learner) not in ESTIMATORS.values():
        return
    model = fitted(learner, X, y)
    with TemporaryDirectory() as folder:
        save(model, f"{folder}/learner")
        again = load(f"{folder}/learner")
    assert again.metric_ == model.metric_, "the metric changed in the file"
    assert_array_equal(again.predict_proba(X), model.predict_proba(X), "the loaded learner predicts otherwise")


def _documents_its_defaults(learner: Learner, _X: pd.DataFrame, _y: np.ndarray) -> None:
    """Check that every parameter is in the section Parameters, and that a default there is that of the signature."""
    section = re.split(r"\n\S[^\n]*\n-+\n", (inspect.getdoc(type(learner)) or "").partition("Parameters\n-")[2])[0]
    documented: dict[str, str] = {}
    for line in section.splitlines():
        if line[:1].isalpha() and ":" in line:
            names, _, text = line.partition(":")
            documented.update(dict.fromkeys((name.strip() for name in names.split(",")), text))
    for name, parameter in inspect.signature(type(learner)).parameters.items():
        assert name in documented, f"parameter {name} is not documented"
        _, stated, value = documented[name].partition("default=")
        if stated:
            real = repr(parameter.default)
            assert repr(ast.literal_eval(value.strip())) == real, f"{name}: documented {value.strip()}, really {real}"


def _input_untouched(learner: Learner, X: pd.DataFrame, y: np.ndarray) -> None:
    values = X.to_numpy().copy()
    given, labels = values.copy(), y.copy()
    model = fitted(learner, given, labels)
    model.predict(given)
    assert_array_equal(given, values, "X was modified")
    assert_array_equal(labels, y, "y was modified")


def _missing_values(learner: Learner, X: pd.DataFrame, y: np.ndarray) -> None:
    model = fitted(learner, X, y)
    broken = X.copy()
    broken.iloc[[3, 7], 2] = np.nan
    for fact in ("NaN", "'depth'", "2 in"):
        refused("a missing value in fit", fact, clone(learner).fit, broken, y)
        refused("a missing value in predict", fact, model.predict, broken)


def _infinities(learner: Learner, X: pd.DataFrame, y: np.ndarray) -> None:
    model = fitted(learner, X, y)
    broken = X.copy()
    broken.iloc[3, 1] = -np.inf
    for fact in ("inf", "'height'"):
        refused("an infinity in fit", fact, clone(learner).fit, broken, y)
        refused("an infinity in predict", fact, model.predict, broken)


def _missing_target(learner: Learner, X: pd.DataFrame, y: np.ndarray) -> None:
    labels = y.astype(object)
    labels[17] = None
    refused("a missing target", "18", clone(learner).fit, X, labels)
    numbers = np.unique(y, return_inverse=True)[1].astype(float)
    numbers[41] = np.nan
    refused("a missing target", "42", clone(learner).fit, X, numbers)


def _constant_column(learner: Learner, X: pd.DataFrame, y: np.ndarray) -> None:
    X = X.assign(age=7.0, colour=0.0)
    model = fitted(learner, X, y)
    assert np.isfinite(model.metric_.relevances()).all(), "a relevance is not finite"
    _finite_probabilities(model, X)


def _copies(learner: Learner, X: pd.DataFrame, y: np.ndarray) -> None:
    twice, labels = pd.concat([X, X]), np.concatenate([y, y])
    model = fitted(learner, twice, labels)
    _finite_probabilities(model, X)
    assert np.mean(model.predict(X) == y) > 0.8, "copies spoil the prediction"


def _contradicting_copies(learner: Learner, X: pd.DataFrame, y: np.ndarray) -> None:
    twice, labels = pd.concat([X, X.iloc[:9]]), np.concatenate([y, np.roll(y[:9], 1)])
    certainty = _finite_probabilities(fitted(learner, twice, labels), X.iloc[:9]).max(axis=1)
    assert (certainty < 1).all(), "a case with two labels is predicted with certainty one"


def _single_class(learner: Learner, X: pd.DataFrame, _y: np.ndarray) -> None:
    refused("a single class", "'fox'", clone(learner).fit, X, np.repeat("fox", len(X)))


def _tiny_class(learner: Learner, X: pd.DataFrame, y: np.ndarray) -> None:
    labels = y.copy()
    labels[0] = "ant"
    model = fitted(learner, X, labels)
    assert "ant" in model.classes_, "a class with one row is lost"
    _finite_probabilities(model, X)


def _more_columns_than_rows(learner: Learner, _X: pd.DataFrame, _y: np.ndarray) -> None:
    X, y = table(12)
    wide = np.hstack([X, X @ np.ones((5, 30)), X])
    model = fitted(learner, wide, y)
    _finite_probabilities(model, wide)
    check_metric(model.metric_, wide)


def _few_rows_and_columns(learner: Learner, X: pd.DataFrame, y: np.ndarray) -> None:
    one = X[["width"]]
    model = fitted(learner, one, y)
    assert np.mean(model.predict(one) == y) > 0.6, "one telling column is not enough"
    refused("one row", "1 sample", clone(learner).fit, X.iloc[:1], y[:1])
    refused("an empty table", "0 sample", clone(learner).fit, X.iloc[:0], y[:0])


def _other_columns(learner: Learner, X: pd.DataFrame, y: np.ndarray) -> None:
    odd = X.set_axis(np.repeat("row", len(X)))
    model = fitted(learner, odd, y)
    assert_array_equal(model.predict(odd), fitted(learner, X, y).predict(X))
    refused("another order of columns", "order", model.predict, X[list(NAMES[::-1])])
    refused("a missing column", "depth", model.predict, X.drop(columns="depth"))
    refused("a surplus column", "weight", model.predict, X.assign(weight=1.0))


def _magnitudes(learner: Learner, X: pd.DataFrame, y: np.ndarray) -> None:
    for factor in (1e300, 1e-300, 1e100, 1e-100):
        for scaled in (X * factor, X.assign(width=X["width"] * factor)):
            try:
                model = fitted(learner, scaled, y)
                probabilities = _finite_probabilities(model, scaled)
            except (ValueError, TypeError):
                continue
            accuracy = np.mean(model.classes_[probabilities.argmax(axis=1)] == y)
            assert accuracy > 0.6, f"values of {factor:g} are accepted, and the accuracy falls to {accuracy:.2f}"


def _layouts(learner: Learner, X: pd.DataFrame, y: np.ndarray) -> None:
    values = np.round(X.to_numpy() * 8)
    readonly = values.copy()
    readonly.setflags(write=False)
    with TemporaryDirectory() as folder:
        mapped = np.memmap(f"{folder}/X", dtype=np.float64, mode="w+", shape=values.shape)
        mapped[:] = values
        layouts = {
            "read-only": readonly,
            "strided": np.repeat(values, 2, axis=1)[:, ::2],
            "Fortran-ordered": np.asfortranarray(values),
            "memory-mapped": mapped,
            "float32": values.astype(np.float32),
            "integer": values.astype(np.int64),
        }
        plain = fitted(learner, values, y)
        for name, layout in layouts.items():
            model = fitted(learner, layout, y)
            relevances = plain.metric_.relevances()
            assert_allclose(
                model.metric_.relevances(), relevances, rtol=1e-4, atol=1e-6 * relevances.max(), err_msg=f"{name} table"
            )
            assert_array_equal(model.predict(layout), plain.predict(values), f"{name} table")


def _finite_probabilities(model: Learner, X: Any) -> np.ndarray:
    probabilities = model.predict_proba(X)
    expected = (len(X), len(model.classes_))
    assert probabilities.shape == expected, f"predict_proba has the shape {probabilities.shape}, not {expected}"
    assert np.isfinite(probabilities).all(), "a probability is not finite"
    assert (probabilities >= 0).all(), "a probability is negative"
    assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-6, err_msg="probabilities do not sum to one")
    return probabilities


CHECKS: dict[str, Callable[[Learner, pd.DataFrame, np.ndarray], None]] = {
    "metric_ is a value with the table's names and obeys the laws": _has_a_metric,
    "separated classes are predicted": _predicts,
    "probabilities fit the predictions": _probabilities_fit_predictions,
    "a seed makes it deterministic": _seeded,
    "transform maps by the metric": _maps_by_its_metric,
    "the cases behind a prediction explain it": _gives_evidence,
    "a registered learner survives a file": _survives_a_file,
    "documented defaults are those of the signature": _documents_its_defaults,
    "inputs stay untouched": _input_untouched,
    "missing values are refused by column and count": _missing_values,
    "infinities are refused by column": _infinities,
    "missing targets are refused by row, counting from 1": _missing_target,
    "constant columns do no harm": _constant_column,
    "copies of rows do no harm": _copies,
    "contradicting copies are never certain": _contradicting_copies,
    "a single class is refused by name": _single_class,
    "a class of one row is kept": _tiny_class,
    "more columns than rows is a normal case": _more_columns_than_rows,
    "one column works, one row and no row are refused": _few_rows_and_columns,
    "columns are matched by name": _other_columns,
    "extreme magnitudes are handled or refused": _magnitudes,
    "any layout of the table gives the same": _layouts,
}
