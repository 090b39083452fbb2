"""Organic results: a heading inside a link that leads away from Google, in the main column.

All layouts since 2019 have that relation; classes only delimit the parts of a result. Mobile pages have no `h3`:
there the heading is a `[role=heading]`, and the text of the link contains its address.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from selectolax.lexbor import LexborNode

from webdata.domain.records import Result, ResultMetadata, Sitelink
from webdata.pages._elements import ancestry, attribute, image, labelled_text, lines, visible_text
from webdata.pages._google.links import HIGHLIGHT, destination, host, is_paid, outside
from webdata.pages._google.tree import GooglePage, Mark
from webdata.pages._text import clean, count, date, price, rating

EXCLUDED = (
    "question", "questions", "text_ad", "ad_area", "product_ad", "aside",
    "carousel", "popup", "ai_text", "dictionary", "place", "fact",
)  # fmt: skip
"""The kinds of elements around a heading that make it no result."""

SNIPPET = ".VwiC3b, .st, .aCOpRe, .lEBKkf, .FrIlee"
SNIPPET_BOX = "[data-sncf]"
PLAIN_TEXT = ".s3v9rd"
ADDRESS = "cite, .ob9lvb, .UPmit, .qzEoUe"
SOURCE = ".VuuXrf, .BTu2cd"
ATTRIBUTES = ".fG8Fp, .uo4vr, .ZRUqAf"
STARS = "g-review-stars [aria-label], .z3HNkc, [role=img][aria-label]"
PLAIN_LINK = "fuLhoc"
SECTION = "g-section-with-header"
PICTURES = "[data-snf=Vjbam], g-img, .uhHOwf, .LicuJb"
SITELINKS = "h3 > a, .HiHjCd a, .osl a, .GqbEwc, .usJj9c a"
READ_ON = f'a[href*="{HIGHLIGHT}"], a[aria-describedby]'
"""The link at the end of a snippet: to its text on the page, or described by the title."""
MOST_BLOCKS = 8
"""Blocks in the box of a result, which has other results beside it in some layouts."""
MOST_LINES = 200
"""Lines of a box, and links, that are searched for its snippet."""
LONG = 40
"""Characters; a line this long below a title is its snippet."""
BRACKETS = re.compile(r"\((\d[^()]*)\)")
REVIEWS = re.compile(r"(\d[\d.,' \u00a0\u202f]*(?:[KkM]\b)?) ?[^\W\d_]")
DASH = re.compile(r"\s[—–·-]\s|\s\.\.\.\s")


@dataclass(slots=True)
class Title:
    """The title of a result, and its link."""

    mark: Mark
    text: str
    anchor: LexborNode
    link: str


def titles(page: GooglePage) -> list[Title]:
    """The titles of the organic results, in the order of the page."""
    headings = [mark for mark in page.of("heading") if not mark.is_within(EXCLUDED)]
    desktop = [title for mark in headings if mark.node.tag == "h3" and (title := _title(mark))]
    boxed = any("result_box" in mark.inside for mark in headings)
    others = (title for mark in headings if mark.node.tag != "h3" and (title := _title(mark)))
    mobile = [title for title in others if _is_mobile_result(title, boxed)]
    longest = mobile if len(mobile) > len(desktop) else desktop or list(_plain_titles(page))
    return [title for title in longest if not page.is_hidden(title.anchor)]


def _title(mark: Mark) -> Title | None:
    anchor = mark.within("link", "heading")
    if anchor is None or "link" not in anchor.kinds:
        return _old_title(mark)
    if is_paid(anchor.node):
        return None
    link = outside(destination(anchor.attributes))
    text = visible_text(mark.node)
    return Title(mark, text, anchor.node, link) if link and text else None


def _old_title(mark: Mark) -> Title | None:
    """Until 2018, and on pages without JavaScript, the link was inside the heading: `h3.r > a`."""
    anchor = mark.node.css_first("a[href]") if "r" in mark.classes else None
    link = outside(attribute(anchor, "href"))
    in_table = any(around.tag == "table" for around in ancestry(mark.node))
    return (
        Title(mark, visible_text(anchor), anchor, link)
        if anchor is not None and link and visible_text(anchor) and not in_table
        else None
    )


def _plain_titles(page: GooglePage) -> Iterator[Title]:
    """Titles without a heading, on the oldest pages without JavaScript: the first line of a box's first link."""
    seen: set[int] = set()
    for mark in page.of("link"):
        box = mark.within("plain_box")
        link = outside(mark.attribute("href")) if box is not None and not box.is_within(("plain_box",)) else None
        if box is None or link is None or box.order in seen:
            continue
        rows = lines(mark.node)
        if rows and (_is_address(visible_text(mark.node), host(link)) or PLAIN_LINK in mark.classes):
            seen.add(box.order)
            yield Title(mark, rows[0], mark.node, link)


