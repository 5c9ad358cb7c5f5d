"""Metrics and fitted learners as files of JSON and arrays, without pickle.

Limits keep the memory for a small file small: each array is used once, and labels become an array of fixed width only
if that takes at most 64 times the length of the labels, or all such arrays together 16 MiB; other labels become an
array of objects. Together with the limits of the archive (see `whynear.utils.archive`) loading takes at most a fixed
multiple of the size of the file.
"""

import json
import re
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)

from whynear.data.encoder import TableEncoder
from whynear.data.spectra import Baseline, SavitzkyGolay, StandardNormalVariate
from whynear.metric.base import Metric, rebuild
from whynear.metric.linear import DiagonalMetric, LinearMetric
from whynear.metric.local import LocalMetric
from whynear.metric.minkowski import MinkowskiMetric
from whynear.metric.monotone import MonotoneMetric
from whynear.utils.archive import TOO_LARGE, ArchiveError, read_archive, write_archive
from whynear.utils.files import StrPath
from whynear.utils.lazy import import_public_name
from whynear.utils.text import counted

MOST_PADDING = 64  # size of an array of labels of fixed width, over the length of the labels
SPARE_BYTES = 16 << 20  # for arrays of labels beyond that limit, all of a file together
CASES = "cases_"  # where learners keep their training rows
METRICS: dict[str, Callable[..., Metric]] = {
    kind.__name__: kind for kind in (LinearMetric, DiagonalMetric, LocalMetric, MinkowskiMetric, MonotoneMetric)
}
# Errors that parts which do not fit together lead to.
_UNFIT = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError, SyntaxError)
EstimatorType = TypeVar("EstimatorType", bound=type[BaseEstimator])
ESTIMATORS: dict[str, type[BaseEstimator]] = {}


def register(kind: EstimatorType) -> EstimatorType:
    """Register a class of estimators for `save` and `load`; usable as a decorator.

    Its parameters and all other attributes are saved: numbers, strings, lists, tuples, dicts, arrays, metrics and
    registered estimators. A class that holds anything else returns such values in ``saved_fields()``, and makes its
    attributes from them, after checking them, in ``restore_fields()``.
    """
    ESTIMATORS[kind.__name__] = kind
    return kind


_STEPS = (
    Pipeline, ColumnTransformer, StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, OneHotEncoder,
    FunctionTransformer, SimpleImputer, VarianceThreshold, TableEncoder, StandardNormalVariate, SavitzkyGolay, Baseline,
)  # fmt: skip
for _step in _STEPS:
    register(_step)


def save(obj: Metric | BaseEstimator, path: StrPath) -> None:
    """Save a metric, a learner or a Pipeline of scalers and a learner.

    The file is a zip of JSON and ``.npy`` parts with checksums, without code. It replaces an older file of the same
    name only once it is completely on the disk. The file of a `LocalMetric` contains its anchors, which for LANN are
    training cases, as a warning states. The files of other learners that predict or explain by training cases, such as
    LMNN and `MinimumNormRegressor`, contain these too.

    Parameters
    ----------
    obj : Metric or estimator
        What to save.
    path : str or path
        The file to write.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from whynear import DiagonalMetric
    >>> with TemporaryDirectory() as folder:
    ...     save(DiagonalMetric([1.0, 4.0], ["width", "height"]), f"{folder}/metric.whynear")
    ...     load(f"{folder}/metric.whynear").feature_names
    ('width', 'height')
    """
    if type(obj) not in (*METRICS.values(), *ESTIMATORS.values()):
        way = (
            f"Call the method of the {type(obj).__name__}: .save(path)."
            if callable(getattr(obj, "save", None))
            else "Save its metric: whynear.save(whynear.as_metric(obj), path)."
        )
        raise TypeError(f"{type(obj).__name__} cannot be saved so; metrics and the learners of whynear can. {way}")
    writer = _Writer()
    node = writer.encode(obj, "")
    write_archive(path, {"object": node}, writer.arrays)
    if writer.n_anchors or writer.n_cases:
        held = (
            f"the {writer.n_anchors} anchors of a local metric, which may be training cases"
            if writer.n_anchors
            else f"the values of {counted(writer.n_cases, 'training case')}"
        )
        warnings.warn(f"{path} contains {held}. Share it only where these may be seen.", stacklevel=2)


