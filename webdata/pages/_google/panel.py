"""The knowledge panel: an entity (a person, a company, a film, a product) and the facts about it."""

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from webdata.domain.records import Company, NamedLink
from webdata.pages._elements import ancestry, attribute, image, labelled_text, visible_text
from webdata.pages._google.links import ENTITY, outside, target
from webdata.pages._google.tree import GooglePage, Mark
from webdata.pages._text import clean, count, rating

TITLE = "title"
SUBTITLE = "subtitle"
DESCRIPTION = "description"
NEW_DESCRIPTION = "VisualDigestDescription"
"""The name of the description in the panel of 2025 and later."""
PROFILES = "kc:/common/topic:social media presence"
WEBSITE = (
    "visit_official_site",
    "kc:/organization/organization:official_site",
    "kc:/local:website",
    "kc:/local:unified_actions",
)
ABOUT = ("kc:", "ss:", "hw:", "okra", "lab/", SUBTITLE, DESCRIPTION, "image", "secondary image", "visit_")
PHONE = ("phone",)
ADDRESS = ("kc:/location/location:address",)
KG_ID = re.compile(r"/[mg]/[0-9a-z_]+")
LABEL = ".w8qArf, .kno-fb-ctx .fl:first-child"
VALUE = ".LrzXr, .kno-fv"
STARS = ".Aq14fc, .yi40Hd, .z3HNkc, g-review-stars [aria-label]"
OLD_TITLE = ".kno-ecr-pt"
RATED = re.compile(r"^[0-5][.,]\d|^\(")
MOST_TITLES = 20
"""Titles of entities among which that of the panel is looked for; a page has two or three."""
EXCLUDED = ("question", "popup", "text_ad", "product_ad", "dictionary")


def company(page: GooglePage) -> Company:
    """The panel; empty where the page has none."""
    title = _title(page)
    if title is None or not visible_text(title.node):
        return {}
    facts = [mark for mark in page.of("fact") if not mark.is_within(EXCLUDED)]
    by_name: dict[str, Mark] = {}
    for mark in facts:
        by_name.setdefault(mark.attribute("data-attrid"), mark)
    aside = title.within("aside") or next(iter(page.of("aside")), None)
    box = aside.node if aside is not None else title.node
    description, source = _description(by_name, box)
    subtitle = by_name.get(SUBTITLE)
    return {
        "name": visible_text(title.node),
        "type": _type(subtitle, title),
        "description": description,
        "description_source": source,
        "website": _website(by_name),
        "image": image(box),
        "kgmid": _kg_id(page, visible_text(title.node)),
        "phone": _value(_first(by_name, PHONE)),
        "address": _value(_first(by_name, ADDRESS)),
        "rating": _rating(subtitle.node if subtitle else title.node.parent),
        "reviews": _reviews(subtitle),
        "attributes": dict(_attributes(facts)),
        "profiles": list(_named_links(by_name.get(PROFILES))),
        "people_also_search": list(_others(page, title)),
    }


def _title(page: GooglePage) -> Mark | None:
    facts = [mark for mark in page.of("fact") if not mark.is_within(EXCLUDED)]
    about = [mark for mark in facts if mark.attribute("data-attrid").startswith(ABOUT)]
    for mark in [mark for mark in facts if mark.attribute("data-attrid") == TITLE][:MOST_TITLES]:
        if visible_text(mark.node) and not page.is_hidden(mark.node) and any(_is_about(fact, mark) for fact in about):
            return mark
    return _old_title(page)


def _old_title(page: GooglePage) -> Mark | None:
    """Until 2020 the title had only a class, and was in the right column."""
    for aside in page.of("aside")[:MOST_TITLES]:
        node = aside.node.css_first(OLD_TITLE)
        if node is not None and any(aside in fact.outer() for fact in page.of("fact")):
            return Mark(node, aside.order, aside)
    return None


def _is_about(fact: Mark, title: Mark) -> bool:
    """Whether a fact belongs to the titled entity: the box "See results about" has a title, but no facts."""
    around = title.within("aside", "open_box")
    return around is None or around in fact.outer()


def _type(subtitle: Mark | None, title: Mark) -> str | None:
    """The kind of the entity: the last text of the subtitle, after the rating."""
    if subtitle:
        plain = [
            text
            for node in subtitle.node.css("span")
            if node.css_first("a, [role=button]") is None and (text := visible_text(node))
        ]
        labels = [text for text in plain if rating(text) is None and not text.startswith("(")]
        rated = RATED.search(visible_text(subtitle.node))
        return (labels[-1] if labels else None) if rated else visible_text(subtitle.node) or None
    below = title.node.css_first(f"{OLD_TITLE} + *") or title.node.next
    return (
        visible_text(below) or None
        if OLD_TITLE[1:] in title.classes and below is not None and below.tag == "div"
        else None
    )


