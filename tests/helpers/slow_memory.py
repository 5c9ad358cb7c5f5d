"""A self-adjusting memory that computes everything anew after every case, as the paper describes it."""

import math
from dataclasses import dataclass, field

import numpy as np

from whynear.stream.kernels import PLAIN, RAW, STANDARD, Rule
from whynear.stream.memory import Compression, learn, new_memory


def sq_distances(cases, x, weights, own=None):
    """Sums over features, in their order; ``own`` are weights of each case."""
    total = np.zeros(len(cases))
    for f, weight in enumerate(weights):
        difference = np.array([case[f] for case in cases]) - x[f]
        total += weight * (1.0 if own is None else np.array([v[f] for v in own])) * difference * difference
    return total


def sq_to(cases, x, weights):
    """Squared distances to remembered cases, by the weights of each."""
    return sq_distances([case.x for case in cases], x, weights, [case.own for case in cases])


def nearest(sq, k):
    """The places of the k nearest; of equal ones the later first."""
    return sorted(range(len(sq)), key=lambda i: (sq[i], -i))[:k]


@dataclass
class Remembered:
    x: np.ndarray
    code: int
    number: int
    own: np.ndarray  # its weights
    sq: np.ndarray | None = None  # distances to all earlier cases of the stream, by the metric of its time
    right: tuple = ()


