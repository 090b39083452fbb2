"""What a search for jobs means: the position, and where; "nurse in Austin, TX" and "nurse Austin" say the same.

A place is what follows "in" or "near", or a place of North America that the terms end with. A town that is not known
here is believed behind "in", behind a comma, never elsewhere: of "nurse Round Hill, TX" only Texas is taken, so that
no name is cut in two.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from webdata.resources._north_america import (
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
"""In Mexico and Quebec; they are believed only before a place that is known."""
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
"""What follows "in" without being where: editor in chief, engineer in training, jobs in finance."""
JOBS = re.compile(r"\s*\b(?:jobs?|job openings|openings|vacancies)$", re.IGNORECASE)
WORKPLACE = re.compile(r"[\s,(\[-]*\b(remote(?:ly)?|work from home|wfh|hybrid|on-?site)[)\]]*$", re.IGNORECASE)
REMOTE_IN = re.compile(r"^(remote|hybrid)\s*[,(–—-]\s*(.+)$", re.IGNORECASE)
"""As in "in Remote, US"."""
EDGES = " ,;-–—|·"
LONGEST = 7
"""Words of the longest place that is looked for at the end of the terms."""


class Place(NamedTuple):
    """Somewhere in North America; "" for what is not said."""

    town: str
    state: str
    country: str

    @property
    def known(self) -> bool:
        """Whether the town is none, or one of those that are known here."""
        return not self.town or plain(self.town) in _known()

    @property
    def name(self) -> str:
        """As the site names places: `Austin, Texas, United States`."""
        return ", ".join(filter(None, self))


@dataclass(frozen=True)
class Wanted:
    """What search terms for jobs mean."""

    keywords: str
    place: str | None = None
    """As the site names places; None for anywhere in North America."""
    nearby: bool = False
    """Whether around the place is meant too."""
    workplace: str | None = None
    """`remote`, `hybrid` or `onsite`, where the terms ask for it in the place of a place."""
    elsewhere: str | None = None
    """The country outside of North America that the terms name."""


@lru_cache(maxsize=1024)
def wanted(q: str) -> Wanted:
    """What the terms mean."""
    text = " ".join(GLUED.sub(", ", q).split())
    bare = NEAR_ME.sub("", text)
    before, after, nearby = _parted(bare)
    where, way_there = _without_workplace(REMOTE_IN.sub(r"\2 \1", after))
    position, way = _without_workplace(JOBS.sub("", before).strip(EDGES))
    elsewhere = _elsewhere(where)
    return Wanted(
        keywords=position if position or after or way else text,
        place=None if elsewhere or not where else _name(where),
        nearby=nearby or bare != text,
        workplace=way or way_there,
        elsewhere=elsewhere,
    )


def _name(where: str) -> str:
    """The place as the site names it; a town that says no more is looked for in the largest country."""
    place = _place(where) or Place(where, "", "United States")
    return place.name


def _parted(text: str) -> tuple[str, str, bool]:
    """The position, the place, and whether around it is meant too."""
    for found in reversed(list(IN.finditer(text))):
        word, after = found[1].lower(), text[found.end() :].strip(EDGES)
        if after and _is_place(after, free=word not in FOREIGN_IN and not found[2]):
            return text[: found.start()].strip(EDGES), after, word in NEAR
    for before, after in _endings(text):
        if _ends_with(before, after):
            return before.strip(EDGES), after, False
    return text, "", False


def _is_place(after: str, free: bool) -> bool:
    """Whether what follows an "in" is a place; where it is `free`, any is that is not known to be none."""
    if WORKPLACE.fullmatch(after) or _elsewhere(after):
        return True
    place = _place(after)
    return (place is not None and (free or place.known)) or (free and not NO_PLACES.match(after))


def _endings(text: str) -> Iterator[tuple[str, str]]:
    """Every way to part the text between two words, the longest ending first."""
    words = text.split(" ")
    for count in range(min(LONGEST, len(words)), 0, -1):
        yield " ".join(words[:-count]), " ".join(words[-count:])


def _ends_with(before: str, after: str) -> bool:
    """Whether the terms' ending is a place, without an "in" before it."""
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
    """The text without the way of working that it ends with or begins its place with, and that way."""
    found = WORKPLACE.search(text)
    if not found:
        return text, None
    word = found[1].lower()
    way = "hybrid" if word == "hybrid" else "onsite" if word.startswith("on") else "remote"
    return text[: found.start()].strip(EDGES), way


def _place(text: str) -> Place | None:
    """The place that a text names; None where neither a country, a state nor a known town is in it."""
    words = re.sub(r"\s*,[\s,]*", " , ", text.strip(EDGES)).split()
    rest, country = _cut(words, _countries())
    if country and len(_cut(words, _states())[0]) < len(rest):
        rest, country = words, ""  # New Mexico is no Mexico
    if town := _towns().get(plain(_join(rest))):
        return town if country in ("", town.country) else Place(town.town, "", country)
    rest, state = _cut(rest, _states())
    if state:
        return _in_state(_join(rest), state, country or _country_of(state))
    return Place(_join(rest), "", country) if country else None


def _in_state(town: str, state: str, country: str) -> Place:
    known = _towns().get(plain(town))
    if known and known.country == "Canada" and state == "California":
        return known  # the code CA, of the country
    return Place(known.town if known else town, state, country)


def _cut(words: list[str], names: dict[str, str]) -> tuple[list[str], str]:
    """The words without the longest of the names that they end with, and what it stands for; "" for none."""
    for count in range(min(5, len(words)), 0, -1):
        if name := names.get(plain(_join(words[-count:]))):
            rest = words[:-count]
            return (rest[:-1] if rest and rest[-1] == "," else rest), name
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
    """The text for comparing: small letters without accents, dots and edges; a hyphen is a space."""
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
def _towns() -> dict[str, Place]:
    """The known towns by name; of several with one name the first."""
    found: dict[str, Place] = {}
    for key, names in TOWNS.items():
        state = "" if key == "Mexico" else _states()[plain(key)]
        country = _country_of(state) if state else key
        for name in names.split(", "):
            found.setdefault(plain(name), Place(OTHER_NAMES.get(plain(name), name), state, country))
    return found
