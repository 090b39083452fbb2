"""Places: the map pack, the hotel pack, and the places on the page without JavaScript."""

import re
from itertools import takewhile

from selectolax.lexbor import LexborNode

from webdata.domain.records import Place
from webdata.pages._elements import attribute, image, lines, separate_boxes, visible_text
from webdata.pages._google.links import ENTITY, GOOGLE, outside, target
from webdata.pages._google.tree import GooglePage, Mark, Ordered
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
DETAILS = ".rllt__details"
AGE = re.compile(
    r"(?<!\S)(?:\d{1,2} ?\+|\+ ?\d{1,2})(?!\S)"
    r"|(?<!\S)\d{1,2} ?(?:(?:years?|jahren?|ans|años|anni|anos|jaar|år|lat|лет|років|yıl\w*|năm|tahun|vuotta|éve"
    r"|let|ani|χρόνια)\b|سن|שנ|साल|वर्ष|ปี|年|년)",
    re.IGNORECASE,
)
"""How long a place is in business, such as "5+ years in business", which some places show instead of an address."""
DISTANCE = re.compile(r"^\d[\d.,]* ?(?:km|mi|m)\b")
PERCENT = re.compile(r"[%٪％]")
LONGEST_ADDRESS = 120
"""Characters of the longest address."""
OPENING = re.compile(
    r"⋅|24/7|\b24 ?h\b|\b24 (?:hours|stunden|heures|horas|ore|uur|timmar|timer|часа|jam|giờ)"
    r"|24 ?(?:時間|小时|小時|시간)"
    r"|^(?:open|closed|closes|opens|geöffnet|geschlossen|ouvert|fermé|abierto|cerrado|aperto|chiuso|aberto|fechado|営業|開店|閉店)\b",
    re.IGNORECASE,
)
QUOTE = re.compile(r"^[\"“”„«「].*[\"”“»」]$")


def places(page: GooglePage) -> Ordered[Place]:
    """The places of the packs, each with the order of its pack."""
    named = [(mark, name) for mark in _place_marks(page) if not page.is_hidden(mark.node) and (name := _name(mark))]
    boxes = separate_boxes([[mark.node] for mark, _ in named], page.root, lambda node: page.count(node) > 0)
    packs: dict[int, int] = {}
    packed: Ordered[Place] = []
    for (mark, name), box in zip(named, boxes, strict=True):
        order = packs.setdefault(_pack(mark), mark.order)
        packed.append((order, _place(mark, name, box)))
    return packed


def _place_marks(page: GooglePage) -> list[Mark]:
    """The marks with the names of places: their own, else those of the details, else headings in links to places."""
    for kinds in (("place_name", "hotel_name"), ("place",)):
        if named := [mark for mark in page.of(*kinds) if not mark.is_within(EXCLUDED)]:
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


def _fact_rows(box: LexborNode) -> list[str]:
    """The rows of facts (rating and kind, address and phone, hours), which have no class; services and quotes have."""
    details = box.css_first(DETAILS)
    children = [child for child in details.iter() if child.tag == "div"] if details is not None else []
    bare = [row for child in children if not attribute(child, "class") for row in lines(child)]
    return bare or lines(details)


def _place(mark: Mark, name: str, box: LexborNode) -> Place:
    stars = _stars(box)
    rows = [row for row in _rows(mark, box) if row != name]
    facts, below = _split(rows, stars)
    shown = _split([row for row in _fact_rows(box) if row != name] or rows, stars)
    address = None if "hotel_name" in mark.kinds else _address(*shown)
    return {
        "position": 0,
        "realPosition": 0,
        "name": name,
        "data_id": _data_id(box),
        "place_id": None,
        "rating": stars,
        "review_count": _review_count(facts),
        "price_level": next((cell for cell in _cells([facts]) if PRICE_LEVEL.fullmatch(cell)), None),
        "categories": _categories(*shown, address),
        "address": address,
        "phone": next((cell for cell in _cells(below) if _is_phone(cell)), None),
        "website": _website(box),
        "link": _link(box),
        "description": [row for row in rows if QUOTE.match(row)],
        "opening_status": next(filter(None, map(_opening, below)), None),
        "thumbnail": image(box),
        "is_ad": box.css_first(SPONSORED) is not None,
    }


def _split(rows: list[str], stars: float | None) -> tuple[str, list[str]]:
    """The row with the number of reviews, "" for a place without a rating, and the rows below."""
    first = next((i for i, row in enumerate(rows) if REVIEWS.search(row)), -1) if stars is not None else -1
    return (rows[first], rows[first + 1 :]) if first >= 0 else ("", rows)


def _cells(rows: list[str]) -> list[str]:
    return [cell for row in rows for raw in row.split("·") if (cell := clean(raw))]


def _is_phone(cell: str) -> bool:
    return PHONE.fullmatch(cell) is not None and sum(map(str.isdigit, cell)) >= 7


def _address(facts: str, below: list[str]) -> str | None:
    """The address, by its place: it is the last cell but the phone number of the row below that of rating and kind.

    Where the kind is on the row below the rating, the address is on the same row, or on the next one if that has the
    phone number or other rows below it, such as hours.
    """
    rows = list(takewhile(lambda row: not QUOTE.match(row), below))
    if not rows or OPENING.search(rows[0]):
        return None
    row, *after = rows
    if not _kinds(facts) and after and not OPENING.search(after[0]):
        row = after[0] if not facts or after[1:] or any(map(_is_phone, _cells(after[:1]))) else row
    cells = [cell for cell in _cells([row]) if not _is_phone(cell)]
    found = cells[-1] if cells else ""
    return found if _may_be_address(found) and not (len(cells) == 1 and AGE.search(found)) else None


def _may_be_address(cell: str) -> bool:
    """Whether a text has letters and is no price, discount or distance."""
    other = price(cell) or PERCENT.search(cell) or DISTANCE.search(cell)
    return not other and any(map(str.isalpha, cell)) and len(cell) < LONGEST_ADDRESS


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


def _categories(facts: str, below: list[str], address: str | None) -> list[str]:
    """The kind of a place: the last fact after the rating on its row, else the first on the next row of several."""
    cells = _cells(below[:1])
    return _kinds(facts)[-1:] or [cell for cell in cells if _is_kind(cell) and cell != address and len(cells) > 1][:1]


def _kinds(facts: str) -> list[str]:
    """The cells that may be the kind of a place, after the number of reviews on its row."""
    return [cell for cell in _cells([facts.partition(")")[2]]) if _is_kind(cell)]


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
