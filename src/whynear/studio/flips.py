"""The smallest changes of a case that change its prediction, as the API gives them."""

from __future__ import annotations

import time

from whynear.explain.flips import flips
from whynear.explain.linear_parts import is_linear_map
from whynear.metric.pipeline import FittedPipeline
from whynear.studio.faults import Refused
from whynear.studio.live import Live
from whynear.studio.live_models import Change, FlipAnswer, FlipQuery, Flips
from whynear.studio.what_if import case_of
from whynear.utils.plain import plain_values
from whynear.utils.text import printable


def smallest_flips(live: Live, query: FlipQuery) -> Flips:
    """Find the smallest changes of a case; refuse a numeric target, which has no other class."""
    start = time.perf_counter()
    model = live.model_of(query.model)
    if is_linear_map(model):
        raise Refused("A numeric target has no other class to reach. Change the values instead (what-if).")
    case = case_of(live, query, FittedPipeline.of(model))
    found = flips(model, case, live.problem.X[list(case.columns)], to=query.to, features=query.features)
    answers = [
        FlipAnswer(
            changes=[
                Change(feature=name, before=plain_values(old), after=plain_values(new), deviations=size)
                for name, old, new, size in zip(flip.features, flip.before, flip.after, flip.deviations, strict=True)
            ],
            size=flip.size,
            prediction=plain_values(flip.prediction),
            sentence=printable(str(flip)),
        )
        for flip in found
    ]
    return Flips(prediction=plain_values(found.prediction), flips=answers, seconds=time.perf_counter() - start)