def _is_mobile_result(title: Title, boxed: bool) -> bool:
    """Whether a mobile link is a result: it is in a result box, or its text contains the site of its target."""
    if boxed or any(around.tag == SECTION for around in ancestry(title.anchor)):
        return "result_box" in title.mark.inside
    return _is_address(visible_text(title.anchor).replace(title.text, "", 1), host(title.link))


def result(page: GooglePage, title: Title) -> Result:
    """One organic result; the caller sets its ranks."""
    outer = page.box(title.anchor)
    inner = _inner(page, title, outer)
    description, day = _description(inner, title)
    return {
        "title": title.text,
        "description": description,
        "position": 0,
        "realPosition": 0,
        "result_type": "organic",
        "metadata": _metadata(inner, outer, title, day),
        "link": title.link,
    }


def _inner(page: GooglePage, title: Title, outer: LexborNode) -> LexborNode:
    """The innermost known box of a result, unless it is one of many results; else its outer box."""
    for mark in title.mark.outer():
        if not mark.kinds.isdisjoint(("result_box", "plain_box")):
            return mark.node if page.count(mark.node) <= MOST_BLOCKS else outer
    return outer


def _description(box: LexborNode, title: Title) -> tuple[str, str | None]:
    """The snippet and the date before it."""
    text = next(filter(None, map(_without_more, _snippets(box))), None) or _text_after(box, title)
    dash = DASH.search(text, 0, 60)
    day = date(text[: dash.start()]) if dash else None
    return (text[dash.end() :], day) if dash and day else (text, None)


def _snippets(box: LexborNode) -> Iterator[LexborNode | None]:
    """The elements that may be the snippet, the most specific first."""
    yield box.css_first(SNIPPET)
    yield from box.css(SNIPPET_BOX)
    yield from (node for node in box.css(PLAIN_TEXT) if len(node.css(PLAIN_TEXT)) == 1)


def _without_more(node: LexborNode | None) -> str:
    """The text of a snippet without the link at its end."""
    text = visible_text(node)
    more = node.css_first(READ_ON) if node is not None else None
    return clean(text.removesuffix(visible_text(more))) if more is not None else text


def _text_after(box: LexborNode, title: Title) -> str:
    """The first long line below the title, links aside: the snippet of a box without known classes.

    On the page without JavaScript a box has few other lines, so a shorter one will do.
    """
    linked = [text for anchor in box.css("a")[:MOST_LINES] if (text := visible_text(anchor))]
    below = islice(_below(box, title), MOST_LINES)
    lengths = {line: len(_without(line, linked)) for line in below if "›" not in line}
    long = next((line for line, length in lengths.items() if length > LONG), "")
    return long or (max(lengths, key=lengths.__getitem__, default="") if title.mark.is_within(("plain_box",)) else "")


def _below(box: LexborNode, title: Title) -> Iterator[str]:
    """The lines of a box that follow its title."""
    below = False
    for line in lines(box):
        if below:
            yield line
        below = below or title.text.endswith(line) or line.startswith(title.text)


