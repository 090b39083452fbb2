"""Drift: what an engine's pages lack beyond what chance explains.

Of each canary the pages of the last rounds are compared with those of the rounds before them. Were nothing changed, any
of these pages could as well be the last ones: the number of pages with a field among the last would be hypergeometric
(Fisher's exact test), and the sum over the canaries the convolution of theirs (`_distribution`). No share of filled
fields is fixed, and nothing is supposed of how pages differ by nature. The level of the test is divided by the number
of tests that could reach it (Tarone, "A modified Bonferroni method for discrete data", 1990).
"""

from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from math import comb, prod
from typing import NamedTuple, Self

from webdata.domain.outcome import Outcome
from webdata.stores.watch.model import OUTCOME, RESULTS, Drift, Loss, Measured, Round
from webdata.watch.layout import is_new

ERROR_RATE = 0.002
"""The probability that a round without a change is taken for a drift: less than one in 500 rounds."""
NEW_LAYOUT_FACTOR = 5
"""By which the error rate of a round is multiplied whose pages have another fingerprint."""
LAST_ROUNDS = 3
WINDOWS = (1, LAST_ROUNDS)
"""A change is looked for in the last round, and in the last three; each further test takes from the level of all."""
BASELINE_ROUNDS = 30
"""Good rounds that the last ones are compared with."""
MOST_LOSSES = 20
RECOVERED = 0.8
"""Of what the baseline lets expect: with so much of each lost field a round has recovered."""

Strata = Mapping[str, tuple[Sequence[float], Sequence[float]]]
"""The values of one field on the pages of each canary: those of the baseline, and the last ones."""


@dataclass(frozen=True)
class _Comparison:
    """A field whose values are called present above a threshold, in the baseline and in the last rounds."""

    field: str
    rounds: int
    """How many rounds are the last ones."""
    expected: float
    present: int
    probability: float
    """That the last pages have the field so seldom, by chance."""
    least: float
    """The probability that they do not have it at all, which is the least that the test can find."""
    before: float
    now: float


@dataclass(frozen=True)
class _Values:
    """A round by what its pages are compared by: the canary of each, and the values of its fields."""

    good: bool
    pages: Sequence[tuple[str, Mapping[str, float]]]


def look(rounds: Sequence[Round], drift: Drift | None) -> Drift | None:
    """The drift after the last of the rounds, which are the last ones of an engine, the oldest first.

    `drift` is that before it: it stays until what was lost is there again, with what is lost besides.
    """
    if drift and _has_recovered(rounds, drift):
        drift = None
    if drift is None:
        rounds = [one for one in rounds if one.good]  # those of an earlier drift are neither usual nor news
    found = _found(rounds)
    if not found:
        return drift
    known = drift.losses if drift else ()
    new = [one for one in found if one.field not in {loss.field for loss in known}]
    if not new:
        return drift
    losses = (*known, *(Loss(one.field, one.before, one.now) for one in new))[:MOST_LOSSES]
    since = drift.since if drift else rounds[-max(one.rounds for one in new)].time
    return Drift(since, losses, _is_new_layout(rounds), drift.sample if drift else None)


def _found(rounds: Sequence[Round]) -> list[_Comparison]:
    """The fields that are lost, the surest first, each from the fewest rounds that show it."""
    values = _valued(rounds)
    made = [one for last in WINDOWS for one in _comparisons(values, last)]
    rate = ERROR_RATE * (NEW_LAYOUT_FACTOR if _is_new_layout(rounds) else 1)
    level = _level([one.least for one in made], rate)
    by_field: dict[str, _Comparison] = {}
    for one in made:
        if one.probability <= level:
            by_field.setdefault(one.field, one)
    return sorted(by_field.values(), key=lambda one: one.probability)


def _level(least: Sequence[float], rate: float) -> float:
    """The level of each test, so that all tests together are wrong at this rate at most."""
    tests = 1
    while sum(1 for one in least if one <= rate / tests) > tests:
        tests += 1
    return rate / tests


def _has_recovered(rounds: Sequence[Round], drift: Drift) -> bool:
    lost_fields = {loss.field for loss in drift.losses}
    made = [one for one in _comparisons(_valued(rounds), 1) if one.field in lost_fields]
    return bool(made) and all(one.present >= RECOVERED * one.expected for one in made)


def _comparisons(rounds: Sequence[_Values], last: int) -> Iterator[_Comparison]:
    """The comparisons of so many last rounds with the good ones before them."""
    if len(rounds) <= last:
        return
    before = [one for one in rounds[:-last] if one.good][-BASELINE_ROUNDS:]
    for name, strata in _by_field(before, rounds[-last:]).items():
        pooled = sorted(value for values in strata.values() for side in values for value in side)
        for threshold in _thresholds(pooled):
            yield _compared(name, last, strata, threshold)


