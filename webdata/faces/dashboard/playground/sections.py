"""The sections of an answer: its lists of results first, what else it holds after them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from webdata.domain.records import Record
from webdata.faces.dashboard.playground.cards import MOST_REPLIES, Card, Room, card, reply_card
from webdata.faces.dashboard.playground.listings import Item, is_thing, things
from webdata.faces.dashboard.playground.values import LONGEST_FACT, shown_value, words
from webdata.resources import Resource

MOST_CARDS, MOST_OTHERS = 24, 6
"""Cards that are shown of the results, and of each other list."""
DEEPEST = 3
"""Objects within objects, in which lists of results are looked for."""
LONGEST_BLOCK = 3000
"""Characters that are shown of a long text."""


@dataclass(frozen=True)
class Section:
    """A list of an answer as cards."""

    name: str
    cards: list[Card]
    total: int
    """How many there are, those that are not shown included."""
    main: bool

    @property
    def layout(self) -> Literal["gallery", "threads", "places", "list"]:
        """How the cards are arranged."""
        if any(card.point for card in self.cards):
            return "places"
        if any(card.replies for card in self.cards):
            return "threads"
        pictures = [card for card in self.cards if card.picture and not card.small and not card.text]
        return "gallery" if len(pictures) > 1 and 2 * len(pictures) >= len(self.cards) else "list"

    def repeats(self, other: "Section") -> bool:
        """Whether it has the same cards, as far as both are shown."""
        shown = min(len(self.cards), len(other.cards))
        return self.total == other.total and self.cards[:shown] == other.cards[:shown]


@dataclass(frozen=True)
class TextBlock:
    """The beginning of a long text, such as a page."""

    name: str
    text: str
    length: int
    """Characters of the whole text."""


@dataclass(frozen=True)
class Shown:
    """An answer to look at."""

    sections: list[Section]
    facts: list[tuple[str, str]]
    """Single values beside the lists, such as the total of results."""
    blocks: list[TextBlock]


def shown(resource: Resource, record: Record) -> Shown:
    """The record of a resource in sections."""
    lists, objects = list(_lists(record)), list(_objects(record))
    if not (lists or objects or resource.content):
        return Shown([Section("", [card(record)], 1, main=True)], [], [])
    mains = set(resource.content)
    sections, facts = list[Section](), _facts(resource, record)
    for path, items in sorted(lists, key=lambda one: one[0] not in (resource.rows, *mains)):
        section = _section(path, items, main=not (sections and mains) or path in mains)
        if not any(section.repeats(before) for before in sections):
            sections.append(section)
    for name, value in objects:
        one = card({key: inner for key, inner in value.items() if not isinstance(inner, list)})
        if one.title or one.text or one.picture:
            sections.append(Section(words(name), [one], 1, main=False))
        else:
            facts += [(f"{words(name)} {key}", text) for key, text in one.facts]
    return Shown([section for section in sections if section.main or _is_worth(section)], facts, list(_blocks(record)))


def _section(path: str, items: Sequence[Item], *, main: bool) -> Section:
    room = Room(MOST_CARDS if main else MOST_OTHERS)
    replies = Room(MOST_REPLIES)
    return Section(_name(path, items), [reply_card(item, replies) for item in items if room.take()], len(items), main)


def _is_worth(section: Section) -> bool:
    """Whether there is something to read in it; what is not shown is in the JSON."""
    return any(card.title or card.text or card.picture for card in section.cards)


def _name(path: str, items: Sequence[Item]) -> str:
    """The name of a list in words; one of a forum, whose lists have none, by what is in it."""
    last = path.rpartition(".")[2]
    if last not in ("children", "data"):
        return words(last)
    titled = ["title" in item for item in items]
    return "posts" if all(titled) else "posts and comments" if any(titled) else "comments"


def _facts(resource: Resource, record: Record) -> list[tuple[str, str]]:
    return [
        (words(name), shown_value(name, value))
        for name, value in record.items()
        if name not in (*resource.envelope, "kind")
        and isinstance(value, str | int | float)
        and value not in ("", 0)
        and not (isinstance(value, str) and len(value) > LONGEST_FACT)
    ]


def _blocks(record: Record) -> Iterator[TextBlock]:
    for name, value in record.items():
        if isinstance(value, str) and len(value) > LONGEST_FACT:
            yield TextBlock(words(name), value[:LONGEST_BLOCK], len(value))


def _lists(record: Mapping[str, Any], before: str = "", depth: int = 0) -> Iterator[tuple[str, list[Item]]]:
    """The paths and the objects of the lists of a record."""
    for name, value in record.items():
        path = before + name
        if isinstance(value, list) and value and all(is_thing(one) and one["kind"] == "Listing" for one in value):
            yield from ((f"{path}.{number}.children", things(one)) for number, one in enumerate(value) if things(one))
        elif isinstance(value, list) and (items := things(value)):
            yield path, items
        elif isinstance(value, Mapping) and depth < DEEPEST:
            yield from _lists(value, f"{path}.", depth + 1)


def _objects(record: Record) -> Iterator[tuple[str, Item]]:
    """The objects of a record with values of their own; not the envelope of a listing."""
    for name, value in record.items():
        if isinstance(value, Mapping) and value and not is_thing(record):
            yield name, value
