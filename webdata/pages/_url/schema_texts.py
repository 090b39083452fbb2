"""The texts of a page's JSON-LD, in the order in which a page shows them: articles, answers, recipes, posts, lists.

The types and properties are those of https://schema.org/docs/full.html.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

DEEPEST = 12
"""Levels of items within items that are read."""
TITLES = ("headline", "name")
ARTICLE = ("articleBody", "liveBlogUpdate")
POST = ("articleBody", "text", "comment")
TEXTS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(
        ("article", "newsarticle", "blogposting", "reportagenewsarticle", "analysisnewsarticle", "techarticle",
         "opinionnewsarticle", "liveblogposting", "scholarlyarticle", "backgroundnewsarticle"),
        ARTICLE,
    ),
    **dict.fromkeys(
        ("webpage", "faqpage", "qapage", "itempage", "collectionpage", "searchresultspage"), ("mainEntity",)
    ),
    "question": ("text", "acceptedAnswer", "suggestedAnswer"),
    "answer": ("text",),
    "product": ("description", "offers"),
    "offer": (),
    "recipe": ("description", "recipeIngredient", "recipeInstructions"),
    "howto": ("description", "step"),
    "howtosection": ("itemListElement",),
    "howtostep": ("text",),
    "course": ("description", "hasPart"),
    "jobposting": ("description",),
    "discussionforumposting": POST,
    "socialmediaposting": POST,
    "comment": ("text", "comment"),
    "itemlist": ("itemListElement",),
    "listitem": ("item",),
}  # fmt: skip
"""The properties with the texts of an item, and those with the items in it, by its type in lower case."""
LISTS = frozenset(["itemListElement", "hasPart"])
"""Properties whose items are entries of a list."""
LINES = frozenset(["recipeIngredient"])
"""Properties whose texts are entries of a list."""
PRICES = ("price", "lowPrice")
NOTES = frozenset(["description", "offers", "item"])
"""Properties that the entry of a list has itself, or does not show."""


class ScriptBlock(NamedTuple):
    """A heading, a paragraph or an entry of a list: `h2`, `p` or `li`; its text, which may be HTML; link and note."""

    tag: str
    text: str
    url: str = ""
    note: str = ""

    @property
    def words(self) -> str:
        return f"{self.text} {self.note}"


def schema_blocks(item: Any) -> Iterator[ScriptBlock]:
    """The blocks of an item of JSON-LD, without its own title, which is the page's."""
    if isinstance(item, dict):
        for name in TEXTS.get(_type(item), ()):
            yield from _of_property(name, item.get(name), DEEPEST)


def _of_property(name: str, value: Any, levels: int) -> Iterator[ScriptBlock]:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, str) and name not in LISTS:
            yield ScriptBlock("li" if name in LINES else "p", one)
        elif isinstance(one, dict) and levels:
            yield from _entry(one, levels - 1) if name in LISTS else _section(one, levels - 1)


def _entry(item: dict[str, Any], levels: int) -> Iterator[ScriptBlock]:
    """An entry of a list, with the title and the link of the item in it; its description is for search engines."""
    inner = item.get("item")
    entry = {**item, **inner} if isinstance(inner, dict) else item
    if title := first_text(entry, TITLES):
        yield ScriptBlock("li", title, first_text(entry, ("url", "@id", "item")), _price(entry))
    for name in TEXTS.get(_type(entry), ()):
        if name not in NOTES:
            yield from _of_property(name, entry.get(name), levels)


def _section(item: dict[str, Any], levels: int) -> Iterator[ScriptBlock]:
    if title := first_text(item, TITLES):
        yield ScriptBlock("h2", title)
    if price := _price({"offers": item}):
        yield ScriptBlock("p", price)
    for name in TEXTS.get(_type(item), ()):
        yield from _of_property(name, item.get(name), levels)


def _price(item: Mapping[str, Any]) -> str:
    offers = item.get("offers")
    offer = offers[0] if isinstance(offers, list) and offers else offers
    if not isinstance(offer, dict) or not (price := first_text(offer, PRICES)):
        return ""
    return f"{price} {first_text(offer, ('priceCurrency',))}".strip()


def _type(item: Mapping[str, Any]) -> str:
    """The first type of an item that is known, else its first, in lower case, without the vocabulary."""
    given = item.get("@type")
    names = [
        name.rstrip("/").rpartition("/")[2].lower()
        for name in (given if isinstance(given, list) else [given])
        if isinstance(name, str)
    ]
    return next((name for name in names if name in TEXTS), next(iter(names), ""))


def first_text(item: Mapping[str, Any], names: Sequence[str]) -> str:
    """The first of the properties that is a text or a number, else an empty text."""
    found = (item.get(name) for name in names)
    return next((str(one).strip() for one in found if isinstance(one, str | int | float) and one not in ("", True)), "")
