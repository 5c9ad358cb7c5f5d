"""Tables in files: text with several separators and encodings, workbooks, Parquet files and folders of these."""

import datetime
import gzip
from decimal import Decimal
from io import BytesIO

import numpy as np
import pandas as pd

from tests.endurance.fuzz.mutators import TOKENS, mutated, mutated_zip
from whynear.data.reading import read_table
from whynear.study.learning import learnable_problem
from whynear.study.settings import StudySettings

SEPARATORS = (",", ";", "\t", "|")
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp1252", "latin-1")
DATED = {"time": "day"}, {"date": ("day",)}, {"date": ("day=%d.%m.%Y",)}
SETTINGS = (
    {}, {}, {"strict": True}, {"categories": "onehot"}, {"impute": "median"}, {"drop_missing_target": True},
    {"bins": 3}, {"index": "id"}, {"group": "kind"}, {"weight": "count"}, {"category": ("size",)},
    {"number": ("kind",)}, {"missing": ("?", "-999")}, {"spectra": True}, {"spectra": False}, *DATED,
)  # fmt: skip


def mixed(n=24, seed=0):
    """A table of numbers, whole numbers, categories, dates, times and names, with gaps."""
    rng = np.random.default_rng(seed)
    day = pd.Timestamp("2021-03-04") + pd.to_timedelta(rng.integers(0, 400, n), unit="D")
    table = pd.DataFrame(
        {
            "id": [f"case {row}" for row in range(n)],
            "size": rng.standard_normal(n).round(3),
            "count": rng.integers(0, 50, n),
            "kind": rng.choice(["rötlich", "blau", "grün, hell"], n),
            "day": day.strftime("%Y-%m-%d"),
            "clock": [f"{hour:02}:30" for hour in rng.integers(0, 24, n)],
            "done": rng.choice(["yes", "no"], n),
            "share": [f"{value}%" for value in rng.integers(0, 100, n)],
            "y": np.tile(["u", "v", "w"], n)[:n],
        }
    )
    table.loc[[2, 7], "size"] = np.nan
    return table


def spectra(n=12, seed=0):
    """A table of spectra with a numeric target."""
    rng = np.random.default_rng(seed)
    X = np.cumsum(rng.standard_normal((n, 16)), axis=1).round(4)
    return pd.DataFrame(X, columns=[f"{400 + 10 * place} nm" for place in range(16)]).assign(y=X[:, 3].round(2))


def settings_for(frame, rng, encoding="auto"):
    """Settings for a table that often fit it."""
    chosen = dict(rng.choice(SETTINGS))
    named = {value[0] if isinstance(value, tuple) else value for value in chosen.values()}
    if "day" in frame and not any(str(value).startswith("day") for value in named):
        chosen["drop"] = ("day",)
    elif "400 nm" in frame and named & {"id", "day", "kind", "size", "count"}:
        chosen = {}
    return StudySettings.of(encoding=encoding, **chosen)


def check_read(path, rng, encoding="auto"):
    """Read a table and make a problem of it, as a study does; both are valid."""
    frame, notes = read_table(path, encoding)
    assert frame.shape[0] > 0
    assert frame.columns.is_unique
    assert all(isinstance(name, str) for name in frame.columns)
    assert all(isinstance(note, str) for note in notes)
    target = "y" if "y" in frame.columns else str(rng.choice(list(frame.columns)))
    problem = learnable_problem(path, target, settings_for(frame, rng, encoding))
    assert len(problem.X) == len(problem.y) > 0
    assert not pd.isna(problem.y).any()
    numbers = problem.numbers().to_numpy(dtype=float, na_value=np.nan)
    assert np.isfinite(numbers).all() or (problem.encoder is None and not np.isinf(numbers).any())
    return "accepted"


def with_changed_cells(table, rng):
    """A table as text, in which some cells or a name are other texts."""
    table = table.astype(object)
    for _ in range(rng.choice((1, 1, 3, 10))):
        token = rng.choice(TOKENS).decode(errors="replace").replace("\0", "")
        if rng.random() < 0.15:
            names = list(table.columns)
            names[rng.randrange(len(names))] = token
            table.columns = names
        else:
            rows = rng.choice((slice(None), [rng.randrange(len(table))], [rng.randrange(len(table))]))
            table.iloc[rows, rng.randrange(table.shape[1])] = token
    return table


def csv(folder):
    """Text files, in which bytes or whole cells were changed."""
    tables = [mixed(), mixed(8, 1), spectra()]

    def written(rng, changed):
        table = rng.choice(tables)
        how = {"sep": rng.choice(SEPARATORS), "decimal": rng.choice("..,")}
        return (with_changed_cells(table, rng) if changed else table).to_csv(index=False, **how)

    def trial(rng):
        encoding = rng.choice(ENCODINGS)
        data = written(rng, rng.random() < 0.6).encode(encoding, "replace")
        if rng.random() < 0.5:
            data = mutated(data, rng, written(rng, changed=False).encode(encoding, "replace"))
        packed = rng.random() < 0.1
        if packed:
            data = gzip.compress(data, 1)
            data = mutated(data, rng) if rng.random() < 0.5 else data
        path = folder / f"mutant{rng.choice(('.csv', '.csv', '.tsv', '.txt'))}{'.gz' if packed else ''}"
        path.write_bytes(data)
        return check_read(path, rng, rng.choice(("auto", "auto", "auto", encoding)))

    return trial


