"""Any record as cards: what is a title, a link, a picture or a price is seen from the names and the shape of values.

So a new resource needs no edit here: a name that is not known is shown as a fact.
All text is cut, since it comes from outside and may be of any length; templates escape it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any

from webdata.domain.plain_text import plain_text
from webdata.faces.dashboard.playground.listings import Item, is_thing, things
from webdata.faces.dashboard.playground.values import (
    LONGEST_FACT,
    LONGEST_TEXT,
    LONGEST_TITLE,
    safe_link,
    safe_picture,
    shown_number,
    shown_value,
    words,
)

TITLE = ("title", "headline", "displayname", "linktitle", "name", "question", "position", "text", "alt", "label")
LINK = ("link", "url", "href", "targeturl", "permalink", "googlemapsurl", "website", "linkpermalink")
TEXT = ("abstract", "snippet", "publicdescription", "description", "body", "selftext", "content", "answer", "summary")
PRICE = ("pricetext", "price", "pricelevel")
PRICE_BEFORE = ("wasprice", "originalprice")
RATING = ("rating", "ratingstars")
REVIEWS = ("reviews", "reviewcount", "count")
ABOUT = (
    *("names", "author", "authors", "employer", "seller", "channel", "advertiser", "publisher", "source.title"),
    *("source", "venue", "year", "published", "date", "postedat", "createdutc", "duration", "location", "address"),
    *("phone", "openingstatus", "condition", "sellerfeedback", "subforumnameprefixed", "subscribers", "score"),
    "numcomments",
    *("citations.count", "displayurl", "domain"),
)
"""What stands in the line below a title. Names are without underscores and in lower case, as `_plain` gives them."""
LABELLED = {
    "score": "points",
    "numcomments": "comments",
    "subscribers": "subscribers",
    "citations.count": "citations",
}
"""Numbers that say nothing without their unit."""
PICTURE = re.compile(r"image|img|thumb|icon|photo|picture|logo|poster")
SMALL_PICTURE = re.compile(r"icon|logo")
OUT_OF_FIVE = re.compile(r"^([0-5](?:[.,][0-9])?) (?:out )?of 5\b")
KNOWN_FLAG = re.compile(r"^(?:is_submitter|prime|bestseller|stickied|locked|spoiler|over_?18)$")
FLAG = re.compile(rf"^(?:is|has)_|{KNOWN_FLAG.pattern}")
RANKS = {"position", "realposition", "resulttype", "kind"}
"""Values that say where an item stands, which its place among the cards shows."""

MOST_FACTS, MOST_BADGES, MOST_LINKS, MOST_ROWS = 8, 6, 6, 10
DEEPEST_REPLY, MOST_REPLIES = 8, 60
DEEPEST = 3
"""Objects within objects, in which the values of a card are looked for."""
MOST_VALUES = 400
"""Values of an item that are looked at."""
WIDE = 40
"""Values from which on the unknown ones of an item are left to the JSON."""


@dataclass(frozen=True)
class Card:
    """One thing of an answer."""

    title: str = ""
    link: str | None = None
    """An http or https URL."""
    text: str = ""
    picture: str | None = None
    """An http or https URL, or an image as a data URL."""
    small: bool = False
    """Whether the picture is an icon."""
    price: str = ""
    price_before: str = ""
    rating: str = ""
    about: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    badges: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    """Further titles with their links."""
    rows: tuple[tuple[str, ...], ...] = ()
    """A table, or a list as rows of one value."""
    point: tuple[float, float] | None = None
    """Latitude and longitude, in degrees."""
    replies: tuple["Card", ...] = field(default=(), repr=False)


class Room:
    """How many more cards there is room for."""

    def __init__(self, cards: int) -> None:
        self.cards = cards

    def take(self) -> bool:
        """Whether there is room for one more, which is taken."""
        self.cards -= 1
        return self.cards >= 0


class _Values:
    """The plain values of an item by the path of their names, the outermost first; each is taken once."""

    def __init__(self, item: Item) -> None:
        self._left = dict(islice(_values(item), MOST_VALUES))
        self.wide = len(self._left) > WIDE
        self._named: dict[str, list[str]] = {}
        for path, value in self._left.items():
            for name in _names(path) if isinstance(value, str | int | float) and not isinstance(value, bool) else ():
                self._named.setdefault(name, []).append(path)

    def take(self, names: Sequence[str], kinds: type | tuple[type, ...] = (str, int, float)) -> tuple[str, Any] | None:
        """The first value with one of these names, and its path."""
        for name in names:
            for path in self._named.get(name, ()):
                if isinstance(self._left.get(path), kinds) and self._left[path] != "":
                    return path, self._left.pop(path)
        return None

    def text(self, names: Sequence[str], longest: int = LONGEST_FACT) -> str:
        """The first text with one of these names, cut."""
        found = self.take(names, str)
        return plain_text(found[1], longest) if found else ""

    def link(self) -> str | None:
        """The first link."""
        for name in LINK:
            for path in self._named.get(name, ()):
                if not PICTURE.search(path) and (link := safe_link(self._left.get(path))):
                    del self._left[path]
                    return link
        return None

    def picture(self) -> tuple[str, bool] | None:
        """The first picture, and whether it is an icon."""
        pictures = [path for path, value in self._left.items() if PICTURE.search(path) and safe_picture(value)]
        if not pictures:
            return None
        first = self._left[pictures[0]]
        for path in pictures:
            del self._left[path]
        return first, bool(SMALL_PICTURE.search(pictures[0]))

    def flags(self) -> list[str]:
        """The names of what is true, as words: of an item with very many only those that matter to a reader."""
        flag = KNOWN_FLAG if self.wide else FLAG
        true = [path for path, value in self._left.items() if value is True and flag.search(path)]
        return [words(re.sub("^(?:is|has)_", "", path)) for path in true]

    def rest(self) -> Iterator[tuple[str, str]]:
        """The values that were not taken, with their names as words."""
        for path, value in self._left.items():
            if value is not None and value != "" and not isinstance(value, bool) and _plain(path) not in RANKS:
                yield words(path), shown_value(path, value)


def card(item: Item, room: Room | None = None, depth: int = 0) -> Card:
    """An item as a card, with as many of its replies as there is room for."""
    values = _Values(item)
    point = _point(item)
    picture = values.picture()
    title, link = _title(item, values), values.link()
    text = values.text(TEXT, LONGEST_TEXT)
    price, before, rating = _price(values), values.text(PRICE_BEFORE), _rating(values)
    about = tuple(islice(_about(values), MOST_FACTS))
    badges = _badges(item, values, " ".join(about))
    bare = not (text or picture or price or about or point) and not values.wide
    return Card(
        title=title,
        link=link,
        text="" if title and text.startswith(title.partition(" - ")[0]) and len(text) < 2 * len(title) else text,
        picture=picture[0] if picture else None,
        small=bool(picture and picture[1]),
        price=price,
        price_before=before,
        rating=rating,
        about=about,
        facts=tuple(islice(values.rest(), MOST_FACTS)) if bare else (),
        badges=badges,
        links=tuple(islice(_links(item), MOST_LINKS)),
        rows=tuple(islice(_rows(item), MOST_ROWS)),
        point=point,
        replies=tuple(_replies(item, room or Room(MOST_REPLIES), depth)),
    )


def _title(item: Item, values: _Values) -> str:
    """The title; a name that ends with the item's own id is none."""
    title = values.text(TITLE, LONGEST_TITLE)
    return "" if item.get("id") and title.endswith(f"_{item['id']}") else title


