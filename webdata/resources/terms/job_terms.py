"""Parses the terms of a job search into a position and a place: "nurse in Austin, TX" and "nurse Austin" are equal.

A place follows "in" or "near", or it is a place of North America at the end of the terms. An unknown town counts only
after "in" or after a comma: the place of "nurse Round Hill, TX" is Texas, so that no name is split.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from webdata.resources.terms.north_america import (
    BARE_CODES,
    COUNTRIES,
    ELSEWHERE,
    OTHER_NAMES,
    STATES,
    TOWNS,
    WORDS,
)

ANYWHERE = "North America"

IN = re.compile(r"(?:^|\s)(in|near|around|close to|en|à)\s+(the\s+)?", re.IGNORECASE)
NEAR = ("near", "around", "close to")
FOREIGN_IN = ("en", "à")
"""Of Mexico and Quebec; they count only before a known place."""
GLUED = re.compile(r",(?=[^\W\d_])")
"""A comma without a space before the next word: `nurse,Austin,TX`."""
NEAR_ME = re.compile(r"\s*\b(?:near me|nearby|near by|close to me|around me)$", re.IGNORECASE)
NO_PLACES = re.compile(
    r"(?:a|an|and|its?|our|your|accounting|ai|banking|charge|chief|clinical|command|computer|construction|customer"
    r"|data|early|education|engineering|finance|health|healthcare|home|house|hr|human|insurance|law|machine"
    r"|manufacturing|marketing|medicine|mental|nursing|office|patient|people|person|pharma|psychology|public|real"
    r"|residence|retail|sales|science|social|software|store|tech|technology|training|waiting)\b",
    re.IGNORECASE,
)
"""The first words after an "in" without a place: editor in chief, engineer in training, jobs in finance."""
JOBS = re.compile(r"\s*\b(?:jobs?|job openings|openings|vacancies)$", re.IGNORECASE)
WORKPLACE = re.compile(r"[\s,(\[-]*\b(remote(?:ly)?|work from home|wfh|hybrid|on-?site)[)\]]*$", re.IGNORECASE)
REMOTE_IN = re.compile(r"^(remote|hybrid)\s*[,(–—-]\s*(.+)$", re.IGNORECASE)
"""Such as "in Remote, US"."""
EDGES = " ,;-–—|·"
MOST_WORDS = 7
"""The most words of a place at the end of the terms."""


class JobPlace(NamedTuple):
    """A place in North America; the parts that the terms do not name are ""."""

    town: str
    state: str
    country: str

    @property
    def known(self) -> bool:
        """Whether it has no town, or a town of `TOWNS`."""
        return not self.town or plain(self.town) in _known()

    @property
    def name(self) -> str:
        """The site's name of the place: `Austin, Texas, United States`."""
        return ", ".join(filter(None, self))


@dataclass(frozen=True)
class Wanted:
    """The parsed terms of a job search."""

    keywords: str
    place: str | None = None
    """The site's name of the place; None for all of North America."""
    nearby: bool = False
    """Whether the surroundings of the place are included."""
    workplace: str | None = None
    """`remote`, `hybrid` or `onsite`; None if the terms name none."""
    elsewhere: str | None = None
    """The country outside of North America that the terms name."""


@lru_cache(maxsize=1024)
def wanted(q: str) -> Wanted:
    """Parse the terms of a job search. An unknown town without a state or country is one of the United States."""
    text = " ".join(GLUED.sub(", ", q).split())
    bare = NEAR_ME.sub("", text)
    before, after, nearby = _split(bare)
    where, place_workplace = _without_workplace(REMOTE_IN.sub(r"\2 \1", after))
    position, workplace = _without_workplace(JOBS.sub("", before).strip(EDGES))
    elsewhere = _elsewhere(where)
    place = None if elsewhere or not where else _place(where) or JobPlace(where, "", "United States")
    return Wanted(
        keywords=position if position or after or workplace else text,
        place=place.name if place else None,
        nearby=nearby or bare != text,
        workplace=workplace or place_workplace,
        elsewhere=elsewhere,
    )


def _split(text: str) -> tuple[str, str, bool]:
    """The position, the place, and whether its surroundings are included."""
    for match in reversed(list(IN.finditer(text))):
        word, after = match[1].lower(), text[match.end() :].strip(EDGES)
        if after and _is_place(after, any_town=word not in FOREIGN_IN and not match[2]):
            return text[: match.start()].strip(EDGES), after, word in NEAR
    for before, after in _endings(text):
        if _ends_with(before, after):
            return before.strip(EDGES), after, False
    return text, "", False


def _is_place(after: str, any_town: bool) -> bool:
    """Whether the text after an "in" is a place; with `any_town` all texts are but those that NO_PLACES matches."""
    if WORKPLACE.fullmatch(after) or _elsewhere(after):
        return True
    place = _place(after)
    return (place is not None and (any_town or place.known)) or (any_town and not NO_PLACES.match(after))


