"""What a call passes through: the modules it visits, and how often it returns to one: ``python -m tests.walk study``.

Each walk is a first call on the wine table, in a process of its own and without others. A *visit* is a call of a
function of a module; importing it is none. A *return* is a call from one module into another that was visited before:
calls of the same function from the same module are one return. The caller is the nearest function of this package,
also where it hands a function to another package; what numba calls to load a kernel is left out.
"""

import importlib
import pkgutil
import subprocess
import sys
import tempfile
import threading
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType
from typing import Any

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn

# Work that is worth doing once: the names of functions, of which those that do not exist any more count nothing.
REPEATED = {
    "checks of tables": ("check_features", "predict_inputs", "table_and_labels"),
    "values looked through for NaN": ("check_finite",),
    "columns turned into numbers": ("numbers", "as_numbers"),
    "tables read again": ("FittedPipeline.table", "Model.table", "TableEncoder.read"),
    "models taken apart": ("FittedPipeline.of", "Model.of"),
}


@dataclass
class Walk:
    """The modules that were visited, the calls that returned to one, and how often each function was called."""

    modules: set[str] = field(default_factory=set)
    returns: set[tuple[str, str, str]] = field(default_factory=set)
    calls: Counter[str] = field(default_factory=Counter)
    root: str = f"{Path(wn.__file__).parent}/"

    def of(self, walk: Callable[[], object]) -> "Walk":
        """Trace a call, in all its threads."""
        before = sys.gettrace(), threading.gettrace()
        threading.settrace(self._enter)
        sys.settrace(self._enter)
        try:
            walk()
        finally:
            sys.settrace(before[0])
            threading.settrace(before[1])  # type: ignore[arg-type] # None ends it, which typeshed leaves out
        return self

    def times(self, names: tuple[str, ...]) -> int:
        """Return how often functions of these names were called."""
        return sum(self.calls[name] for name in names)

    def module_of(self, frame: FrameType) -> str:
        """Return the file of a function of the package, from its root; empty for any other function."""
        path = frame.f_code.co_filename
        return path[len(self.root) :] if path.startswith(self.root) and path.endswith(".py") else ""

    def _enter(self, frame: FrameType, _event: str, _argument: Any) -> None:
        module = self.module_of(frame)
        if not module or not frame.f_code.co_flags & CO_OPTIMIZED:  # the body of a module or a class
            return
        caller = frame.f_back
        while caller is not None and not self.module_of(caller):
            if "/numba/" in caller.f_code.co_filename:
                return
            caller = caller.f_back
        self.calls[frame.f_code.co_qualname] += 1
        if module in self.modules and caller is not None and self.module_of(caller) != module:
            self.returns.add((self.module_of(caller), module, frame.f_code.co_qualname))
        self.modules.add(module)


def study() -> Walk:
    """The command, which learns, judges, explains and writes a report."""
    from tests.helpers.command_line import run

    with tempfile.TemporaryDirectory() as folder:
        words = ("study", "wine", "--out", f"{folder}/study", "--n-jobs", 1)
        return Walk().of(lambda: _succeeded(run(*words).exit_code == 0))


def verdicts() -> Walk:
    """The verdicts on the features of a table."""
    wine = wn.datasets.load("wine")
    return Walk().of(lambda: wn.verdicts(wn.GMLVQ(random_state=0), wine.X, wine.y, n_jobs=1))


def reject() -> Walk:
    """The calibration of an option to reject."""
    wine = wn.datasets.load("wine")
    option = wn.RejectOption(make_pipeline(StandardScaler(), wn.GMLVQ(random_state=0)))
    return Walk().of(lambda: option.fit(wine.X, wine.y))


def fit() -> Walk:
    """A fit of LANN."""
    wine = wn.datasets.load("wine")
    return Walk().of(lambda: wn.LANN(random_state=0).fit(wine.X, wine.y))


def predict() -> Walk:
    """The predictions of a fitted LANN."""
    wine = wn.datasets.load("wine")
    model = wn.LANN(random_state=0).fit(wine.X, wine.y)
    return Walk().of(lambda: model.predict(wine.X))


def what_if() -> Walk:
    """The first prediction of the studio for a changed case."""
    from tests.helpers.studios import add_finished, client_of, idle_studio

    with tempfile.TemporaryDirectory() as folder:
        studio = idle_studio(Path(folder) / "project")
        try:
            settings = {"learner": "grlvq"}
            number = add_finished(studio.project, wn.study("wine", **settings), example="wine", settings=settings)
            client, query = client_of(studio), {"row": 1, "values": {"alcohol": 12.0}}
            return Walk().of(lambda: _succeeded(client.post(f"/api/studies/{number}/what-if", json=query).is_success))
        finally:
            studio.project.close()


WALKS: dict[str, Callable[[], Walk]] = {
    "study": study,
    "verdicts": verdicts,
    "reject": reject,
    "fit": fit,
    "predict": predict,
    "what-if": what_if,
}


def walked(name: str) -> Walk:
    """Import the whole package, and trace a walk."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in pkgutil.walk_packages(wn.__path__, "whynear."):
            importlib.import_module(module.name)
        return WALKS[name]()


def main(names: list[str]) -> None:
    """Print the modules and the returns of walks, and what the study repeats."""
    if len(names) != 1:
        for name in names or WALKS:
            subprocess.run([sys.executable, "-m", "tests.walk", name], check=True)
        return
    walk = walked(names[0])
    print(f"{names[0]:9} {len(walk.modules):4} modules {len(walk.returns):5} returns")
    if names[0] == "study":
        for work, functions in REPEATED.items():
            print(f"{walk.times(functions):7} {work}")


def _succeeded(well: bool) -> None:
    if not well:
        raise RuntimeError("The walk failed.")


if __name__ == "__main__":
    main(sys.argv[1:])
