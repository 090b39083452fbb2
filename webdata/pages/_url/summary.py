"""One summary of what a page is about, from all that it says of itself to programs.

A page is of the first kind of `FIELDS` that an item of schema.org in it has, else of that which OpenGraph says. Each
field has the value of the first source with one that can be read: JSON-LD, microdata, RDFa, OpenGraph, Twitter cards,
other elements `meta`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypedDict
from urllib.parse import urlsplit

from webdata.pages._url.json_ld import NAMESPACE, types
from webdata.pages._url.schema_values import ValueContext
from webdata.pages._url.summary_fields import BREADCRUMB, FIELDS, SchemaItem, SummaryField

KINDS = {
    "product": frozenset(["Product", "ProductGroup", "IndividualProduct", "ProductModel", "Vehicle", "Car"]),
    "job": frozenset(["JobPosting"]),
    "recipe": frozenset(["Recipe"]),
    "faq": frozenset(["FAQPage", "QAPage"]),
    "listing": frozenset(["ItemList", "CollectionPage", "SearchResultsPage", "OfferCatalog", "ProductCollection"]),
    "organization": frozenset([
        "Airline", "Attorney", "AutoDealer", "AutoRepair", "Bakery", "BarOrPub", "BedAndBreakfast", "Brewery",
        "CafeOrCoffeeShop", "Campground", "CollegeOrUniversity", "Corporation", "DaySpa", "Dentist", "Electrician",
        "FoodEstablishment", "GovernmentOffice", "Hospital", "Hostel", "Hotel", "Library", "Locksmith", "MedicalClinic",
        "Motel", "MusicGroup", "NGO", "Notary", "Pharmacy", "Physician", "Plumber", "RealEstateAgent", "Resort",
        "SportsTeam", "Winery",
    ]),
    "breadcrumb": frozenset(["BreadcrumbList"]),
}  # fmt: skip
"""The types of each kind; further ones by their ends."""
ENDS = {
    "event": ("Event", "Festival"),
    "article": ("Article", "BlogPosting", "ForumPosting", "MediaPosting", "Report"),
    "organization": (
        "Agency", "Business", "Club", "FinancialService", "Organization", "ProfessionalService", "Restaurant", "Salon",
        "School", "Store",
    ),
}  # fmt: skip
GRAPH_KINDS = {"article": "article", "product": "product", "og:product": "product", "product.item": "product"}
FEW_PRODUCTS = 4
"""Products beside each other of which a page is a list."""
TITLES = ("title", "name")
BEHIND = re.compile(r"(.*\S)(?:\s+[-\u2013\u2014/\u00b7:]|\s*[|\uff5c\u2022\u00bb\uff1a])\s*", re.DOTALL)
BEFORE = re.compile(r"(?:\s+[-\u2013\u2014/\u00b7]|\s*[|\uff5c\u2022\u00bb\uff1a])\s*(\S.*)", re.DOTALL)
"""A title and a sign, or a sign and a title, beside the name of the site."""
MOST_ITEMS = 2_000
CURRENCIES = {"product:price:amount": "product:price:currency", "og:price:amount": "og:price:currency"}
OF_SITE = ("organization", "breadcrumb")
"""Kinds that most pages have beside what they are about."""
LISTED = frozenset(["itemListElement", "hasPart", "mainEntity"])
"""The properties with what a list has."""
SOURCES = ("json_ld", "microdata", "rdfa")

SummaryValue = TypedDict("SummaryValue", {"value": Any, "from": str})
"""The value of a field, and the first source that has it."""


def summary(structured: Mapping[str, Any], context: ValueContext) -> dict[str, Any] | None:
    """The kind of a page as `type`, and its fields with their values; None where the page says none."""
    sources = {name: [*islice(_items(structured[name], name), MOST_ITEMS)] for name in SOURCES}
    metas = {name: structured[name] for name in ("opengraph", "twitter", "meta")}
    paths = _field(
        BREADCRUMB, {name: _of(items, "breadcrumb", context) for name, items in sources.items()}, {}, context
    )
    for kind in _kinds(sources, metas["opengraph"], context):
        chosen = {name: _chosen(items, kind, context) for name, items in sources.items()}
        fields = {name: _field(field, chosen, metas, context) for name, field in FIELDS[kind].items()}
        found = {name: value for name, value in fields.items() if value is not None}
        if kind not in OF_SITE:
            _leave_site(found, metas["opengraph"])
        if found or kind == "breadcrumb":
            return {"type": kind, **found, **({"breadcrumb": paths} if paths else {})} if found or paths else None
    return None


def _leave_site(found: Mapping[str, SummaryValue], graph: Mapping[str, Any]) -> None:
    """Leave the name of the site out of a title, in place, where a sign is between them."""
    sites = [found["publisher"]["value"]] if "publisher" in found else []
    sites += [one for one in _of_meta(graph, "og:site_name") if one not in sites] if "og:site_name" in graph else []
    for name in TITLES:
        for site in sites:
            if name in found:
                found[name]["value"] = _without(found[name]["value"], site)


def _without(title: str, site: str) -> str:
    """A title without the name of a site behind or before it."""
    place = len(title) - len(site)
    if place > 0 and title[place:].lower() == site.lower() and (found := BEHIND.fullmatch(title[:place])):
        return found[1]
    if title[: len(site)].lower() == site.lower() and (found := BEFORE.fullmatch(title[len(site) :])):
        return found[1]
    return title


def _kinds(
    sources: Mapping[str, Sequence[SchemaItem]], graph: Mapping[str, Any], context: ValueContext
) -> Iterator[str]:
    """The kinds of a page, the best first: those of its items, but for its site, and that which OpenGraph says."""
    own = [kind for kind in FIELDS if any(_chosen(items, kind, context) for items in sources.values())]
    yield from (kind for kind in own if kind not in OF_SITE)
    if kind := GRAPH_KINDS.get(str(graph.get("og:type")).lower()):
        yield kind
    yield from (kind for kind in own if kind in OF_SITE)


def _items(found: Sequence[Any], source: str) -> Iterator[SchemaItem]:
    """The items of a source in the form of JSON-LD, and those that they are about."""
    for one in found:
        item = one if source == "json_ld" else _as_json_ld(one)
        if isinstance(item, dict):
            yield item
            for name in ("mainEntity", "breadcrumb"):
                inner = item.get(name)
                yield from (part for part in (inner if isinstance(inner, list) else [inner]) if isinstance(part, dict))


def _as_json_ld(item: Any) -> Any:
    """An item of microdata or RDFa, whose properties are lists of values, as JSON-LD has it."""
    if not isinstance(item, dict):
        return item
    properties = {NAMESPACE.sub("", name): _alone(values) for name, values in item["properties"].items()}
    return {"@type": item["type"], **({"@id": item["id"]} if "id" in item else {}), **properties}


def _alone(values: Sequence[Any]) -> Any:
    found = [_as_json_ld(one) for one in values]
    return found[0] if len(found) == 1 else found


def _of(items: Sequence[SchemaItem], kind: str, context: ValueContext) -> list[SchemaItem]:
    """The items of a kind; many products are a list, and an organization without an address is the page's publisher."""
    found = [item for item in items if _is_of(item, kind)]
    if kind == "product" and len(found) >= FEW_PRODUCTS:
        return []
    if kind == "organization" and urlsplit(context.base).path.strip("/"):
        return [item for item in found if item.get("address") or item.get("telephone")]
    if kind == "listing":
        products = [item for item in items if _is_of(item, "product")]
        lists = [item for item in found if LISTED.intersection(item)]
        return lists or ([{"itemListElement": products}] if len(products) >= FEW_PRODUCTS else [])
    return found


