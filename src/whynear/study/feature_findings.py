"""Findings about features: verdicts, copies of the target, rivals, directions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.data.caveats import features_as_codes
from whynear.data.rows import error_of_mean
from whynear.explain.value_explanation import LinearParts, is_linear_map
from whynear.learn.registry import MINIMUM_NORM
from whynear.study.comparison import Comparison
from whynear.study.methods import PLAIN, PLS, RIDGE
from whynear.study.score import NAMES, Measure, Score, counting, direction, parts_of, score_of, shown, weighted_parts
from whynear.utils.arrays import Array
from whynear.utils.text import counted, joined, printable
from whynear.verdict import SufficientSets, Verdicts
from whynear.verdict.rules import INDISPENSABLE, MOST_LOSS, NO_EVIDENCE, REPLACEABLE, UNDECIDED

MOST_NAMED = 5  # features
FEWEST_FOLDS = 3
STANDARD_ERRORS = 2.0  # by which a coefficient must differ from zero
RIVALS = (PLAIN, RIDGE, PLS)
ONE_SIDED_95 = 1.645  # quantile of the normal distribution
MOST_MEMBERS = 10  # of the smallest set
POINTS = "percentage points"


def sign_sentence(target: str, comparison: Comparison, verdicts: Verdicts) -> str | None:
    """Return which indispensable features raise and lower the target; None where no sign is sure.

    The coefficients are the means over the models of the folds. A sign is sure if the mean differs from zero by two of
    its standard errors (the jackknife over the folds).
    """
    slopes = _slopes(comparison)
    if slopes is None:
        return None
    names, values = slopes
    mean, n_folds = values.mean(axis=0), len(values)
    error = np.sqrt((n_folds - 1) / n_folds * np.square(values - mean).sum(axis=0))
    sure = {name: m for name, m, e in zip(names, mean, error, strict=True) if abs(m) > STANDARD_ERRORS * e}
    shown = [(name, float(sure[name])) for name in verdicts.named(INDISPENSABLE) if name in sure][:MOST_NAMED]
    if not shown:
        return None
    parts = [f"higher “{printable(name)}” with {_side(slope)} ({slope:+.3g} per unit)" for name, slope in shown]
    first, slope = shown[0]
    parts[0] = f"higher “{printable(first)}” goes with {_side(slope)} “{printable(target)}” ({slope:+.3g} per unit)"
    joined = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"With the other features equal, {joined}."


def _slopes(comparison: Comparison) -> tuple[tuple[str, ...], np.ndarray] | None:
    """Return the features, and their coefficients in the model of each fold, NaN for categories; None if not linear."""
    fitted = comparison.fitted
    if len(fitted) < FEWEST_FOLDS or not all(is_linear_map(one.learner) for one in fitted):
        return None
    parts = [LinearParts(one) for one in fitted]
    return parts[0].features, np.array([one.coefficients for one in parts])


def _side(slope: float) -> str:
    return "higher" if slope > 0 else "lower"


def better_rival(comparison: Comparison) -> str | None:
    """Return a sentence that names the best rival of the model if it predicts better, else None.

    It does if the mean difference of the losses over held-out rows is more than 1.645 of its standard errors, and the
    scores still differ when rounded. The losses are squared errors, or for classes the parts of the rows in the score.
    """
    rivals = [name for name in RIVALS if name in comparison.by_method]
    measure = comparison.measure
    best = max(rivals, key=lambda name: direction(measure) * comparison.score_of(name).value)
    rival, own = (shown(score.value, measure) for score in (comparison.score_of(best), comparison.score))
    of_own = _losses(comparison, comparison.predictions["predicted"], comparison.probabilities)
    excess = of_own - _losses(comparison, comparison.by_method[best], comparison.probabilities_by_method.get(best))
    groups = None if comparison.groups is None else comparison.groups.to_numpy()[counting(comparison.weights)]
    if rival == own or excess.mean() <= ONE_SIDED_95 * error_of_mean(excess, groups):
        return None
    name = best[0].upper() + best[1:]
    if comparison.chosen != MINIMUM_NORM:
        wholes = {"accuracy": "of held-out cases right", "r2": "of the variance explained"}
        of_what = wholes.get(measure, f"in {NAMES[measure]}")
        return (
            f"{name} predicts better than the learned metric ({rival} against {own} {of_what}): what "
            "follows describes a metric that the table does not ask for."
        )
    why = (
        "the target may depend on the features in a way that is not linear, and in bins (--bins 3) it may show more."
        if best == PLAIN
        else "what follows describes a map that is not the best for prediction."
    )
    return f"{name} predicts better than the linear map ({rival} against {own} of the variance explained): {why}"


def _losses(comparison: Comparison, predicted: pd.Series, probabilities: pd.DataFrame | None) -> Array:
    true, found, weights = comparison.predictions["true"].to_numpy(), predicted.to_numpy(), comparison.weights
    if comparison.measure == "r2":
        return weighted_parts(np.square(true - found), weights)
    return -direction(comparison.measure) * parts_of(true, found, comparison.measure, probabilities, weights)


def copies_across_folds(X: pd.DataFrame, fold: pd.Series) -> NDArray[np.bool_]:
    """Return which rows have all features in common with a row of another fold.

    Where the first rows are in no fold (0), folds follow in time, and only a row of an earlier one counts.

    >>> copies_across_folds(pd.DataFrame({"a": [5.0, 5.0, 6.0, 6.0]}), pd.Series([1, 2, 1, 1])).tolist()
    [True, True, False, False]
    """
    number, alike = pd.Series(fold.to_numpy()), features_as_codes(X)
    if (number == 0).any():
        return (number.groupby(alike).transform("min") < number).to_numpy()
    return (number.groupby(alike).transform("nunique") > 1).to_numpy()


def caveats_of_copies(X: pd.DataFrame, comparison: Comparison) -> list[str]:
    """Return a caveat with the number of copies across folds, and the score without them; none if there are none."""
    predictions, groups = comparison.predictions, comparison.groups
    fold = np.zeros(len(X), dtype=int)
    fold[comparison.places] = predictions["fold"]
    copied = copies_across_folds(X, pd.Series(fold))[comparison.places]
    if not copied.any():
        return []
    if copied.all():
        return [
            "Every held-out row has a copy among the rows it was predicted from: nothing here says how well new rows "
            "are predicted."
        ]
    new = predictions[~copied]
    of_new = None if groups is None else groups[~copied]
    measure, shares = comparison.measure, comparison.probabilities
    of_new_rows = None if shares is None else shares[~copied]
    weights = None if comparison.weights is None else comparison.weights[~copied]
    score = score_of(new["true"].to_numpy(), new["predicted"].to_numpy(), measure, of_new, of_new_rows, weights)
    one, several = "row has a copy among the rows it was", "rows have a copy among the rows they were"
    rows = f"{counted(int(copied.sum()), f'held-out {one}', f'held-out {several}')} predicted from"
    return [f"{rows}; {_of_others(measure, score)}." if np.isfinite(score.value) else f"{rows}."]


def _of_others(measure: Measure, score: Score) -> str:
    if measure == "accuracy":
        return f"of the others, {score} are predicted right"
    if measure == "r2":
        return f"of the others, {score} of the variance is explained"
    return f"the {NAMES[measure]} of the others is {score}"


def set_sentences(verdicts: Verdicts, noun: str = "feature") -> list[str]:
    """Return how few features suffice, and whether folds choose other ones; ``noun`` is what a feature is called."""
    return [_sufficient(verdicts, noun), *_other_choices(verdicts.sets, noun)] if verdicts.works else []


def feature_sentences(verdicts: Verdicts, noun: str = "feature") -> list[str]:
    """Return which features none can replace, and which may be left out."""
    if not verdicts.works:
        return [
            f"No model is shown to predict the target better than chance from these {noun}s, so nothing can be said "
            "about which of them decide."
        ]
    return [_indispensable(verdicts, noun), *_replaceable(verdicts, noun), *_rest(verdicts, noun)]


def stand_in_sentences(verdicts: Verdicts) -> tuple[str, ...]:
    """Return for each member of the smallest set that has stand-ins who they are and what they cost."""
    made = []
    for name in verdicts.sets.best:
        pairs = verdicts.stand_ins.of(name)
        if pairs:
            named = [f"“{printable(pair.stand_in)}” ({_price(pair.price, pair.error)})" for pair in pairs]
            made.append(f"“{printable(name)}” can be replaced by {joined(named, 'or')}.")
    return tuple(made)


def caveats_of_models(verdicts: Verdicts) -> list[str]:
    """Return a caveat where a model that measures no distances predicts better than those that do."""
    better = verdicts.sets.better_model
    if better is None or not verdicts.works:
        return []
    name = f"{better.name[0].upper()}{better.name[1:]}"
    what = "right" if verdicts.measure == "accuracy" else "of the variance"
    others, no_metric = "metrics and kernel models do", "no metric shows"
    if better.learner_only:
        others, no_metric = "the learner of this study does", "its metric does not show"
    return [
        f"{name} predicts {better.n_rows:,} held-out rows better than {others} ({better.score:.1%} {what} against "
        f"{better.score_of_distances:.1%}): the target may depend on features in a way that {no_metric}."
    ]


def _sufficient(verdicts: Verdicts, noun: str) -> str:
    sets, total = verdicts.sets, len(verdicts.feature_names)
    if len(sets.best) == total:
        if total == 1:
            return f"The only {noun} is needed."
        if len(verdicts.named(INDISPENSABLE)) == total:
            return f"All {total:,} {noun}s are needed: no smaller set predicts as well."
        return f"No smaller set is shown to predict as well as all {total:,} {noun}s."
    lost = 100 * (sets.score_of_all - sets.score)
    how_much = "no " if lost < 0.05 else f"{lost:.1f} ± {100 * sets.lost_error:.1f} {POINTS} "
    suffice = f"{noun if total == 1 else f'{noun}s'} {'suffices' if len(sets.best) == 1 else 'suffice'}"
    alone = f"with {listed_features(sets.best, MOST_MEMBERS)} alone, {how_much}{_less(verdicts)} than with all"
    return f"{len(sets.best):,} of {total:,} {suffice}: {alone}."


def _less(verdicts: Verdicts) -> str:
    """Return what there is less of where features are left out."""
    return "fewer rows are predicted right" if verdicts.measure == "accuracy" else "less of the variance is explained"


def _other_choices(sets: SufficientSets, noun: str) -> list[str]:
    """Return a sentence on the folds that choose another set; nothing if none does."""
    total, same = len(sets.by_fold), sum(set(chosen) == set(sets.best) for chosen in sets.by_fold)
    if same == total:
        return []
    others = "one chooses another" if total - same == 1 else f"{total - same} choose other ones"
    folds = f"{same} of {total} folds {'chooses' if same == 1 else 'choose'} the same set, the other {others}"
    said = f"{folds if same else f'Each of {total} folds chooses another set'} of similar size"
    if len(sets.best) == 1:
        return [f"{said}."]
    always = [name for name in sets.by_fold[0] if all(name in chosen for chosen in sets.by_fold)]
    shared = f"{listed_features(always)} {'is' if len(always) == 1 else 'are'}" if always else f"no {noun} is"
    return [f"{said}; {shared} in all of them."]


def _indispensable(verdicts: Verdicts, noun: str) -> str:
    names = verdicts.named(INDISPENSABLE)
    if not names:
        about = "" if verdicts.named(UNDECIDED) else ": without any one of them the others do about as well"
        return f"No single {noun} is shown to be indispensable{about}."
    losses = dict(zip(verdicts.feature_names, verdicts.loss, strict=True))
    first, *others = names[:MOST_NAMED]
    shown = [f"without “{printable(first)}” {losses[first]:.1f} {POINTS} {_less(verdicts)}"]
    shown += [f"without “{printable(name)}” {losses[name]:.1f}" for name in others]
    more = f"; and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    one, several = "is indispensable, no other can replace it", "are indispensable, no others can replace them"
    return f"{counted(len(names), f'{noun} {one}', f'{noun}s {several}')}: {joined(shown, 'and')}{more}."


def _replaceable(verdicts: Verdicts, noun: str) -> list[str]:
    names = verdicts.named(REPLACEABLE)
    if not names:
        return []
    leaving = "Leaving it out" if len(names) == 1 else "Leaving out any one of them"
    carry = counted(len(names), f"{noun} carries", f"{noun}s carry")
    shared = f"{carry} information that others carry too: {listed_features(names)}."
    return [f"{shared} {leaving} costs at most {MOST_LOSS:g} {POINTS}."]


def _rest(verdicts: Verdicts, noun: str) -> list[str]:
    said = []
    if names := verdicts.named(NO_EVIDENCE):
        shown = listed_features(names)
        many = f"There is no evidence that {len(names):,} {noun}s help: {shown}."
        said.append(f"There is no evidence that {shown} helps." if len(names) == 1 else many)
    if names := verdicts.named(UNDECIDED):
        are = counted(len(names), f"{noun} is", f"{noun}s are")
        said.append(f"{are} undecided, because the rows do not settle it: {listed_features(names)}.")
    return said


def listed_features(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """Return the first few names, in quotes, and the number of the others."""
    shown = [f"“{printable(name)}”" for name in names[:most]]
    if len(names) > most:
        return f"{', '.join(shown)} and {len(names) - most:,} more"
    return joined(shown)


def _price(price: float, error: float) -> str:
    if abs(price) < 0.05:
        return f"0.0 ± {error:.1f} points"
    return f"{abs(price):.1f} ± {error:.1f} points {'lost' if price > 0 else 'gained'}"
