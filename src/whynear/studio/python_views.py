"""The Python code of a view of a finished study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whynear.studio.fewer_features import columns_of, learner_name
from whynear.studio.live import LOCKED, MODEL, Live
from whynear.studio.marks import NO_TRIPLES, places_of_triples
from whynear.studio.models import PythonLines, PythonQuery, View
from whynear.studio.project import Project
from whynear.studio.store import Refused
from whynear.study.settings import StudySettings, python_words

ONLY_OF_STUDIES = {"learner", "score", "folds", "effective_dim", "memory"}  # settings that a model has not


@dataclass(frozen=True)
class Shown:
    """What a view shows.

    ``table`` is the path of the table or the name of a data set, ``results`` the folder of the study, ``learner`` the
    name of its learner, ``other`` the folder of another study.
    """

    table: str
    target: str | None
    settings: StudySettings
    results: str
    learner: str = "auto"
    row: int | str = 1
    values: Mapping[str, Any] = field(default_factory=dict)
    features: Sequence[str] = ()
    triples: Sequence[tuple[int, int, int]] = ()
    other: str = ""
    model_file: str = "model.whynear"

    @property
    def study(self) -> str:
        """The line that repeats the study."""
        return f"study = wn.study({_words(self.table, self.target, self.settings.changed())})"

    @property
    def model(self) -> str:
        """The line that loads the model."""
        return f"model = wn.load({self.results + '/' + self.model_file!r})"

    @property
    def case(self) -> str:
        """The lines that open the table and take the case from it."""
        index = self.settings.reading.index
        rows = f"X.loc[[{self.row!r}]]" if index is None else f"X[X[{index!r}].astype(str) == {str(self.row)!r}]"
        changed = f".assign(**{dict(self.values)!r})" if self.values else ""
        return f"X = wn.datasets.open_table({self.table!r}).frame\ncase = {rows}{changed}"

    def learned(self, **changes: Any) -> str:
        """Return the call that fits the learner of the study to its table."""
        kept = {name: value for name, value in self.settings.changed().items() if name not in ONLY_OF_STUDIES}
        return f"wn.learn_table({_words(self.table, self.target, {'learner': self.learner, **kept, **changes})})"

    @property
    def without_features(self) -> str:
        """The call that fits the learner without the features."""
        return self.learned(drop=[*self.settings.reading.drop, *self.features])


def lines_for(view: View, shown: Shown) -> str:
    """Return the code that makes what a view shows."""
    return f"import whynear as wn\n\n{_LINES[view](shown)}\n"


def _case(shown: Shown) -> str:
    return (
        f"{shown.study}\nnames = [str(name) for name in study.shown.X.index]\n"
        f"print(*[why.text for why in study.reasons if names[why.place] == {str(shown.row)!r}])  # without the row\n\n"
        f"{shown.model}  # fitted to all rows\nprint(wn.explain_row(model, {shown.table!r}, row={shown.row!r}))"
    )


def _flip(shown: Shown) -> str:
    columns = "columns = list(model.feature_names_in_)"
    return f"{shown.model}\n{shown.case}\n{columns}\nprint(wn.flips(model, case[columns], X[columns]).frame())"


def _leave_out(shown: Shown) -> str:
    seed, weighted = shown.settings.random_state, shown.settings.reading.weight is not None
    left = f"{list(shown.features)!r}, {_rows('problem', weighted)}, random_state={seed}"
    kept = f"{_rows('fewer.problem', weighted)}, random_state={seed}"
    judged = f"fewer.model, fewer.problem.X, fewer.problem.y, {kept}"
    return (
        f"{shown.model}\nproblem = {shown.learned()}.problem\n"
        f"print(wn.leave_out(model, problem.X, problem.y, {left}))\n"
        f"fewer = {shown.without_features}\n"
        f"print(wn.verdicts({judged}).frame())"
    )


def _rows(problem: str, weighted: bool) -> str:
    return f"groups={problem}.separation" + (f", sample_weight={problem}.weights" if weighted else "")


def _marks(shown: Shown) -> str:
    triples = [list(triple) for triple in shown.triples]
    return (
        f"X = {shown.learned()}.problem.numbers()\n"
        f"triples = {triples!r}  # places of a row, of one like it and of one unlike it, from 0\n"
        f"slider = wn.Slider(random_state={shown.settings.random_state}).fit_triplets(X, triples)\n"
        "print(dict(zip(X.columns, slider.metric_.relevances() * X.var(ddof=0))))"
    )


_LINES: dict[str, Callable[[Shown], str]] = {
    "study": lambda shown: f"{shown.study}\nprint(study.finding())\nstudy.save('study')",
    "features": lambda shown: f"{shown.study}\nprint(study.frame())",
    "sets": lambda shown: f"{shown.study}\nprint(study.verdicts.sets.best)\nprint(study.verdicts.sets.curve)",
    "errors": lambda shown: f"{shown.study}\nprint(study.errors.to_dict())",
    "map": lambda shown: f"{shown.study}\nprint({{name: points.shape for name, points in study.maps.items()}})",
    "case": _case,
    "what-if": lambda shown: f"{shown.model}\n{shown.case}\nprint(wn.explain_row(model, case, row={shown.row!r}))",
    "flip": _flip,
    "leave-out": _leave_out,
    "lock": lambda shown: f"smaller = {shown.without_features}\nwn.save(smaller.model, 'smaller.whynear')",
    "marks": _marks,
    "compare": lambda shown: f"print(wn.compare_studies({shown.results!r}, {shown.other!r}).sentences())",
}


def _words(table: str, target: str | None, settings: Mapping[str, Any]) -> str:
    named = [] if target is None else [repr(target)]
    return ", ".join([repr(table), *named, *python_words(settings)])


def python_of(project: Project, live: Live, study: str, query: PythonQuery) -> PythonLines:
    """Return the code that makes what a view shows, with the row, the values and the features of the query."""
    if query.view == "compare" and query.other is None:
        raise Refused("Name the study to compare with (other).")
    other = "" if query.other is None else str(project.results_of(project.store.finished(query.other)["id"]))
    triples = places_of_triples(live, project.store.marks(study))
    if query.view == "marks" and not triples:
        raise Refused(NO_TRIPLES)
    if query.view == "leave-out" and not query.features:
        raise Refused("Name the features to leave out (features): tick at least one.")
    shown = Shown(
        table=str(live.table),
        target=live.target if project.store.study(study)["table_id"] is not None else None,
        settings=live.settings,
        results=str(live.folder),
        model_file=MODEL if query.model == "study" else LOCKED,
        learner=learner_name(live),
        row=live.row_names[0] if query.row is None else live.name_of_row(query.row),
        values=query.values,
        features=columns_of(live, query.features),
        triples=triples,
        other=other,
    )
    return PythonLines(view=query.view, code=lines_for(query.view, shown))
