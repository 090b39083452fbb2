"""Places: the map pack, the hotel pack, and the places on the page without JavaScript."""

import re

from selectolax.lexbor import LexborNode

from webdata.domain.records import Place
from webdata.pages._elements import attribute, image, lines, separate_boxes, visible_text
from webdata.pages._google.links import ENTITY, GOOGLE, outside, target
from webdata.pages._google.tree import Mark, Ordered, Page
from webdata.pages._text import clean, count, price, rating
from webdata.pages._urls import query, split

EXCLUDED = ("aside", "popup", "question", "questions", "carousel", "ad_area")
SPONSORED = ".rllt__details [data-dtld], .uEierd, .U3A9Ac, .jpu5Q"
PLAIN_LINKS = (f"{GOOGLE}search?", f"{GOOGLE}searchviewer/")
IDS = "[data-cid], [data-fid], [data-pid], [data-lrd]"
WEBSITE = "a.L48Cpd"
FEATURE = re.compile(r"0x[0-9a-f]+:0x[0-9a-f]+")
CID = re.compile(r"[?&]ludocid=(\d+)")
REVIEWS = re.compile(r"\(([^()]*\d[^()]*)\)")
PRICE_LEVEL = re.compile(r"[$€£¥₩฿₹₺]{1,4}|[$€£¥₩฿₹]\s?\d[\d.,]*\s?[–-]\s?\d[\d.,]*")
PHONE = re.compile(r"\+?[(\d][\d\s().\u2011/-]{6,18}\d")
STARS = ".yi40Hd, .oqSTJd, .BTtC6e"
OUT_OF_FIVE = re.compile(r"\b[0-5][.,]\d\b.*\b5\b")
AGE_OR_DISTANCE = re.compile(r"\d\+ |^\d+ ?(?:km|mi|m)\b")
OPENING = re.compile(
    r"⋅|^(?:open|closed|closes|opens|geöffnet|geschlossen|ouvert|fermé|abierto|cerrado|aperto|chiuso|aberto|fechado|営業|開店|閉店)\b",
    re.IGNORECASE,
)
QUOTE = re.compile(r"^[\"“”„«「].*[\"”“»」]$")


def places(page: Page) -> Ordered[Place]:
    """The places of the packs, each with the order of its pack."""
    named = [(mark, name) for mark in _place_marks(page) if not page.is_hidden(mark.node) and (name := _name(mark))]
    boxes = separate_boxes([[mark.node] for mark, _ in named], page.root, lambda node: page.count(node) > 0)
    packs: dict[int, int] = {}
    packed: Ordered[Place] = []
    for (mark, name), box in zip(named, boxes, strict=True):
        order = packs.setdefault(_pack(mark), mark.order)
        packed.append((order, _place(name, box, [row for row in _rows(mark, box) if row != name])))
    return packed


def _place_marks(page: Page) -> list[Mark]:
    """The marks with the names of places: their own, else those of the details, else headings in links to places."""
    for kind in ("place_name", "place"):
        if named := [mark for mark in page.of(kind) if not mark.is_within(EXCLUDED)]:
            return named
    return [mark for mark in page.of("heading") if _is_plain_place(mark) or _is_identified(mark)]


def _is_identified(mark: Mark) -> bool:
    """Whether a heading is in a link with the id of a place."""
    anchor = mark.within("link")
    return anchor is not None and "data-cid" in anchor.attributes and not mark.is_within(EXCLUDED)


def _is_plain_place(mark: Mark) -> bool:
    """Whether a heading is a place on the page without JavaScript: `a > h3` with a link to a search for it."""
    anchor = mark.within("link", "heading")
    if anchor is None or "link" not in anchor.kinds or not mark.within("plain_box") or mark.node.tag != "h3":
        return False
    link = target(anchor.attribute("href")) or ""
    return link.startswith(PLAIN_LINKS) and not ENTITY.search(link)


def _name(mark: Mark) -> str:
    return next(iter(lines(mark.node)), "") if "place" in mark.kinds else visible_text(mark.node)


def _pack(mark: Mark) -> int:
    """The order of the pack of a place: of the marked element around all its places."""
    around = next((outer for outer in mark.outer() if outer.kinds.isdisjoint(("link", "place"))), None)
    return around.order if around is not None else -1


