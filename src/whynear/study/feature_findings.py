"""What a study says about features, in sentences: how few suffice, what none can replace, and what may be left out."""

from __future__ import annotations

from collections.abc import Sequence

from whynear.utils.text import counted, joined, printable
from whynear.verdict import SufficientSets, Verdicts
from whynear.verdict.rules import INDISPENSABLE, MOST_LOSS, NO_EVIDENCE, REPLACEABLE, UNDECIDED

MOST_NAMED = 5  # features in a sentence
MOST_MEMBERS = 10  # of the smallest set
POINTS = "percentage points"


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
    return [
        _indispensable(verdicts, noun),
        *_replaceable(verdicts, noun),
        *_rest(verdicts, noun),
    ]


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
