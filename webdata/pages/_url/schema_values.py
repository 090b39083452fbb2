"""Values of schema.org as plain ones: texts, addresses, dates, numbers, prices, lists.

Each function takes the values of a property and what is known of the page, and returns None where none of them
can be read. https://schema.org/docs/full.html
"""

import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import Any, NamedTuple

from webdata.pages._url import readings
from webdata.pages._url.bounds import without_tags
from webdata.pages._url.json_ld import types
from webdata.pages._url.links import address

MOST_LISTED = 100
"""Values of a list."""
LONGEST_TEXT = 5_000
"""Characters of a text."""
GTIN = re.compile(r"[0-9]{8,14}|[0-9]{9}X")
CHARACTER = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
RATING = re.compile(r"\d{1,3}[.,]\d{3,}")
MARKUP = re.compile(r"<br\s*/?>|<([a-z][a-z0-9]{0,9})\b[^<>]*>[^<>]*</\1>", re.IGNORECASE)
AMPERSAND = re.compile(r"&(?:amp|#0{0,2}38);")
"""As programs write it that take JSON for HTML."""
IS_ADDRESS = re.compile(r"(?:https?:)?//\S|www\.\S*/|/\S*$", re.IGNORECASE)
UNFILLED = re.compile(r"\{\{[^{}]*\}\}")
"""The place for a value in a template."""
BY = re.compile(r"by(?:\s*:\s*|\s+)", re.IGNORECASE)
"""The word before the name of an author."""
TERMS = {
    name.lower(): name
    for name in ("InStock", "OutOfStock", "PreOrder", "BackOrder", "SoldOut", "LimitedAvailability", "Discontinued",
                 "InStoreOnly", "OnlineOnly", "NewCondition", "UsedCondition", "RefurbishedCondition")
} | {"new": "NewCondition", "used": "UsedCondition", "refurbished": "RefurbishedCondition"}  # fmt: skip
"""https://schema.org/ItemAvailability and OfferItemCondition, and what OpenGraph has for them, in lower case."""
ADDRESS = ("name", "streetAddress", "postalCode", "addressLocality", "addressRegion", "addressCountry")


class ValueContext(NamedTuple):
    """What its values are relative to: the base of its addresses, and its language, if it says one."""

    base: str
    language: str = ""


NO_CONTEXT = ValueContext("")
"""For values that are relative to nothing."""


def text(values: list[Any], _: ValueContext = NO_CONTEXT) -> str | None:
    """The first text."""
    return next(_texts(values), None)


def texts(values: list[Any], _: ValueContext = NO_CONTEXT) -> list[str] | None:
    """All texts."""
    return [*dict.fromkeys(_texts(values))][:MOST_LISTED] or None


def name(values: list[Any], _: ValueContext = NO_CONTEXT) -> str | None:
    """The first text that is a name."""
    return next(filter(is_name, _texts(values)), None)


def names(values: list[Any], _: ValueContext = NO_CONTEXT) -> list[str] | None:
    """All texts that are names of people."""
    found = (BY.sub("", one, count=1) if BY.match(one) else one for one in filter(is_name, _texts(values)))
    return [*dict.fromkeys(found)][:MOST_LISTED] or None


def is_name(line: str) -> bool:
    """Whether a text is no address."""
    return is_filled(line) and not IS_ADDRESS.match(line)


def is_filled(line: str) -> bool:
    """Whether a text says something, and is no place for it that a program has not filled."""
    return any(map(str.isalnum, UNFILLED.sub("", line)))


def shown(text: str) -> str:
    """A value as readers see it, where a program has written it for a page: with names of characters, and markup.

    One tag alone is what the text is about.
    """
    bare = CHARACTER.sub(lambda found: unescape(found[0]), text) if "&" in text else text
    return without_tags(bare) if "<" in bare and MARKUP.search(bare) else bare


def words(values: list[Any], context: ValueContext) -> list[str] | None:
    """The words of texts with commas."""
    parts = (part.strip() for one in _texts(values) for part in one.split(","))
    return texts([part for part in parts if part], context)


def url(values: list[Any], context: ValueContext) -> str | None:
    """The first address, absolute."""
    named = (one if isinstance(one, str) else _first(one, "url", "contentUrl", "@id") for one in values)
    given = (AMPERSAND.sub("&", one) for one in named if isinstance(one, str))
    return next((found for one in given if (found := address(one, context.base))), None)


def urls(values: list[Any], context: ValueContext) -> list[str] | None:
    """All addresses, absolute."""
    found = (url([one], context) for one in values)
    return [*dict.fromkeys(one for one in found if one)][:MOST_LISTED] or None


def date(values: list[Any], context: ValueContext) -> str | None:
    """The first date or time, in ISO 8601."""
    return next((found for one in _texts(values) if (found := readings.date(one, context.language))), None)


def number(values: list[Any], _: ValueContext = NO_CONTEXT) -> float | None:
    """The first number."""
    return next((found for one in _plain(values) if (found := readings.number(one)) is not None), None)


def rating(values: list[Any], _: ValueContext = NO_CONTEXT) -> float | None:
    """The first number, whose only mark is before its decimals, be they three: `4.667`."""
    found = (float(one.replace(",", ".")) if RATING.fullmatch(one) else one for one in _texts(values))
    return number([*found])