def load(path: StrPath) -> Any:
    """Load what `save` wrote. Checksums, version and sizes are checked before any object is made.

    Parameters
    ----------
    path : str or path
        The file to read.

    Returns
    -------
    Metric or estimator
        Equal to what was saved.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from whynear import GRLVQ
    >>> learner = GRLVQ(random_state=0).fit([[0.0, 1.0], [0.1, 0.0], [5.0, 1.0], [5.1, 0.0]], ["a", "a", "b", "b"])
    >>> with TemporaryDirectory() as folder:
    ...     save(learner, f"{folder}/model.whynear")
    ...     load(f"{folder}/model.whynear").predict([[4.0, 0.5]]).tolist()
    ['b']
    """
    header, arrays = read_archive(path)
    try:
        found = _Reader(arrays).decode(header["object"])
    except ArchiveError as error:
        raise ArchiveError(f"{path} cannot be read: {error}") from error
    except MemoryError as error:
        raise ArchiveError(f"{path} cannot be read: {TOO_LARGE}.") from error
    except _UNFIT as error:
        raise ArchiveError(f"{path} cannot be read: its content does not fit together ({error}).") from error
    if not isinstance(found, Metric | BaseEstimator):
        raise ArchiveError(f"{path} cannot be read: it holds a {type(found).__name__}, which is no metric or model.")
    return found


def encoder_as_text(encoder: TableEncoder) -> str:
    """Return an encoder as JSON, for a file of another kind than that of `save`."""
    writer = _Writer()
    text = json.dumps(writer.encode(encoder, ""))
    assert not writer.arrays, "what an encoder learned are words and single numbers"
    return text


def encoder_of_text(text: str) -> TableEncoder:
    """Return the encoder that `encoder_as_text` wrote; an ArchiveError for other text."""
    try:
        found = _Reader({}).decode(json.loads(text))
    except _UNFIT as error:
        raise ArchiveError(f"its content does not fit together ({error})") from error
    if not isinstance(found, TableEncoder):
        raise ArchiveError(f"it holds a {type(found).__name__}, which is no encoder")
    return found


class _Writer:
    """Encodes objects as JSON nodes and collects their arrays."""

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self.n_anchors = self.n_cases = 0

    def encode(self, value: Any, place: str) -> Any:
        """Return the JSON node of a value; ``place`` is its path in the object, for errors and the names of parts."""
        match value:
            case None | bool() | str():
                return value
            case np.generic():
                return self.encode(value.item(), place)
            case int():
                return value
            case float():
                return value if np.isfinite(value) else {"float": repr(value)}
            case list():
                return self._all(value, place)
            case tuple():
                return {"tuple": self._all(value, place)}
            case dict():
                return {"dict": [self._all(pair, f"{place}.{pair[0]}") for pair in value.items()]}
            case slice():
                return {"slice": self._all((value.start, value.stop, value.step), place)}
            case type() if issubclass(value, np.number):
                return {"number": value.__name__}
            case np.dtype():
                return {"dtype": value.str}
            case np.ndarray():
                return self._array(value, place)
            case Metric():
                self.n_anchors += len(value) if isinstance(value, LocalMetric) else 0
                fields = {name: self.encode(array, f"{place}.{name}") for name, array in value.arrays().items()}
                named = {"metric": type(value).__name__, "names": list(value.feature_names), "units": value.units}
                return {**named, "arrays": fields}
            case BaseEstimator() if type(value) in ESTIMATORS.values():
                params = value.get_params(deep=False)
                fields = value.saved_fields() if hasattr(value, "saved_fields") else vars(value)
                fitted = {name: field for name, field in fields.items() if name not in params}
                self.n_cases += len(fitted.get(CASES, ()))
                return {
                    "estimator": type(value).__name__,
                    "params": self.encode(params, place),
                    "fitted": self.encode(fitted, place),
                }
        raise TypeError(
            f"{place.strip('.') or 'The object'} holds {type(value).__name__}, which cannot be saved without pickle. "
            "Use numbers, strings, lists, dicts, arrays, metrics or registered estimators (an int for random_state)."
        )

    def _all(self, values: Any, place: str) -> list[Any]:
        return [self.encode(value, place) for value in values]

    def _array(self, array: NDArray[Any], place: str) -> Any:
        if array.dtype.kind in "OU":
            labels = self._all(array.ravel().tolist(), place)
            return {"labels": labels, "shape": list(array.shape), "dtype": array.dtype.kind}
        part = f"{len(self.arrays)}{re.sub('[^a-z0-9_]+', '-', place.lower())}"[:100]
        self.arrays[part] = array
        return {"array": part}


