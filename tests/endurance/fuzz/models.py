"""Saved models of every kind: bytes changed by accident, and content changed by somebody who corrects the checksums."""

import json
import warnings
import zipfile
from io import BytesIO

import numpy as np

import whynear as wn
from tests.endurance.fuzz.law import DOCUMENTED
from tests.endurance.fuzz.mutators import changed_value, mutated
from tests.endurance.fuzz.tables import mixed
from tests.helpers.archives import craft

ORDINARY = (*DOCUMENTED, AttributeError, LookupError, np.ma.MAError)  # of a fitted state that somebody forged


def models():
    """Fitted models of every kind, each with rows that it predicts."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    y = np.where(X[:, 0] > 0, "u", "v")
    table = mixed().drop(columns=["day", "id"])
    local = wn.LocalMetric(X[:5], weights=np.ones((5, 3)))
    encoded = wn.learn_table(table, "y", learner="gmlvq").model
    measured = wn.learn_table(table.drop(columns="size").assign(y=range(24)), "y").model
    memory = wn.SelfAdjustingMemory(max_size=60, random_state=0).fit(np.vstack([X, X + 1, X - 1]), np.tile(y, 3))
    option = wn.RejectOption(wn.GRLVQ(random_state=0), accuracy=0.6, cv=2, random_state=0).fit(X, y)
    return {
        "GMLVQ": (wn.GMLVQ(random_state=0).fit(X, y), X),
        "LANN": (wn.LANN(random_state=0).fit(X, y), X),
        "LMNN": (wn.LMNN(random_state=0, max_iter=3).fit(X, y), X),
        "LinearMetric": (wn.LinearMetric(np.eye(3)), X),
        "LocalMetric": (local, X),
        "Pipeline": (encoded, table.drop(columns="y")),
        "Regressor": (measured, table.drop(columns=["y", "size"])),
        "RejectOption": (option, X),
        "SelfAdjustingMemory": (memory, X),
    }


def parts_of(data):
    """The manifest of a model file, and its other parts."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(parts.pop("manifest.json")), parts


def forge(path, data, rng):
    """Write a model file with another header or other arrays, and the checksums of these."""
    manifest, parts = parts_of(data)
    if parts and rng.random() < 0.4:
        name = rng.choice(sorted(parts))
        parts[name] = other_array(parts[name], rng)
    else:
        manifest["header"] = changed_value(manifest["header"], rng)
    return craft(path, parts, header=manifest["header"])


def other_array(npy, rng):
    """A changed .npy file: other bytes, other numbers, another shape or another type."""
    if rng.random() < 0.2:
        return mutated(npy, rng)
    array = np.load(BytesIO(npy))
    match rng.randrange(5):
        case 0 if array.size:
            array.ravel()[rng.randrange(array.size)] = rng.choice((0, 1, 2, 100))
        case 1 if array.size and array.dtype.kind == "f":
            array.ravel()[rng.randrange(array.size)] = rng.choice((np.nan, np.inf, -1.0, 1e300, 1e-300))
        case 1 if array.size and array.dtype.kind == "i":
            array.ravel()[rng.randrange(array.size)] = rng.choice((-1, 2**31 - 1, np.iinfo(array.dtype).min))
        case 2:
            array = array[: len(array) // 2] if array.ndim else array[None]
        case 3:
            array = array.reshape(rng.choice(((-1,), (1, -1), (-1, 1))))
        case _:
            array = array.astype(rng.choice(("f4", "i8", "b1", "u1", "f8")))
    file = BytesIO()
    np.save(file, array)
    return file.getvalue()


def check_usable(model, X):
    """A loaded model predicts finite numbers or classes, and a metric measures; or an ordinary error says why not."""
    try:
        _check_usable(model, X)
    except ORDINARY:
        return "refused"
    return "accepted"


def _check_usable(model, X):
    if isinstance(model, wn.LocalMetric):
        distances = model.sq_distances_at(np.asarray(X)[:3], model.anchors, np.zeros((3, 1), dtype=int))
        assert np.isfinite(distances).all()
    elif not hasattr(model, "predict"):
        if hasattr(model, "sq_distances"):
            assert np.isfinite(model.sq_distances(np.asarray(X))).all()
    else:
        assert len(model.predict(X)) == len(X)
        if hasattr(model, "predict_proba"):
            assert np.isfinite(np.asarray(model.predict_proba(X), dtype=float)).all()


def model(folder):
    """Model files of every kind."""
    made, files = models(), {}
    for name, (fitted, _) in made.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wn.save(fitted, folder / name)
        files[name] = (folder / name).read_bytes()

    def trial(rng):
        name, path = rng.choice(sorted(files)), folder / "mutant.whynear"
        if rng.random() < 0.25:
            path.write_bytes(mutated(files[name], rng, files[rng.choice(sorted(files))]))
        else:
            forge(path, files[name], rng)
        return check_usable(wn.load(path), made[name][1])

    return trial


READERS = {"model": model}