def price(values: list[Any], _: ValueContext = NO_CONTEXT) -> Mapping[str, Any] | None:
    """The price of the first offer that has one; of a range the lowest."""
    return next((found for one in values if (found := _price(one)) is not None), None)


def _price(offer: Any) -> Mapping[str, Any] | None:
    if isinstance(offer, dict) and (inner := offer.get("offers") or offer.get("priceSpecification")):
        specified = price(inner if isinstance(inner, list) else [inner])
        if specified:
            return specified
    amount = _first(offer, "price", "lowPrice", "minPrice", "value") if isinstance(offer, dict) else offer
    currency = text([_first(offer, "priceCurrency", "currency")]) if isinstance(offer, dict) else None
    found = next(_plain([amount]), None)
    return None if found is None else readings.price(found, currency)


def salary(values: list[Any], _: ValueContext = NO_CONTEXT) -> Mapping[str, Any] | None:
    """A sum or a range of an amount of money, with its currency and the time that it is for."""
    for one in values:
        inner = _first(one, "value")
        amounts = inner if isinstance(inner, dict) else {"value": inner}
        low, high = (number([_first(amounts, name, "value")]) for name in ("minValue", "maxValue"))
        if low is not None or high is not None:
            currency = text([_first(one, "currency"), _first(amounts, "currency")])
            return {"min": low, "max": high, "currency": currency, "per": text([amounts.get("unitText")])}
    return None


def term(values: list[Any], context: ValueContext) -> str | None:
    """A term of schema.org: `InStock` of its address, and of `in stock`."""
    found = (text(values, context) or "").rstrip("/").rpartition("/")[2]
    return TERMS.get(found.replace(" ", "").replace("_", "").lower(), found) or None


def gtin(values: list[Any], context: ValueContext) -> str | None:
    """A number of articles of trade, or of books."""
    found = ((text([one], context) or "").replace("-", "") for one in values)
    return next((one for one in found if GTIN.fullmatch(one)), None)


def place(values: list[Any], _: ValueContext = NO_CONTEXT) -> str | None:
    """A place or an address in one line."""
    return next((found for one in values if (found := ", ".join(_lines(one)))), None)


def _lines(value: Any) -> Iterator[str]:
    if not isinstance(value, dict):
        yield from _texts([value])
        return
    for name in ADDRESS:
        yield from _texts([_first(value, name)])
    yield from _lines(_first(value, "address"))


def steps(values: list[Any], context: ValueContext) -> list[str] | None:
    """The texts of steps, also of those in sections."""
    inner = [one.get("itemListElement") if isinstance(one, dict) else None for one in values]
    flat = [
        part
        for one, steps_of in zip(values, inner, strict=True)
        for part in (steps_of if isinstance(steps_of, list) else [one])
    ]
    return texts([_first(one, "text", "name") if isinstance(one, dict) else one for one in flat], context)


def questions(values: list[Any], context: ValueContext) -> list[dict[str, str | None]] | None:
    """Questions, each with its answer."""
    found = []
    for one in values[:MOST_LISTED]:
        if isinstance(one, dict) and (asked := text([_first(one, "name")], context)):
            answers = one.get("acceptedAnswer") or one.get("suggestedAnswer")
            answers = answers if isinstance(answers, list) else [answers]
            found.append(
                {
                    "question": asked,
                    "answer": text([_first(answer, "text") for answer in answers], context),
                }
            )
    return found or None


def entries(values: list[Any], context: ValueContext) -> list[dict[str, str | None]] | None:
    """The entries of a list: a name and an address each, in the order of their positions."""
    found = [_entry(one, context) for one in sorted(values[: 10 * MOST_LISTED], key=_position)]
    return [one for one in found if one["name"] or one["url"]][:MOST_LISTED] or None


def _entry(value: Any, context: ValueContext) -> dict[str, str | None]:
    inner = _first(value, "item")
    named = [text([_first(one, "name")], context) for one in (value, inner) if isinstance(one, dict)]
    places = [_first(value, "url"), inner] if isinstance(value, dict) else [value]
    if isinstance(value, dict) and "ListItem" not in types(value):
        places.append(value.get("@id"))
    return {"name": next(filter(None, named), None), "url": url(places, context)}


def _position(value: Any) -> float:
    return number([_first(value, "position")]) or 0


def _first(value: Any, *names: str) -> Any:
    """The first of some members of an object, and of a list its first value."""
    given = (value.get(name) for name in names) if isinstance(value, dict) else iter(())
    found = next((one for one in given if one not in (None, "", [])), None)
    return found[0] if isinstance(found, list) else found


def _texts(values: list[Any]) -> Iterator[str]:
    """The texts of values, also of numbers."""
    return map(str, _plain(values))


def _plain(values: list[Any]) -> Iterator[str | int | float]:
    """The texts and the numbers of values; that of an object is its value or its name."""
    for one in values:
        plain = _first(one, "@value", "name", "text") if isinstance(one, dict) else one
        if isinstance(plain, int | float) and not isinstance(plain, bool):
            yield plain
        elif isinstance(plain, str) and (line := " ".join(shown(plain).split())[:LONGEST_TEXT]):
            yield line
