"""The Python code of a view of a finished study."""

from __future__ import annotations

from whynear.studio.fewer_features import columns_of, learner_name
from whynear.studio.live import LOCKED, MODEL, Live
from whynear.studio.marks import NO_TRIPLES, places_of_triples
from whynear.studio.models import PythonLines, PythonQuery, Shown, lines_for
from whynear.studio.store import Refused
from whynear.studio.workshop import Studio


def python_of(studio: Studio, live: Live, study: str, query: PythonQuery) -> PythonLines:
    """Return the code that makes what a view shows, with the row, the values and the features of the query."""
    if query.view == "compare" and query.other is None:
        raise Refused("Name the study to compare with (other).")
    other = "" if query.other is None else str(studio.project.results_of(studio.finished(query.other)["id"]))
    triples = places_of_triples(live, studio.store.marks(study))
    if query.view == "marks" and not triples:
        raise Refused(NO_TRIPLES)
    if query.view == "leave-out" and not query.features:
        raise Refused("Name the features to leave out (features): tick at least one.")
    shown = Shown(
        table=str(live.table),
        target=live.target if studio.store.study(study)["table_id"] is not None else None,
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