def _badges(item: Item, values: _Values, shown: str) -> tuple[str, ...]:
    """Short texts beside what is shown already, each once."""
    found = {
        text.casefold().replace(" ", ""): text for text in [*values.flags(), *_short_texts(item)] if text not in shown
    }
    return tuple(islice(found.values(), MOST_BADGES))


def _price(values: _Values) -> str:
    found, currency = values.take(PRICE), values.text(("currency",))
    if not found:
        return ""
    _, price = found
    return plain_text(price, LONGEST_FACT) if isinstance(price, str) else f"{price:,.2f} {currency}".strip()


def _rating(values: _Values) -> str:
    found = values.take(RATING)
    if not found:
        return ""
    _, rating = found
    count = values.take(REVIEWS, int)
    stars = _stars(rating) if isinstance(rating, str) else f"★ {rating:g}"
    return f"{stars} ({shown_number(count[1])})" if count else stars


def _stars(rating: str) -> str:
    """A rating in words, such as `4.5 out of 5 stars`, as it is written beside a price."""
    found = OUT_OF_FIVE.match(rating)
    return f"★ {found[1]}" if found else plain_text(rating, LONGEST_FACT)


def _about(values: _Values) -> Iterator[str]:
    given = ""
    while found := values.take(ABOUT):
        path, value = found
        text = f"{shown_number(value)} {unit}" if (unit := _unit(path)) else shown_value(path, value)
        if unit or text not in given:
            yield text
        given += f"{text}\n"