def _description(by_name: dict[str, Mark], box: LexborNode) -> tuple[str | None, NamedLink | None]:
    mark = by_name.get(DESCRIPTION) or by_name.get(NEW_DESCRIPTION)
    node = (mark.node if mark else box).css_first(".kno-rdesc") or (mark.node if mark else None)
    if node is None:
        return None, None
    anchor = next((a for a in node.css("a[href]") if outside(attribute(a, "href"))), None)
    text = clean(_unbuttoned(node).removeprefix(visible_text(node.css_first("h2, h3"))))
    if anchor is None:
        return text or None, None
    name, link = visible_text(anchor), outside(attribute(anchor, "href")) or ""
    return clean(text.removesuffix(name)) or None, {"name": name, "link": link}


def _unbuttoned(node: LexborNode) -> str:
    """The text of an element without the button at its end that expands it."""
    text = visible_text(node)
    for button in node.css("[role=button], a.fl"):
        if (label := visible_text(button)) and label.isupper():
            text = clean(text.removesuffix(label)).rstrip(",… ")
    return text


def _website(by_name: dict[str, Mark]) -> str | None:
    mark = _first(by_name, WEBSITE)
    anchors = [mark.node, *mark.node.css("a[href]")] if mark else []
    return next((link for anchor in anchors if (link := outside(attribute(anchor, "href")))), None)


def _first(by_name: dict[str, Mark], endings: tuple[str, ...]) -> Mark | None:
    return next((mark for name, mark in by_name.items() if name.endswith(endings)), None)


def _value(mark: Mark | None) -> str | None:
    return visible_text(mark.node.css_first(VALUE)) or None if mark else None


def _attributes(facts: list[Mark]) -> Iterator[tuple[str, str]]:
    """The facts with a label such as "Born", and their values."""
    for mark in facts:
        label = mark.node.css_first(LABEL)
        value = mark.node.css_first(VALUE)
        if label is not None and value is not None:
            yield visible_text(label).rstrip(": "), _unbuttoned(value)


def _named_links(mark: Mark | None) -> Iterator[NamedLink]:
    for anchor in mark.node.css("a[href]") if mark else ():
        link = target(attribute(anchor, "href"))
        if link and visible_text(anchor):
            yield {"name": visible_text(anchor), "link": link}


def _rating(box: LexborNode | None) -> float | None:
    if box is None:
        return None
    return next((value for node in box.css(STARS) if (value := rating(labelled_text(node))) is not None), None)


def _reviews(subtitle: Mark | None) -> int | None:
    """The number of ratings: on the button for the reviews, or in parentheses."""
    labels = (visible_text(node) for node in subtitle.node.css("a, .RDApEe")) if subtitle else ()
    return next((number for text in labels if (number := count(text)) is not None), None)


def _kg_id(page: GooglePage, name: str) -> str | None:
    """The entity's id in the knowledge graph, from an element with its name, else from the panel's own data."""
    nodes = page.root.css("[data-maindata], [data-kpid]")
    quoted = f'"{name}"'
    named = [node for node in nodes if quoted in attribute(node, "data-maindata")]
    for node in [*named, *(node for node in nodes if "data-kpid" in node.attributes)]:
        if match := KG_ID.search(attribute(node, "data-maindata") or attribute(node, "data-kpid")):
            return match.group()
    return None


def _others(page: GooglePage, title: Mark) -> Iterator[NamedLink]:
    """The related entities: tiles with a picture and a link to a search for another entity."""
    around = {node.mem_id for node in ancestry(title.node)}
    for mark in page.of("link"):
        href = mark.attribute("href")
        link = target(href)
        if "aside" not in mark.inside or not link or not ENTITY.search(href) or mark.is_within(EXCLUDED):
            continue
        box = mark.within("open_box")
        if box is not None and box.node.mem_id not in around:
            continue  # the box "See results about"
        tile = mark.node if mark.node.css_first("img") is not None else mark.node.parent
        name = mark.attribute("title") or visible_text(tile)
        if tile is not None and name and tile.css_first("img") is not None and len(name) < 80:
            yield {"name": name, "link": link}