def _rows(mark: Mark, box: LexborNode) -> list[str]:
    """The lines of a place; without JavaScript the separator of opening hours separates all facts."""
    rows = lines(box)
    return [row.replace("⋅", "·") for row in rows] if mark.is_within(("plain_box",)) else rows


def _place(name: str, box: LexborNode, rows: list[str]) -> Place:
    stars = _stars(box)
    first = next((i for i, row in enumerate(rows) if REVIEWS.search(row)), -1) if stars is not None else -1
    facts, below = (rows[first], rows[first + 1 :]) if first >= 0 else ("", rows)
    cells = _cells(below)
    return {
        "position": 0,
        "realPosition": 0,
        "name": name,
        "data_id": _data_id(box),
        "place_id": None,
        "rating": stars,
        "review_count": _review_count(facts),
        "price_level": next((cell for cell in _cells([facts]) if PRICE_LEVEL.fullmatch(cell)), None),
        "categories": _categories(facts, below),
        "address": next((cell for cell in cells if _is_address(cell)), None),
        "phone": next((cell for cell in cells if _is_phone(cell)), None),
        "website": _website(box),
        "link": _link(box),
        "description": [row for row in rows if QUOTE.match(row)],
        "opening_status": next(filter(None, map(_opening, below)), None),
        "thumbnail": image(box),
        "is_ad": box.css_first(SPONSORED) is not None,
    }


def _cells(rows: list[str]) -> list[str]:
    return [cell for row in rows for raw in row.split("·") if (cell := clean(raw))]


def _is_phone(cell: str) -> bool:
    return PHONE.fullmatch(cell) is not None and sum(map(str.isdigit, cell)) >= 7


def _is_address(cell: str) -> bool:
    """Whether a text with letters and digits is neither a quote, hours, a phone number, a price nor an age."""
    other = QUOTE.match(cell) or OPENING.search(cell) or _is_phone(cell) or price(cell) or AGE_OR_DISTANCE.search(cell)
    return not other and any(map(str.isdigit, cell)) and any(map(str.isalpha, cell)) and len(cell) < 120


def _stars(box: LexborNode) -> float | None:
    stars = box.css_first(STARS)
    if stars is not None:
        return rating(visible_text(stars))
    labels = (attribute(node, "aria-label") for node in box.css("[aria-label]"))
    return next((rating(label) for label in labels if OUT_OF_FIVE.search(label)), None)


def _review_count(row: str) -> int | None:
    match = REVIEWS.search(row)
    return count(match.group(1)) if match else None


def _opening(row: str) -> str | None:
    return " · ".join(cell for cell in _cells([row]) if OPENING.search(cell)) or None


def _categories(facts: str, below: list[str]) -> list[str]:
    """The kind of a place: the last fact after the rating on its row, else on the next row of several facts."""
    cells = _cells([facts.partition(")")[2]])
    if not cells and len(cells := _cells(below[:1])) < 2:
        return []
    return [cell for cell in cells if _is_kind(cell)][-1:]


def _is_kind(cell: str) -> bool:
    numbered = PRICE_LEVEL.fullmatch(cell) or any(map(str.isdigit, cell))
    return not numbered and "," not in cell and not OPENING.search(cell)


def _data_id(box: LexborNode) -> str | None:
    """The id of the place: the pair of hexadecimal numbers where the box has one, else the decimal number."""
    for node in [box, *box.css(IDS)]:
        for name in ("data-fid", "data-lrd", "data-pid"):
            if match := FEATURE.search(attribute(node, name)):
                return match.group()
    named = next((cid for node in [box, *box.css(IDS)] if (cid := attribute(node, "data-cid"))), None)
    return named or next(
        (match.group(1) for node in box.css("a") if (match := CID.search(attribute(node, "href")))), None
    )


def _website(box: LexborNode) -> str | None:
    anchors = [*box.css(WEBSITE), *box.css("a[href]")]
    return next((link for anchor in anchors if (link := outside(attribute(anchor, "href")))), None)


def _link(box: LexborNode) -> str | None:
    for node in box.css("a[href], [data-url]"):
        link = target(attribute(node, "href") or attribute(node, "data-url"))
        parts = split(link or "")
        if (
            link
            and parts
            and parts.netloc.endswith("google.com")
            and (parts.path.startswith(("/travel", "/maps", "/searchviewer")) or query(parts).get("q"))
        ):
            return link
    return None