def _endings(text: str) -> Iterator[tuple[str, str]]:
    """Every split of the text between two words, the longest ending first."""
    words = text.split(" ")
    for count in range(min(MOST_WORDS, len(words)), 0, -1):
        yield " ".join(words[:-count]), " ".join(words[-count:])


def _ends_with(before: str, after: str) -> bool:
    """Whether the ending of the terms is a place, without an "in" before it."""
    comma = before.endswith((",", " -", " –", "|"))
    if plain(after) in ELSEWHERE and plain(before).split()[-1:] != ["new"]:
        return True
    place = _place(after)
    if place is None or "," in place.town:
        return False
    if plain(after) in WORDS:
        return comma
    if after.strip(EDGES).upper() in _codes() and not comma:
        return after.strip(EDGES).upper() in BARE_CODES and (after.isupper() or after.upper() not in ("CA", "DC", "VA"))
    return place.known or (comma and bool(place.state))


def _without_workplace(text: str) -> tuple[str, str | None]:
    """The text without the workplace that it ends with, and that workplace: `remote`, `hybrid` or `onsite`."""
    match = WORKPLACE.search(text)
    if not match:
        return text, None
    word = match[1].lower()
    workplace = "hybrid" if word == "hybrid" else "onsite" if word.startswith("on") else "remote"
    return text[: match.start()].strip(EDGES), workplace


def _place(text: str) -> JobPlace | None:
    """The place that a text names; None if it has neither a country, a state nor a known town."""
    words = re.sub(r"\s*,[\s,]*", " , ", text.strip(EDGES)).split()
    before, country = _cut(words, _countries())
    if country and len(_cut(words, _states())[0]) < len(before):
        before, country = words, ""  # New Mexico is no Mexico
    if town := _towns().get(plain(_join(before))):
        return town if country in ("", town.country) else JobPlace(town.town, "", country)
    before, state = _cut(before, _states())
    if state:
        return _in_state(_join(before), state, country or _country_of(state))
    return JobPlace(_join(before), "", country) if country else None


def _in_state(town: str, state: str, country: str) -> JobPlace:
    known = _towns().get(plain(town))
    if known and known.country == "Canada" and state == "California":
        return known  # CA is also the code of Canada
    return JobPlace(known.town if known else town, state, country)


def _cut(words: list[str], names: dict[str, str]) -> tuple[list[str], str]:
    """The words before the longest key of `names` at their end, and its value; all words and "" if there is none."""
    for count in range(min(5, len(words)), 0, -1):
        if name := names.get(plain(_join(words[-count:]))):
            before = words[:-count]
            return (before[:-1] if before and before[-1] == "," else before), name
    return words, ""


def _join(words: list[str]) -> str:
    return " ".join(words).replace(" ,", ",").strip(EDGES)


def _elsewhere(text: str) -> str | None:
    """The country outside of North America that the text ends with."""
    for before, after in _endings(text):
        if plain(after) in ELSEWHERE and plain(before).split()[-1:] != ["new"]:
            return after.strip(EDGES)
        if _place(after):
            return None
    return None


def plain(text: str) -> str:
    """The text for comparison: lower case without accents and dots; hyphens and commas are spaces."""
    bare = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return " ".join(bare.casefold().replace(".", "").replace("-", " ").replace(",", " ").strip(EDGES).split())


@lru_cache(maxsize=1)
def _countries() -> dict[str, str]:
    names = {name: name.title().replace(" And ", " and ").replace(" The ", " the ") for name in COUNTRIES}
    return names | {other: names[name] for name, others in COUNTRIES.items() for other in others}


@lru_cache(maxsize=1)
def _states() -> dict[str, str]:
    """The states by name and code."""
    rows = [(name, code) for states in STATES.values() for name, code in states.items()]
    return {plain(key): name for name, code in rows for key in (name, code) if key}


@lru_cache(maxsize=1)
def _codes() -> frozenset[str]:
    return frozenset(code for states in STATES.values() for code in states.values() if code)


@lru_cache(maxsize=64)
def _country_of(state: str) -> str:
    return next(country for country, states in STATES.items() if state in states)


@lru_cache(maxsize=1)
def _known() -> frozenset[str]:
    return frozenset(plain(place.town) for place in _towns().values()) | _towns().keys()


@lru_cache(maxsize=1)
def _towns() -> dict[str, JobPlace]:
    """The known towns by name; the first of several with the same name."""
    towns: dict[str, JobPlace] = {}
    for key, names in TOWNS.items():
        state = "" if key == "Mexico" else _states()[plain(key)]
        country = _country_of(state) if state else key
        for name in names.split(", "):
            towns.setdefault(plain(name), JobPlace(OTHER_NAMES.get(plain(name), name), state, country))
    return towns