def _unit(path: str) -> str | None:
    return next((LABELLED[name] for name in _names(path) if name in LABELLED), None)


def _values(item: Item, before: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """The plain values of an item and of the objects in it, those of the item first."""
    inner = []
    for name, value in item.items():
        if isinstance(value, Mapping):
            inner.append((name, value))
        elif not isinstance(value, list):
            yield before + name, value
    if depth < DEEPEST:
        for name, value in inner:
            yield from _values(value, f"{before}{name}.", depth + 1)


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


@lru_cache(2000)
def _names(path: str) -> tuple[str, ...]:
    """What a path may be called: by its last name, and by its last two."""
    before, _, last = _plain(path[-LONGEST_FACT:]).rpartition(".")
    return (last, f"{before.rpartition('.')[2]}.{last}") if before else (last,)


def _point(item: Item) -> tuple[float, float] | None:
    latitude, longitude = item.get("latitude"), item.get("longitude")
    if isinstance(latitude, int | float) and isinstance(longitude, int | float):
        return float(latitude), float(longitude)
    return None


def _lists(item: Item) -> Iterator[tuple[str, list[Any]]]:
    """The lists of an item and of the objects in it."""
    for name, value in item.items():
        if isinstance(value, list):
            yield name, value
        elif isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", one) for inner, one in value.items() if isinstance(one, list))


def _short_texts(item: Item) -> Iterator[str]:
    for _, values in _lists(item):
        if values and all(isinstance(value, str) and len(value) <= LONGEST_FACT // 2 for value in values):
            yield from (plain_text(value, LONGEST_FACT) for value in values)


def _rows(item: Item) -> Iterator[tuple[str, ...]]:
    for _, values in _lists(item):
        for value in values:
            if isinstance(value, list) and all(isinstance(cell, str) for cell in value):
                yield tuple(plain_text(cell, LONGEST_FACT) for cell in value[:MOST_FACTS])


def _links(item: Item) -> Iterator[tuple[str, str]]:
    """The titles and links of the objects in an item's lists, such as the links below a result."""
    seen = [item.get("link"), item.get("url")]
    for _, values in _lists(item):
        for value in values[: 2 * MOST_LINKS]:
            if isinstance(value, Mapping) and not is_thing(value):
                found = _Values(value)
                link, title = found.link(), found.text(TITLE)
                if link and title and link not in seen:
                    seen.append(link)
                    yield title, link


def _replies(item: Item, room: Room, depth: int) -> Iterator[Card]:
    if depth < DEEPEST_REPLY:
        for reply in things(item.get("replies")):
            if not room.take():
                return
            yield reply_card(reply, room, depth + 1)


def reply_card(item: Item, room: Room | None = None, depth: int = 0) -> Card:
    """A comment with its replies, or a word about those that the site did not send."""
    if isinstance(item.get("count"), int) and isinstance(item.get("children"), list):
        return Card(text=f"{shown_number(item['count'])} more, which the site loads on a click only")
    return card(item, room, depth)