class _Reader:
    """Makes objects from JSON nodes; removes each array from ``arrays`` when it is used."""

    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None:
        self.arrays = arrays
        self.used: set[str] = set()
        self.spare_bytes = SPARE_BYTES

    def decode(self, node: Any) -> Any:
        """Return the value of a node."""
        match node:
            case list():
                return self._all(node)
            case {"float": str(text)}:
                return float(text)
            case {"tuple": values}:
                return tuple(self._all(values))
            case {"dict": pairs}:
                return dict(map(self._all, pairs))
            case {"array": str(part)}:
                array = self._part(part)
                array.setflags(write=True)
                return array
            case {"labels": list(values), "shape": shape, "dtype": "O" | "U" as kind}:
                return self._labels(values, kind).reshape(shape)
            case {"slice": [start, stop, step]}:
                return slice(start, stop, step)
            case {"number": str(name)}:
                return np.dtype(name).type
            case {"dtype": str(name)}:
                return np.dtype(name)
            case {"metric": kind, "names": names, "arrays": fields}:
                arrays = {name: self._part(part["array"]) for name, part in fields.items()}
                return rebuild(_known(kind, METRICS), names, arrays, node.get("units"))
            case {"estimator": kind, "params": params, "fitted": fitted}:
                estimator = _known(kind, ESTIMATORS)(**self.decode(params))
                if isinstance(estimator, Pipeline):
                    estimator.memory = None  # a folder of the machine that saved it
                if hasattr(estimator, "_parameter_constraints"):
                    estimator._validate_params()  # of scikit-learn
                for name, value in self.decode(fitted).items():
                    if not name.isidentifier() or hasattr(type(estimator), name):
                        raise ArchiveError(f"it sets {name!r}, which is no attribute of a fitted {kind}.")
                    setattr(estimator, name, value)
                if hasattr(estimator, "restore_fields"):
                    estimator.restore_fields()
                return estimator
            case dict():
                raise ArchiveError(f"it holds {sorted(node)}, which this version does not know.")
        return node

    def _all(self, nodes: Any) -> list[Any]:
        return [self.decode(node) for node in nodes]

    def _part(self, part: str) -> NDArray[Any]:
        """Return an array, once: a small file that uses one array many times would take much memory."""
        if part in self.used:
            raise ArchiveError(f"its part {part} is used twice, which `save` never does.")
        self.used.add(part)
        return self.arrays.pop(part)

    def _labels(self, nodes: list[Any], kind: str) -> NDArray[Any]:
        if kind == "O":
            return np.fromiter(self._all(nodes), dtype=object, count=len(nodes))
        if not all(isinstance(label, str) for label in nodes):
            raise ArchiveError("its labels are not all text.")
        lengths = [len(label) for label in nodes]
        needed = 4 * len(nodes) * max(lengths, default=1)
        if needed > MOST_PADDING * (sum(lengths) + len(nodes)):
            if needed > self.spare_bytes:
                return np.array(nodes, dtype=object)
            self.spare_bytes -= needed
        return np.array(nodes, dtype=str)


def _known(kind: str, registry: dict[str, Any]) -> Any:
    if kind not in registry:
        import_public_name("whynear", kind)  # a learner registers itself when it is imported
    if kind not in registry:
        raise ArchiveError(f"it holds a {kind}, which this version does not know; it knows {', '.join(registry)}.")
    return registry[kind]