def workbook_bytes(table):
    file = BytesIO()
    table.to_excel(file, index=False)
    return file.getvalue()


def excel(folder):
    """Workbooks: the bytes of the file, or of one of its parts before it is packed."""
    books = [workbook_bytes(table) for table in (mixed(10), spectra(6), mixed(8).assign(day=pd.Timestamp(2021, 1, 2)))]

    def trial(rng):
        book = rng.choice(books)
        path = folder / "mutant.xlsx"
        path.write_bytes(mutated(book, rng) if rng.random() < 0.3 else mutated_zip(book, rng))
        return check_read(path, rng)

    return trial


def parquet_bytes(table, **options):
    file = BytesIO()
    table.to_parquet(file, **options)
    return file.getvalue()


def parquet_files():
    typed = mixed().assign(
        day=pd.to_datetime(mixed()["day"]),
        kind=mixed()["kind"].astype("category"),
        done=mixed()["done"] == "yes",
        count=mixed()["count"].astype("Int64"),
    )
    plain = {"compression": None, "index": False}
    return [
        parquet_bytes(mixed(), **plain),
        parquet_bytes(typed, **plain),
        parquet_bytes(typed.set_index("id"), compression=None),
        parquet_bytes(spectra(), **plain),
        parquet_bytes(mixed(), compression="snappy", row_group_size=7, index=False),
        parquet_bytes(typed, compression="zstd", index=False),
    ]


ODD = {
    "list": [[1, 2], None, []],
    "struct": [{"a": 1}, None, {"a": None}],
    "bytes": [b"\xff", None, b""],
    "text as bytes": [b"u", b"v", b"w"],
    "decimal": [Decimal("1.5"), None, Decimal("2.25")],
    "time": [datetime.time(1, 2), None, datetime.time(0)],
    "delta": [pd.Timedelta(1, "s"), pd.NaT, pd.Timedelta(-9, "D")],
    "date": [datetime.date(1, 1, 1), None, datetime.date(9999, 12, 31)],
    "zone": list(pd.to_datetime(["2020-01-01", None, "2262-01-01"], utc=True).tz_convert("Asia/Tokyo")),
    "large": [2**64 - 1, 0, 2**53 + 1],
    "truth": [True, None, False],
    "nothing": [None] * 3,
    "infinite": [np.inf, -np.inf, np.nan],
    "tiny": [5e-324, 1e-300, -1e-310],
    "huge": [1.7e308, -1.7e308, 1.0],
    "text": ["\u202e", "", "\0"],
    "category": ["a", None, "b"],
    "long": ["x" * 70_000, "1", None],
    "mixed dates": ["2020-01-01", "1/2/2020", ""],
}


def with_odd_column(data, rng):
    """A Parquet file with a column of an unusual type, in the place of one or beside them."""
    name, values = rng.choice(sorted(ODD.items()))
    table = pd.read_parquet(BytesIO(data))
    values = pd.Series([values[row % 3] for row in range(len(table))], index=table.index)
    values = values.astype("category") if name == "category" else values
    table[rng.choice((name, *(str(column) for column in table.columns)))] = values
    return parquet_bytes(table, compression=None)


def mutated_parquet(data, rng):
    """Most changes are in the end of the file, which says what it holds."""
    if (kind := rng.random()) < 0.4:
        return mutated(data, rng)
    if kind < 0.6:
        return with_odd_column(data, rng)
    length = int.from_bytes(data[-8:-4], "little") + 8
    end = mutated(data[-length:-8], rng)
    return data[:-length] + end + len(end).to_bytes(4, "little") + data[-4:]


def parquet(folder):
    """Parquet files."""
    files = parquet_files()

    def trial(rng):
        path = folder / "mutant.parquet"
        path.write_bytes(mutated_parquet(rng.choice(files), rng))
        return check_read(path, rng)

    return trial


def parquet_folder(folder):
    """Folders of Parquet files, one of which was changed."""
    files = parquet_files()

    def trial(rng):
        place = folder / "mutants"
        place.mkdir(exist_ok=True)
        same = rng.choice(files)
        (place / "part-1.parquet").write_bytes(same)
        other = same if rng.random() < 0.8 else rng.choice(files)
        (place / "part-2.parquet").write_bytes(mutated_parquet(other, rng) if rng.random() < 0.9 else other)
        return check_read(place, rng)

    return trial


READERS = {"csv": csv, "excel": excel, "parquet": parquet, "parquet-folder": parquet_folder}