def _is_of(item: SchemaItem, kind: str) -> bool:
    known, ends = KINDS.get(kind, frozenset()), ENDS.get(kind, ())
    return any(name in known or (ends and name.endswith(ends)) for name in types(item))


def _chosen(items: Sequence[SchemaItem], kind: str, context: ValueContext) -> list[SchemaItem]:
    """The item of a kind that the page is about: the one with its address, else that with the most properties."""
    found = _of(items, kind, context)
    named = [item for item in found if str(item.get("url") or item.get("@id") or "").partition("#")[0] == context.base]
    best = max(named or found, key=len, default=None)
    return [] if best is None else [_joined(best, items)]


def _joined(item: SchemaItem, items: Sequence[SchemaItem]) -> SchemaItem:
    """An item in which references to other items of the page are these."""
    known: dict[str | None, SchemaItem] = {
        one["@id"]: one for one in items if isinstance(one.get("@id"), str) and len(one) > 1
    }
    return {name: _resolved(value, known) for name, value in item.items()}


def _resolved(value: Any, known: Mapping[str | None, SchemaItem]) -> Any:
    """A value with the items that it refers to; a list has each of them once, or it would be read as often."""
    if not isinstance(value, list):
        return known.get(_reference(value), value)
    resolved: list[Any] = []
    seen: set[str | None] = set()
    for one in value:
        name = _reference(one)
        resolved.append(one if name in seen else known.get(name, one))
        seen.add(name)
    return resolved


def _reference(value: Any) -> str | None:
    """The identity of the item that a value is a reference to; None for any other value."""
    found = value.get("@id") if isinstance(value, dict) and len(value) == 1 else None
    return found if isinstance(found, str) else None


def _field(
    field: SummaryField,
    chosen: Mapping[str, Sequence[SchemaItem]],
    metas: Mapping[str, Mapping[str, Any]],
    context: ValueContext,
) -> SummaryValue | None:
    """The value of a field by the order of the sources; None where none has one."""
    for source, items in chosen.items():
        for path in field.paths:
            found = field.read([*_at(items, path.split("."))], context) if items else None
            if found is not None:
                return {"value": found, "from": source}
    for source, named in metas.items():
        for name in field.metas:
            found = field.read(_of_meta(named, name), context) if name in named else None
            if found is not None:
                return {"value": found, "from": source}
    return None


def _at(items: Sequence[Any], names: Sequence[str]) -> Iterator[Any]:
    """The values at a path of properties, of each of several values."""
    if not names:
        yield from items
        return
    for item in items:
        if isinstance(item, dict) and (value := item.get(names[0])) is not None:
            yield from _at(value if isinstance(value, list) else [value], names[1:])


def _of_meta(named: Mapping[str, Any], name: str) -> list[Any]:
    """The contents of the elements `meta` of a name; a price with its currency."""
    given = named[name] if isinstance(named[name], list) else [named[name]]
    currency = named.get(CURRENCIES.get(name, ""))
    return [{"price": one, "priceCurrency": currency} for one in given] if currency else given
