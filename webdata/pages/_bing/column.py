"""The main column of a results page: its headings, and whether each is an ad's or an organic result's.

A result is a heading with a link, since 2018, on desktop and mobile. On desktop the link is in the heading, on mobile
the heading is in the link. The class of the box around it separates results from answers.
"""

from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from webdata.pages._bing.links import absolute, is_paid, leads_away, target
from webdata.pages._elements import ancestry, attribute, visible_text

COLUMN = "b_results"
HEADINGS = ("h2", "h3", "[role=heading]")
LINKED = "h2 a[href], a[href] h2"
ORGANIC = "b_algo"
AD = "sb_add"
ADS = "b_ad"
ELSEWHERE = frozenset({"b_ans", "b_pag", "b_msg", "b_no", "b_context", "b_rs"})
"""Classes and ids of parts between or beside the results that are no results: answers, page links, notices."""
SHOPPING = frozenset({"pa_item", "pa_ml", "pa_mlo", "b_adPATitle", "b_adPATitleBlock", "pa_hover"})
BOTTOM = "b_adBottom"

Around = list[tuple[LexborNode, frozenset[str]]]
"""A heading and the elements around it, from the inside out, each with its classes and id."""


@dataclass(slots=True)
class ColumnEntry:
    """An ad or an organic result of the main column."""

    title: str
    link: str
    """That of an ad is the address of its tracker."""
    box: LexborNode
    is_ad: bool
    at_bottom: bool
    """Whether the class of its box places it below the results."""


def entries(root: LexborNode) -> list[ColumnEntry]:
    """The ads and organic results, in the order of the page."""
    inside = f"#{COLUMN} " if root.css_first(f"#{COLUMN}") is not None else ""
    known = root.css_first(f"{inside}.{ORGANIC}") is not None
    found: dict[int, ColumnEntry] = {}
    for heading in root.css(", ".join(inside + tag for tag in HEADINGS)):
        if entry := _entry(heading, known):
            found.setdefault(entry.box.mem_id, entry)
    return list(found.values())


def _entry(heading: LexborNode, known: bool) -> ColumnEntry | None:
    """The entry of a heading; `known` is whether the page has the class of organic results."""
    around = _around(heading)
    classes = frozenset[str]().union(*(names for _, names in around))
    anchors = [*heading.css("a[href]"), *(node for node, _ in around if node.tag == "a")]
    for anchor in anchors:
        href = attribute(anchor, "href")
        paid = is_paid(href) or AD in classes or ADS in classes
        title = visible_text(heading if anchor.css_first("h2, h3, [role=heading]") is not None else anchor)
        link = absolute(href) if paid else target(href)
        if title and link:
            box = _ad_box(heading, around, classes) if paid else _box(heading, around, classes, known, link)
            return ColumnEntry(title, link, box, paid, BOTTOM in classes) if box is not None else None
    return None


def _ad_box(heading: LexborNode, around: Around, classes: frozenset[str]) -> LexborNode | None:
    """The box of a text ad; None for products and for an h3, the heading of the links below an ad."""
    return None if classes & SHOPPING or heading.tag == "h3" else _nearest(around, AD) or _item(around)


def _box(heading: LexborNode, around: Around, classes: frozenset[str], known: bool, link: str) -> LexborNode | None:
    """The box of an organic result; None for any other heading."""
    if classes & ELSEWHERE or not (known or leads_away(link)):
        return None
    box = _nearest(around, ORGANIC) if known else _item(around)
    better = box is not None and heading.tag != "h2" and box.css_first(LINKED) is not None
    return None if better else box


def _around(heading: LexborNode) -> Around:
    found: Around = []
    for node in ancestry(heading):
        identity = attribute(node, "id")
        if identity == COLUMN or node.tag == "body":
            break
        found.append((node, frozenset([*attribute(node, "class").split(), identity])))
    return found


def _nearest(around: Around, name: str) -> LexborNode | None:
    return next((node for node, names in around if name in names), None)


def _item(around: Around) -> LexborNode | None:
    """The item of the list, where the box has no known class."""
    return next((node for node, _ in around if node.tag == "li"), None)
