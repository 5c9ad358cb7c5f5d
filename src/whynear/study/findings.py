"""The results of a study as sentences, and its caveats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.data.encoder import holds_text
from whynear.data.problem import Problem
from whynear.learn.registry import KERNEL, MINIMUM_NORM
from whynear.study.bands import Spectra
from whynear.study.comparison import Comparison
from whynear.study.errors import root_mean_squared_error
from whynear.study.feature_findings import (
    RIVALS,
    better_rival,
    caveats_of_copies,
    caveats_of_models,
    feature_sentences,
    set_sentences,
    sign_sentence,
    stand_in_sentences,
)
from whynear.study.interpretation import Interpretation
from whynear.study.methods import PLAIN
from whynear.study.score import NAMES, PartsScore, direction, score_without_features, shown
from whynear.study.yardsticks import Standing, standing_of
from whynear.utils.text import counted
from whynear.verdict import Verdicts
from whynear.verdict.rules import AGREED

SAME_CORRELATION = 0.9999  # at least, of a column that is a copy of the target
LEAST_BETTER = 0.02  # of accuracy or R2, by which the models of the verdicts are better than the learner
CLEARLY_BETTER = 2.0  # and standard errors of its score
FEWEST_VALUES = 5  # of such a column: two known values always lie on a line
ROWS_PER_CATEGORY = 5  # at least, on average, in a column of categories that determines the class


@dataclass(frozen=True)
class Findings:
    """The results of a study as sentences.

    Which simple method predicts better, if one does; how few features suffice, what none can replace, what may be left
    out; in which direction features move a numeric target; then how well the model predicts.
    """

    sentences: tuple[str, ...]
    stand_ins: tuple[str, ...]  # for each member of the smallest set who can stand in for it, and at what price
    caveats: tuple[str, ...]  # limits of the results, and what to do about them
    evidence: tuple[str, ...] = ()  # what shows each sentence in the report: "methods", "sets", "features", "spectrum"


def findings_of(
    problem: Problem,
    comparison: Comparison,
    interpretation: Interpretation,
    verdicts: Verdicts,
    caveats: Sequence[str] = (),
    spectra: Spectra | None = None,
    on_parts: PartsScore | None = None,
) -> Findings:
    """Return the results as sentences; the caveats of the results come before those given, how columns were read last.

    ``on_parts`` says how well the model predicts whole parts of a table that does not fit in memory.
    """
    better, standing = better_rival(comparison), standing_of(comparison)
    if better is not None and standing is not None and standing.yardstick in RIVALS:
        standing = None  # that ridge predicts better is said once
    below = standing is not None and standing.side == "worse"
    linear = comparison.chosen == MINIMUM_NORM and better is None and verdicts.works
    signs = sign_sentence(problem.target, comparison, verdicts) if linear else None
    noun = "feature" if spectra is None else spectra.bands.noun
    said = [
        *([(better, "methods")] if better else []),
        *((sentence, "sets") for sentence in set_sentences(verdicts, noun)),
        *((sentence, "features") for sentence in feature_sentences(verdicts, noun)),
        *([(signs, "features")] if signs else []),
        (_prediction(problem, comparison, interpretation, standing), "methods"),
        *([] if on_parts is None else [(on_parts.sentence, "methods")]),
        *([] if spectra is None else [(spectra.sentence, "spectrum")]),
    ]
    return Findings(
        tuple(sentence for sentence, _ in said),
        stand_in_sentences(verdicts),
        (
            *_caveats(problem, comparison, interpretation),
            *caveats_of_stronger_models(comparison, verdicts, suggest=not below and comparison.chosen != KERNEL),
            *([] if below else caveats_of_models(verdicts)),
            *sorted(caveats, key=lambda caveat: caveat in problem.decisions),
        ),
        tuple(part for _, part in said),
    )


def _caveats(problem: Problem, comparison: Comparison, interpretation: Interpretation) -> list[str]:
    of_target = _caveats_of_classes if problem.kind == "classes" else _caveats_of_numbers
    said = caveats_of_copies(problem.X, comparison) + of_target(problem, comparison) + caveats_of_width(problem)
    if interpretation.averaged:
        said.append("Intervals are those of the mean of the cases' own metrics: a case may weigh features otherwise.")
    if not interpretation.bounded:
        said.append(
            "The distance of this model is no quadratic form of the columns, because it adds up their differences or "
            "measures their ranks: its weights have no intervals, and each feature has its share of the weights "
            "instead."
        )
    if unknown := interpretation.relevance.certificate.unknowns:
        whose = "interval of 1 feature is" if unknown == 1 else f"intervals of {unknown:,} features are"
        its = "its" if unknown == 1 else "their"
        said.append(
            f"The {whose} not exact, because {its} calculation (a linear program) did not finish; treat {its} bounds "
            "as unknown."
        )
    return said


def caveats_of_stronger_models(comparison: Comparison, verdicts: Verdicts, suggest: bool = True) -> list[str]:
    """Return a caveat where the models refitted for the verdicts predict clearly better than the learner.

    With ``suggest`` it names what to try for predictions alone.
    """
    better, best = verdicts.sets.score_of_all, comparison.expected
    alike = comparison.measure == ("accuracy" if verdicts.measure == "accuracy" else "r2")
    clearly = better - best >= max(LEAST_BETTER, CLEARLY_BETTER * comparison.expected_error) if alike else False
    if not verdicts.works or not clearly:
        return []
    of_rows = verdicts.measure == "accuracy"
    verb, what = ("predict", "of held-out rows right") if of_rows else ("explain", "of the variance")
    return [
        f"The models that were refitted for the verdicts {verb} {better:.1%} {what}, the model that predicts "
        f"{best:.1%}: the verdicts say what the features hold, and this model uses only a part of it."
        + (" For predictions alone, also try another one, such as a kernel model." if suggest else "")
    ]


def caveats_of_width(problem: Problem) -> list[str]:
    """Return a caveat where there are at least as many features as rows, so that the rows do not determine a map."""
    n, d = problem.X.shape
    if d < n:
        return []
    noun = "features" if problem.axis is None else "channels"
    return [
        f"With {d:,} {noun} and only {n:,} rows, many different maps fit the rows equally well: the weights of single "
        f"{noun} are not determined by the data, and verdicts rest on refits with held-out rows. Fewer {noun} or more "
        "rows help; the intervals of relevance say between which bounds a weight lies."
    ]


def _caveats_of_classes(problem: Problem, comparison: Comparison) -> list[str]:
    said = []
    expected, measure = comparison.right.value, comparison.measure
    chance = score_without_features(problem.y, measure, problem.weights)
    if direction(measure) * (comparison.expected - chance) <= 0.02:
        ignoring = (
            f"always naming the most frequent class ({chance:.1%})"
            if measure == "accuracy"
            else f"those that ignore the features ({NAMES[measure]} {shown(chance, measure)})"
        )
        said.append(
            f"Predictions are hardly better than {ignoring}: the features may say nothing about the target, and their "
            "relevance is then that of chance."
        )
    if measure == "log_loss" and comparison.probabilities is not None:
        said += _caveats_of_log_loss(comparison.predictions["true"].to_numpy(), comparison.probabilities)
    if expected > 0.999 and len(problem.X.columns) > 1:
        every = "Every" if expected == 1 else "Nearly every"
        said.append(f"{every} held-out case is predicted right: look for a column that was made from the target.")
    deciding, more = _one_channel(deciding_columns(problem.X, problem.y), problem)
    return said + [
        f"Column {name!r} alone tells the classes apart{more.get(name, '')}: if it was made from the target, leave it "
        "out with --drop."
        for name in deciding
    ]


def _caveats_of_log_loss(true: NDArray[Any], probabilities: pd.DataFrame) -> list[str]:
    """Return a caveat where the true class has no probability, for which the loss would be infinite."""
    of_true = probabilities.to_numpy()[np.arange(len(true)), np.searchsorted(probabilities.columns.to_numpy(), true)]
    if not (excluded := int(np.count_nonzero(of_true <= 0))):
        return []
    cases = "1 held-out case has" if excluded == 1 else f"{excluded:,} held-out cases have"
    return [
        f"{cases} a true class of probability 0, for which the log loss has no limit: each counts as 36, and few of "
        "them decide the score."
    ]


def _caveats_of_numbers(problem: Problem, comparison: Comparison) -> list[str]:
    said = []
    if comparison.expected <= 0.05:
        said.append(
            "Predictions are hardly better than the mean of the target: the features may say nothing about it, and "
            "their relevance is then that of chance."
        )
    numeric = problem.X.select_dtypes("number")
    same = [
        str(name)
        for name in numeric.columns
        if numeric[name].nunique() > 1
        and numeric[name].count() >= FEWEST_VALUES
        and abs(np.corrcoef(numeric[name].dropna(), problem.y[numeric[name].notna()])[0, 1]) > SAME_CORRELATION
    ]
    same, more = _one_channel(same, problem)
    return said + [
        f"Column {name!r} says the same as the target{more.get(name, '')}: if it was made from it, leave it out with "
        "--drop."
        for name in same
    ]


def _one_channel(names: list[str], problem: Problem) -> tuple[list[str], dict[str, str]]:
    """Return the columns with only the first of the channels of a spectrum, and words on how many others it stands for.

    Neighbouring channels say the same, so that one caveat is enough.
    """
    channels = [] if problem.axis is None else [name for name in names if name in set(problem.axis.columns)]
    if len(channels) < 2:
        return names, {}
    others = "does another channel" if len(channels) == 2 else f"do {len(channels) - 1:,} other channels"
    return [name for name in names if name not in channels[1:]], {channels[0]: f", as {others}"}


def deciding_columns(X: pd.DataFrame, y: NDArray[Any]) -> list[str]:
    """Return the columns whose value alone determines the class of every row.

    In the order of a numeric column of this kind, the rows of each class follow each other, and no two classes share a
    value. In a column of categories, all rows of a category have the same class.
    """
    codes = np.unique(y, return_inverse=True)[1]
    found = []
    for name in X.columns[X.notna().all()]:
        if holds_text(X[name]):
            classes = pd.Series(codes).groupby(X[name].to_numpy()).nunique()
            if (classes == 1).all() and len(classes) <= len(X) // ROWS_PER_CATEGORY:
                found.append(str(name))
            continue
        values = X[name].to_numpy()
        order = np.lexsort((codes, values))
        runs = np.count_nonzero(np.diff(codes[order])) + 1
        ties = (np.diff(values[order]) == 0) & (np.diff(codes[order]) != 0)
        if runs == codes.max() + 1 and not ties.any():
            found.append(str(name))
    return found


def _prediction(
    problem: Problem, comparison: Comparison, interpretation: Interpretation, standing: Standing | None = None
) -> str:
    said = _score(problem, comparison, interpretation)
    if standing is not None:
        by_score = "" if comparison.measure in ("accuracy", "r2") else f", by {NAMES[comparison.measure]}"
        said = f"{said[:-1]}; this is {standing.clause}{by_score}."
    if problem.groups is not None:
        said += f" Rows with the same {problem.groups.name!r} were always held out together."
    if problem.times is not None:
        rows = f"Of {len(problem.y):,} rows, {len(comparison.places):,} were held out"
        said += f" {rows}, each later by {problem.times.name!r} than all rows that it was predicted from."
    return said


def _score(problem: Problem, comparison: Comparison, interpretation: Interpretation) -> str:
    expected, plain = comparison.score, comparison.score_of(PLAIN)
    if problem.kind == "numbers":
        error, y, w = root_mean_squared_error(comparison.predictions, comparison.weights), problem.y, problem.weights
        spread = np.sqrt(np.average(np.square(y - np.average(y, weights=w)), weights=w))
        combinations = counted(interpretation.effective_dim, "combination")
        linear = comparison.chosen == MINIMUM_NORM
        said = f"A linear map of {combinations} of the columns" if linear else comparison.chosen.upper()
        if comparison.n_learners > 1:
            said += f", the simplest of {comparison.n_learners} learners near the best, {_how_often(comparison)},"
        return (
            f"{said} predicts held-out values with a typical error of "
            f"{error:.3g}, where always predicting the mean gives {spread:.3g}: it explains {expected} of the "
            f"variance, plain kNN {plain}."
        )
    chosen, measure = comparison.chosen.upper(), comparison.measure
    by_score = "" if measure == "accuracy" else f" by {NAMES[measure]}"
    how = (
        f"{expected} of held-out cases right, plain kNN {plain}"
        if measure == "accuracy"
        else f"held-out cases with a score of {expected} ({NAMES[measure]}), plain kNN {plain}, and "
        f"{comparison.right} of them right"
    )
    if comparison.n_learners == 1:
        return f"{chosen} predicts {how}."
    return (
        f"{chosen} is the simplest of {comparison.n_learners} learners near the best{by_score}, "
        f"{_how_often(comparison)}. Learners chosen this way predict {how}."
    )


def _how_often(comparison: Comparison) -> str:
    by_fold = comparison.predictions.groupby("fold")["by"].first()
    share = float((by_fold == comparison.chosen).mean())
    sure = "" if share >= AGREED else ", so which of them is best is undecided"
    return f"chosen in {round(share * len(by_fold))} of {len(by_fold)} folds{sure}"
