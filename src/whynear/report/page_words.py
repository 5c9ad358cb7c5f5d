"""Paragraphs of a page that depend on how a study was made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whynear.study.score import MEANINGS, NAMES

if TYPE_CHECKING:
    from whynear.study.result import Study

MOST_CLASSES = 12  # named with their rows


def note_on_intervals(study: Study) -> str:
    """Return what an interval of a weight is."""
    relevance = study.relevance
    averaged = (
        " This metric has a map for each case; the intervals are those of their mean."
        if study.interpretation.averaged
        else ""
    )
    return (
        "Many metrics treat these cases almost alike. The interval runs from the least to the most weight that a "
        f"feature can have in one of nearly the smallest norm, {relevance.units}, among those that "
        f"{relevance.agreement}. Intervals describe the metric that predicts; verdicts come from refitting.{averaged}"
    )


def how_well(study: Study) -> str:
    """Return what score to expect, and for which cases."""
    comparison, problem = study.comparison, study.problem
    other = comparison.measure not in ("accuracy", "r2")
    if other:
        said = f"The {NAMES[comparison.measure]} of held-out predictions is {comparison.score}"
    else:
        of = "the variance is explained" if problem.kind == "numbers" else "held-out cases are predicted right"
        said = f"{comparison.score} of {of}"
    said += f": what to expect on {'new' if problem.times is None else 'later'} cases"
    if problem.groups is None:
        said += " (± standard error)."
    else:
        said += f" whose “{problem.groups.name}” is new too (± standard error over {problem.groups.nunique()} groups)."
    if problem.times is not None:
        said += (
            f" Of {len(problem.y):,} rows, {len(comparison.places):,} were held out, each later by "
            f"“{problem.times.name}” than all rows that it was predicted from."
        )
    if other:
        said += (
            f" It is {MEANINGS[comparison.measure]}. {comparison.right} of held-out cases are predicted right. What "
            "is lost without features is stated in points of accuracy."
        )
    return said


def facts_of_table(study: Study) -> list[list[str]]:
    """Return what the table holds, a name and a text each."""
    problem = study.problem
    facts = [
        ["source", problem.source],
        ["rows, features", f"{problem.X.shape[0]:,}, {problem.X.shape[1]:,}"],
        ["target", problem.target],
    ]
    if study.spectra is not None:
        n_channels, n_bands = len(study.spectra.axis.columns), len(study.spectra.bands.names)
        facts.append(["spectrum", f"{n_channels:,} channels in {n_bands} bands"])
    if problem.range is not None:
        facts.append(["values", f"{problem.range[0]:.4g} to {problem.range[1]:.4g}"])
    else:
        shown = ", ".join(f"{name} ({count:,})" for name, count in problem.classes[:MOST_CLASSES])
        more = len(problem.classes) - MOST_CLASSES
        facts.append(["classes", f"{shown} and {more} more" if more > 0 else shown])
    return [*facts, ["columns", problem.summary]]


def how_it_was_done(study: Study) -> str:
    """Return how models were fitted, compared and chosen, and where verdicts and intervals come from."""
    problem, folds = study.problem, study.settings["folds"]
    said = []
    if study.spectra is not None:
        said.append(
            "Within every fold, the preprocessing of the spectra was chosen by ridge regression, which predicted each "
            "training row from the others; all methods of the fold share it."
        )
    filled = ", after missing values were filled in" if problem.columns["missing"].any() else ""
    said.append(f"Within every fold, constant columns were left out and the others standardised{filled}.")
    said.append(_comparison_of_numbers(folds) if problem.kind == "numbers" else _comparison_of_classes(study, folds))
    if problem.groups is not None:
        same = f"rows with the same “{problem.groups.name}”"
        said.append(f"Wherever rows were held out, {same} were held out together.")
    if problem.times is not None:
        said.append(
            "Wherever rows were held out, for the comparison, the choices within it, the tolerance and the verdicts, "
            f"they were later by “{problem.times.name}” than all rows learned from; the first rows were never held "
            "out, and the maps show the others."
        )
    said.append(
        "For the verdicts, kernel ridge models of four shapes and the learner were refitted without each feature "
        "(without blocks of like features first where there are many); a feature is indispensable only if the loss of "
        "held-out rows rises significantly (Holm's correction for all features). The intervals are solutions of "
        "linear programs with the certificate below."
    )
    if "categories" in problem.columns["kind"].tolist():
        said.append("The weights of all categories of a column are summed.")
    return " ".join(said)


def _comparison_of_numbers(folds: int) -> str:
    return (
        "A linear map of least norm was compared with plain kNN, ridge regression, PLS and the mean on "
        f"{folds} held-out folds; the number of directions of the data that it uses, the penalty of ridge regression "
        "and the number of components of PLS were chosen within every fold."
    )


def _comparison_of_classes(study: Study, folds: int) -> str:
    measure = study.comparison.measure
    stratified = "stratified " if study.problem.times is None else ""
    by_score = "" if measure == "accuracy" else f" by {NAMES[measure]}"
    if study.comparison.n_learners == 1:
        return (
            f"{study.comparison.chosen.upper()} was compared with plain kNN and NCA on {folds} held-out "
            f"{stratified}folds, and fitted to all rows."
        )
    return (
        f"Learners were compared with plain kNN and NCA on {folds} held-out {stratified}folds, and the simplest within "
        f"one standard error of the best{by_score} was fitted to all rows."
    )