@dataclass
class SlowMemory:
    k: int
    min_size: int
    max_size: int
    max_long: int
    squared: bool = True
    recent: bool = True
    compression: str = "pairs"
    seed: int = 0
    kind: int = PLAIN
    step: float = 1.0
    decay: float = 0.01
    case_weights: bool = False
    short: list = field(default_factory=list)
    long: list = field(default_factory=list)
    every: list = field(default_factory=list)

    def begin(self, d):
        self.logs, self.weights = np.zeros(d), np.zeros(d) if self.kind == STANDARD else np.ones(d)

    def vote(self, sq, codes):
        votes = {}
        for value, code in zip(sq, codes, strict=True):
            if sq[0] == 0:
                weight = 1.0 if value == 0 else 0.0
            else:
                weight = sq[0] / value if self.squared else math.sqrt(sq[0] / value)
            votes[code] = votes.get(code, 0.0) + weight
        return max(sorted(votes), key=lambda code: votes[code]) if votes else -1

    def voted(self, sq, cases):
        places = nearest(sq, self.k)
        return self.vote([sq[i] for i in places], [cases[i].code for i in places])

    def by_all(self, x):
        """What the short-term memory, the long-term memory and both predict."""
        sq_short, sq_long = sq_to(self.short, x, self.weights), sq_to(self.long, x, self.weights)
        both = [(sq_short[i], 0, place, self.short[i]) for place, i in enumerate(nearest(sq_short, self.k))]
        both += [(sq_long[i], 1, place, self.long[i]) for place, i in enumerate(nearest(sq_long, self.k))]
        both = sorted(both, key=lambda entry: entry[:3])[: self.k]
        return (
            self.voted(sq_short, self.short),
            self.voted(sq_long, self.long),
            self.vote([entry[0] for entry in both], [entry[3].code for entry in both]),
        )

    def choice(self):
        counts = [sum(case.right[kind] for case in self.short) for kind in range(3)]
        return counts.index(max(counts)) if self.long else 0

    def learn(self, x, code):
        """Predict and then learn a case; return the prediction."""
        if not self.every:
            self.begin(len(x))
        found = self.by_all(x)
        prediction = found[self.choice()]
        self.now = self.weights.copy()
        case = Remembered(x, code, len(self.every), np.ones(len(x)), sq_to(self.every, x, self.now))
        case.right = tuple(label == code for label in found)
        hit, miss = self.hit_and_miss(case)
        self.every.append(case)
        self.short.append(case)
        self.move_weights(x, hit, miss)
        self.clean_by_newest(by_weights_of_now=self.make_smaller())
        self.adjust()
        return prediction

    def hit_and_miss(self, case):
        found = []
        for same in (True, False):
            places = [other.number for other in self.short if (other.code == case.code) == same]
            best = nearest([case.sq[number] for number in places], 1)
            found.append(self.every[places[best[0]]] if best else None)
        return found

    def move_weights(self, x, hit, miss):
        if self.kind != PLAIN and hit is not None and miss is not None:
            own, other = (self.weights * case.own * (x - case.x) ** 2 for case in (hit, miss))
            plus, minus = own.sum(), other.sum()
            if plus > 0 and minus > 0:
                sigma = 1 / (1 + math.exp(-2 * (plus - minus) / (plus + minus)))
                pull = self.step * 4 * sigma * (1 - sigma) * 2 * plus * minus / (plus + minus) ** 2
                kept = 1 - self.decay if plus > minus else 1.0
                self.logs = kept * self.logs - pull * (own / plus - other / minus)
                self.logs = np.clip(self.logs - self.logs.mean(), -6, 6)
                if self.case_weights:
                    for case, gradient in ((hit, own / plus), (miss, -other / minus)):
                        logs = kept * np.log(case.own) - pull * gradient
                        case.own = np.exp(np.clip(logs - logs.mean(), -6, 6))
        seen = np.array([case.x for case in self.every])
        variances = np.var(seen, axis=0)
        constant = np.ptp(seen, axis=0) == 0
        if self.kind == RAW:
            self.weights = np.exp(self.logs)
        if self.kind == STANDARD:
            self.weights = np.where(constant, 0.0, np.exp(self.logs) / np.where(constant, 1.0, variances))

    def make_smaller(self):
        """Return whether the memories were too large."""
        if len(self.short) + len(self.long) <= self.max_size:
            return False
        n = max(0, self.max_long - len(self.long) + 1)
        self.long, self.short = self.long + self.short[:n], self.short[n:]
        self.compress()
        surplus = len(self.short) + len(self.long) - self.max_size
        self.long = self.long[max(0, surplus) :]
        return True

    def compress(self):
        for code in sorted({case.code for case in self.long}):
            members = [case for case in self.long if case.code == code]
            n_left = (len(members) + 1) // 2
            if self.compression == "pairs":
                kept = self.joined(members, n_left)
            else:
                rng = np.random.default_rng([self.seed, len(self.every), code])
                drawn = np.sort(rng.choice(len(members), n_left, replace=False))
                kept = self.clustered(members, drawn)
            kept = {case.number: case for case in kept}
            self.long = [kept.get(case.number) if case.code == code else case for case in self.long]
            self.long = [case for case in self.long if case is not None]

    def joined(self, members, n_left):
        while len(members) > n_left:
            table = np.array([sq_distances([other.x for other in members], case.x, self.weights) for case in members])
            np.fill_diagonal(table, np.inf)
            partners = table.argmin(axis=1)
            order = sorted(range(len(members)), key=lambda i: (table[i, partners[i]], i))
            used, new = set(), dict(enumerate(members))
            for i in order:
                pair = {i, int(partners[i])}
                if pair & used or len(new) == n_left:
                    continue
                used |= pair
                early, late = members[min(pair)], members[max(pair)]
                new[max(pair)] = Remembered((late.x + early.x) / 2, late.code, late.number, (late.own + early.own) / 2)
                del new[min(pair)]
            members = [new[i] for i in sorted(new)]
        return members

    def clustered(self, members, drawn):
        cases, before = np.array([[*case.x, *case.own] for case in members]), None
        centres, d = cases[drawn], len(self.weights)
        while True:
            own = np.array([sq_distances(centres, x, self.weights).argmin() for x in cases])
            if before is not None and (own == before).all():
                found = zip(centres, (members[i] for i in drawn), strict=True)
                return [Remembered(centre[:d], case.code, case.number, centre[d:]) for centre, case in found]
            before = own
            for j in range(len(centres)):
                if (own == j).any():
                    centres[j] = sum(cases[own == j][1:], cases[own == j][0].copy()) / (own == j).sum()

    def clean(self, case, others, weights, sq=None):
        """What is left of other cases after those that contradict a case of the short-term memory are removed."""
        rest = [other for other in self.short if other is not case]
        sq = sq_to(rest, case.x, weights) if sq is None else sq
        sq_others = sq_to(others, case.x, weights)
        agreeing = [sq[i] for i in nearest(sq, self.k) if rest[i].code == case.code]
        if not agreeing:
            return others
        gone = {i for i in nearest(sq_others, self.k) if others[i].code != case.code and sq_others[i] <= max(agreeing)}
        return [other for i, other in enumerate(others) if i not in gone]

    def clean_by_newest(self, by_weights_of_now):
        """Clean by the distances when the newest case came, or, with other memories, by the weights of cases of now."""
        if len(self.short) > self.k:
            case = self.short[-1]
            sq = None if by_weights_of_now else [case.sq[other.number] for other in self.short[:-1]]
            self.long = self.clean(case, self.long, self.now, sq)

    def right_within(self, size):
        """Whether each case of the latest ones is predicted rightly by the earlier ones among these."""
        window = self.short[-size:]
        right = []
        for i in range(self.k, size):
            sq = [window[i].sq[other.number] for other in window[:i]]
            right.append(self.voted(sq, window[:i]) == window[i].code)
        return right

    def adjust(self):
        sizes = [len(self.short)]
        while sizes[-1] // 2 >= self.min_size:
            sizes.append(sizes[-1] // 2)
        right = [self.right_within(size) for size in sizes]
        if len(sizes) == 1:
            return
        best = 0
        for level in range(1, len(sizes)):
            if sum(right[level]) * len(right[best]) > sum(right[best]) * len(right[level]):
                best = level
        if best == 0 and self.recent:
            best = self.clearly_better(sizes, right)
        if best:
            old, self.short = self.short[: -sizes[best]], self.short[-sizes[best] :]
            if len(self.short) > self.k:
                for case in self.short:
                    old = self.clean(case, old, self.weights)
            self.long = self.long + old

    def clearly_better(self, sizes, right):
        best, clearest = 0, 3.0
        for level in range(1, len(sizes)):
            half = sizes[level] // 2
            within = np.array([False] * self.k + right[level])[-half:].astype(int)
            whole = np.array([False] * self.k + right[0])[-half:].astype(int)
            gains, losses = (within > whole).sum(), (within < whole).sum()
            if gains > losses and (gains - losses) / math.sqrt(gains + losses) > clearest:
                best, clearest = level, (gains - losses) / math.sqrt(gains + losses)
        return best


def drifting_stream(seed, n=200, d=3, grid=False, n_classes=3):
    """Cases whose classes depend on other features after each of two changes; with a grid, many distances are equal."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, d)).astype(float) if grid else rng.standard_normal((n, d)) * rng.uniform(0.2, 5, d)
    y = np.empty(n, dtype=np.int64)
    for part in np.array_split(np.arange(n), 3):
        score = X[part] @ rng.standard_normal(d) + rng.standard_normal(len(part)) * 0.1
        y[part] = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    return X, y


def learned(X, y, kind=PLAIN, case_weights=False):
    """A compiled memory after a stream."""
    rule = Rule(3, 8, 60, 24, True, True, kind, step=1.0, decay=0.01, case_weights=case_weights)
    found = np.empty(len(X), dtype=np.int64)
    return learn(new_memory(X.shape[1], rule), rule, Compression("pairs", 0), X, y, int(y.max()) + 1, found)