def _without(line: str, parts: list[str]) -> str:
    for part in parts:
        line = line.replace(part, "")
    return line.strip(" ·")


def _metadata(inner: LexborNode, outer: LexborNode, title: Title, day: str | None) -> ResultMetadata:
    address, notes = _address(inner, title)
    attributes = [*notes, *_attributes(inner)]
    day = day or next(filter(None, map(date, notes)), None)
    stars = inner.css_first(STARS)
    picture = next(filter(None, map(image, inner.css(PICTURES))), None)
    metadata: ResultMetadata = {}
    if address:
        metadata["display_url"] = address
    if listed := list(dict.fromkeys([*([day] if day else []), *attributes])):
        metadata["attributes"] = listed
    if day:
        metadata["date"] = day
    if source := visible_text(inner.css_first(SOURCE)) or _site_name(title, address):
        metadata["source"] = source
    if picture:
        metadata["thumbnail"] = picture
    if stars is not None:
        metadata |= _rating(stars, attributes)
    if sitelinks := _sitelinks(outer, title):
        metadata["sitelinks"] = sitelinks
    return metadata


def _address(box: LexborNode, title: Title) -> tuple[str, list[str]]:
    """The address as displayed; posts have notes instead ("160+ comments · 2 years ago")."""
    site = host(title.link)
    text = visible_text(box.css_first(ADDRESS)) or next(
        (line for line in lines(title.anchor) if _is_address(line, site)), ""
    )
    if _is_address(text, site):
        return text, []
    return site, [part for raw in text.split("·") if (part := clean(raw))]


def _site_name(title: Title, address: str) -> str:
    """The name of the site: the only line in a title's link that is neither the title nor the address."""
    others = [line for line in lines(title.anchor) if line not in (title.text, address)]
    return others[0] if len(others) == 1 and not _is_address(others[0], host(title.link)) else ""


def _is_address(text: str, site: str) -> bool:
    """Whether a text is the displayed address of a page of a site."""
    return "›" in text or "‹" in text or "://" in text or (bool(site) and site in text)


def _attributes(box: LexborNode) -> list[str]:
    node = box.css_first(ATTRIBUTES)
    return [part for raw in visible_text(node).split("·") if (part := clean(raw))] if node is not None else []


def _rating(stars: LexborNode, attributes: list[str]) -> ResultMetadata:
    """The rating and the number of reviews; from the text beside the stars if any, since their label is rounded."""
    beside = next((i for i, part in enumerate(attributes[:2]) if rating(part) is not None and not price(part)), None)
    value = rating(attributes[beside] if beside is not None else labelled_text(stars))
    if value is None:
        return {}
    metadata: ResultMetadata = {"rating": value}
    near = attributes[beside : beside + 2] if beside is not None else []
    label = attribute(stars, "aria-label")
    reviews = next((number for part in (*near, label) if (number := _review_count(part)) is not None), None)
    if reviews is not None:
        metadata["reviews"] = reviews
    return metadata


def _review_count(part: str) -> int | None:
    """The number in `store rating (1.8K)` or `6,791 reviews`."""
    match = BRACKETS.search(part) or (REVIEWS.match(part) if part[:1].isdigit() and rating(part) is None else None)
    return count(match.group(1)) if match else None


def _sitelinks(box: LexborNode, title: Title) -> list[Sitelink]:
    """The links to parts of the site below a result."""
    sitelinks: dict[str, Sitelink] = {}
    for anchor in box.css(SITELINKS):
        link, text = outside(attribute(anchor, "href")), visible_text(anchor)
        if link and text and link != title.link and link not in sitelinks:
            sitelinks[link] = {"title": text, "link": link, "description": _beside(anchor, text)}
    return list(sitelinks.values())


def _beside(anchor: LexborNode, text: str) -> str | None:
    """The text beside a sitelink in its cell of the table."""
    heading = anchor.parent
    cell = heading.parent if heading is not None and heading.tag == "h3" else None
    return clean(visible_text(cell).removeprefix(text)) or None if cell is not None else None
