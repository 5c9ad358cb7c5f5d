"""Files to keep of a version before it is released: ``python -m tests.helpers.kept_files``.

They are made of drawn numbers. Later versions must open them, and say the same (tests/test_kept_files.py).
"""

import gzip
import json
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from whynear.spectra import Baseline, SavitzkyGolay, StandardNormalVariate
from whynear.study.differences import read_study

DATA = Path(__file__).parents[1] / "data"
COLUMNS = ["height", "age"]


def drawn_table() -> pd.DataFrame:
    """Two features and a class that depends on both."""
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(16, 2)).round(2), columns=COLUMNS)
    return table.assign(size=np.where(table["height"] + 0.3 * table["age"] > 0, "tall", "small"))


def drawn_mixed_table() -> tuple[pd.DataFrame, pd.Series]:
    """A number with a gap, a category and a date, and a class."""
    table = drawn_table()
    towns, days = np.resize(["Bonn", "Trier", "Ulm"], len(table)), [f"{day:02d}.03.2024" for day in range(1, 17)]
    height = table["height"].where(table.index != 3)
    return pd.DataFrame({"height": height, "town": towns, "seen": days}), table["size"]


def drawn_spectra() -> np.ndarray:
    """Spectra of six channels."""
    return np.random.default_rng(1).normal(size=(12, 6)).cumsum(axis=1).round(2)


def said(folder: Path) -> dict[str, object]:
    """What the files in a folder say, as plain values."""
    table = drawn_table()
    queries = table[COLUMNS] + 0.4
    option, stream = wn.load(folder / "reject.whynear"), wn.load(folder / "stream.whynear")
    model, spectra = wn.load(folder / "model.whynear"), wn.load(folder / "spectra.whynear")
    study = read_study(folder / "study.json")
    with wn.CaseBase(folder / "cases.db") as base:
        base.check()
        found = base.retrieve(queries.iloc[0], k=3)
    with wn.CaseBase(folder / "encoded_cases.db") as base:
        base.check()
        encoded = base.retrieve({"height": None, "town": "Ulm", "seen": "07.03.2024"}, k=3)
    return {
        "predicted": wn.predict_table(model, queries)["predicted"].tolist(),
        "certainties": option.certainties(queries).tolist(),
        "promise": option.promise.sentence,
        "stream": stream.predict_proba(queries).tolist(),
        "learned on": stream.partial_fit(table[COLUMNS], table["size"]).predict_proba(queries).tolist(),
        "spectra": spectra.predict_proba(drawn_spectra()).tolist(),
        "study": [study.chosen, study.score, dict(study.verdicts), study.effective_dim],
        "cases": [found.rows, found.payloads],
        "sq_distances": found.sq_distances.tolist(),
        "encoded cases": [encoded.rows, encoded.payloads],
        "sq_distances of encoded cases": encoded.sq_distances.tolist(),
    }


def write(folder: Path) -> None:
    """Write the files, and beside them what they say."""
    table = drawn_table()
    X, y = table[COLUMNS], table["size"]
    scaled = make_pipeline(StandardScaler(), wn.GRLVQ(random_state=0))
    wn.save(wn.RejectOption(scaled, accuracy=0.6, random_state=0).fit(X, y), folder / "reject.whynear")
    wn.save(wn.SelfAdjustingMemory(n_neighbors=3, random_state=0).fit(X, y), folder / "stream.whynear")
    steps = [StandardNormalVariate(), SavitzkyGolay(window=3), Baseline(1), StandardScaler()]
    spectra = make_pipeline(*steps, wn.GMLVQ(random_state=0)).fit(drawn_spectra(), np.arange(12) % 2)
    wn.save(spectra, folder / "spectra.whynear")
    with wn.CaseBase(folder / "cases.db", wn.DiagonalMetric([1.0, 2.0], COLUMNS)) as base:
        base.add(X, [{"number": row} for row in range(len(X))])
    write_encoded_cases(folder / "encoded_cases.db")
    wn.study(table, "size", learner="grlvq", splitting=wn.Splitting(folds=2), random_state=0).save(folder / "study")
    for name in ("study.json", "model.whynear"):
        shutil.move(folder / "study" / name, folder / name)
    shutil.rmtree(folder / "study")
    (folder / "said.json").write_text(json.dumps(said(folder)))


def write_encoded_cases(path: Path) -> None:
    """Write a case base of a model with an encoder."""
    X, y = drawn_mixed_table()
    encoder = wn.TableEncoder("onehot", "median", readings={"seen": "date %d.%m.%Y"})
    model = make_pipeline(encoder, StandardScaler(), wn.GRLVQ(random_state=0)).fit(X, y)
    with wn.CaseBase(path, model) as base:
        base.add(X, [{"number": row} for row in range(len(X))])


def packed(place: Path, folder: Path) -> None:
    """Keep the files of a folder, compressed."""
    place.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.iterdir()):
        (place / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))


def unpacked(place: Path, folder: Path) -> None:
    """Write the kept files to a folder as they were."""
    for path in place.glob("*.gz"):
        (folder / path.stem).write_bytes(gzip.decompress(path.read_bytes()))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        write(Path(name))
        packed(DATA / wn.__version__, Path(name))