def _thresholds(values: Sequence[float]) -> Sequence[float]:
    """Above which sorted values are called present: at all, half of what is high, most of what is low."""
    found = (0.0, values[len(values) * 3 // 4] / 2, values[len(values) // 4] * RECOVERED)
    return list({bisect(values, threshold): threshold for threshold in found}.values())


def _by_field(before: Sequence[_Values], after: Sequence[_Values]) -> dict[str, Strata]:
    """The values of each field on the pages of both; a canary that only one of them has is left out."""
    fields: dict[str, dict[str, tuple[list[float], list[float]]]] = {}
    for side, rounds in enumerate((before, after)):
        for canary, values in (page for one in rounds for page in one.pages):
            for name, value in values.items():
                fields.setdefault(name, {}).setdefault(canary, ([], []))[side].append(value)
    compared = {
        name: {canary: values for canary, values in strata.items() if all(values)} for name, strata in fields.items()
    }
    return {name: strata for name, strata in compared.items() if strata}


def _container(path: str) -> str:
    """The path of the items that a field is one of; empty for one of the record itself."""
    return path.rpartition("[]")[0]


def _valued(rounds: Sequence[Round]) -> list[_Values]:
    """The rounds by their values: a field that any page has is empty on each page that has a place for it."""
    places: dict[str, str] = {}
    for page in (page for one in rounds for page in one.pages):
        places |= {path: _container(path) for path in page.fields.keys() - places.keys()}
    return [_Values(one.good, [(page.canary, _values(page, places)) for page in one.pages]) for one in rounds]


def _values(page: Measured, places: Mapping[str, str]) -> dict[str, float]:
    """What a page is compared by; without results there are no fields to compare."""
    if page.outcome != Outcome.OK:
        return {OUTCOME: 0.0}
    own = {places[path] for path in page.fields}
    empty = dict.fromkeys((path for path, place in places.items() if place in own), 0.0)
    shares = {path: filled / number for path, (filled, number) in page.fields.items()}
    return {OUTCOME: 1.0, RESULTS: float(page.results), **empty, **shares}


def _compared(name: str, last: int, strata: Strata, threshold: float) -> _Comparison:
    drawn = [_Draw.of(before, after, threshold) for before, after in strata.values()]
    present = sum(draw.found for draw in drawn)
    expected = sum(draw.has * draw.drawn / draw.pages for draw in drawn)
    distribution = _distribution(drawn)
    return _Comparison(
        name,
        last,
        expected,
        present,
        1.0 if present >= expected else sum(distribution[: present + 1]),
        next(filter(None, distribution)),
        _mean([value for before, _ in strata.values() for value in before]),
        _mean([value for _, after in strata.values() for value in after]),
    )


class _Draw(NamedTuple):
    """The last pages as if they were drawn of all: how many there are, have the field, are drawn, and have it there."""

    pages: int
    has: int
    drawn: int
    found: int

    @classmethod
    def of(cls, before: Sequence[float], after: Sequence[float], threshold: float) -> Self:
        found = sum(value > threshold for value in after)
        has = found + sum(value > threshold for value in before)
        return cls(len(before) + len(after), has, len(after), found)


def _distribution(draws: Sequence[_Draw]) -> Sequence[float]:
    """The probability of each number of the last pages that have a field: canary by canary, or of all as one.

    The one that can find more is taken, which does not depend on what was found: canary by canary where these differ
    from each other, all as one where they do not.
    """
    all_as_one = _hypergeometric(*(sum(counts) for counts in list(zip(*draws, strict=True))[:3]))
    by_canary = [_hypergeometric(*draw[:3]) for draw in draws]
    least_of_one = next(filter(None, all_as_one))
    if least_of_one < prod(next(filter(None, chances)) for chances in by_canary):
        return all_as_one
    return reduce(_sum, by_canary)


@lru_cache(1024)
def _hypergeometric(pages: int, has: int, drawn: int) -> tuple[float, ...]:
    """The probability of each number of pages that have a field, among some that are drawn of all."""
    return tuple(
        comb(has, number) * comb(pages - has, drawn - number) / comb(pages, drawn) for number in range(drawn + 1)
    )


def _sum(one: Sequence[float], other: Sequence[float]) -> Sequence[float]:
    """The distribution of the sum of two independent numbers."""
    made = [0.0] * (len(one) + len(other) - 1)
    for number, chance in enumerate(one):
        for further, its_chance in enumerate(other):
            made[number + further] += chance * its_chance
    return made


def _is_new_layout(rounds: Sequence[Round]) -> bool:
    """Whether the pages of the last round have another fingerprint than those of the good rounds before it."""
    before: dict[str, list[tuple[int, ...]]] = {}
    for page in (page for one in rounds[:-1] if one.good for page in one.pages if page.layout):
        before.setdefault(page.canary, []).append(page.layout)
    last = [page for page in rounds[-1].pages if page.layout and page.canary in before]
    return bool(last) and all(is_new([page.layout], before[page.canary][-LAST_ROUNDS * 2 :]) for page in last)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
