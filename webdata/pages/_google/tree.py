"""A results page as a small tree of marked elements.

A page has thousands of elements, of which a few hundred matter. One selector matches those (`SIGNS`), in document
order; each refers to the marked element around it. The parts of the page are identified within this small tree.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TypeVar

from selectolax.lexbor import LexborNode

from webdata.domain.errors import LayoutError
from webdata.pages._elements import ancestry, hidden, parsed

SIGNS = {
    "h3": "heading",
    "[role=heading]": "heading",
    "a": "link",
    "[data-text-ad]": "text_ad",
    "#tads": "ad_area",
    "#tadsb": "ad_area",
    "#bottomads": "ad_area",
    ".pla-unit": "product_ad",
    "[data-pla-slot-pos]": "product_ad",
    ".related-question-pair": "question",
    "[data-initq]": "questions",
    "#rhs": "aside",
    "#botstuff": "foot",
    "#rso": "column",
    "#main": "column",
    "g-scrolling-carousel": "carousel",
    "#iur": "images",
    "[role=dialog]": "popup",
    "[data-news-doc-id]": "story",
    "[data-attrid]": "fact",
    "[data-rl]": "ai_text",
    "[data-dobid]": "dictionary",
    ".xpdopen": "open_box",
    ".dbg0pd": "place_name",
    ".rllt__details": "place",
    ".BTPx6e": "hotel_name",
    "[data-snc]": "result_box",
    ".tF2Cxc": "result_box",
    ".Gx5Zad": "plain_box",
    ".ZINbbc": "plain_box",
    ".zMzFAb": "plain_box",
}
"""Simple selectors (a tag, `#id`, `.class`, `[attribute]`), and the kind of element that each matches."""

MOST_AROUND = 24
"""Marked elements around one; real pages have at most seven. So all marks together have a few times a page's text."""

MOST_HEADINGS = 400
"""Headings of a page; one of a hundred results has half as many, and each takes a third of a millisecond."""

BODY = "html, body, #search, #center_col"

Item = TypeVar("Item")
Ordered = list[tuple[int, Item]]
"""The items of a part, each with the `order` of its mark."""

_TAGS = {sign: kind for sign, kind in SIGNS.items() if sign[0] not in "#.["}
_IDS = {sign[1:]: kind for sign, kind in SIGNS.items() if sign[0] == "#"}
_CLASSES = {sign[1:]: kind for sign, kind in SIGNS.items() if sign[0] == "."}
_ATTRIBUTES = {sign[1:-1]: kind for sign, kind in SIGNS.items() if sign[0] == "[" and "=" not in sign}
_ROLES = {sign[6:-1]: kind for sign, kind in SIGNS.items() if sign.startswith("[role=")}
_UNION = ", ".join(SIGNS)


class Mark:
    """A marked element: its kinds, and the marked element around it."""

    __slots__ = ("around", "attributes", "contents", "inside", "kinds", "level", "node", "order")

    def __init__(self, node: LexborNode, order: int, around: "Mark | None"):
        self.node = node
        self.order = order
        """The index among the marks of the page, from 0."""
        self.attributes = node.attributes
        self.kinds = kinds_of(node.tag, self.attributes)
        self.around = around
        self.level: int = around.level + 1 if around else 0
        """The number of marks around it."""
        self.inside: frozenset[str] = around.contents if around else frozenset()
        """The kinds of all marks around it."""
        self.contents: frozenset[str] = self.inside | self.kinds
        """The `inside` of the marks in this one."""

    def outer(self) -> Iterator["Mark"]:
        """The marks around this one, from the inside out."""
        mark = self.around
        while mark is not None:
            yield mark
            mark = mark.around

    def within(self, *kinds: str) -> "Mark | None":
        """The nearest mark around this one that is of any of `kinds`."""
        if self.inside.isdisjoint(kinds):
            return None
        return next((mark for mark in self.outer() if not mark.kinds.isdisjoint(kinds)), None)

    def is_within(self, kinds: Iterable[str]) -> bool:
        """Whether any mark around this one is of any of `kinds`."""
        return not self.inside.isdisjoint(kinds)

    def attribute(self, name: str) -> str:
        """The value of an attribute, "" where there is none."""
        return self.attributes.get(name) or ""

    @property
    def classes(self) -> frozenset[str]:
        return frozenset(self.attribute("class").split())


class GooglePage:
    """A parsed page: its marks in document order, and the boxes that contain exactly one block each."""

    def __init__(self, root: LexborNode):
        self.root = root
        self.marks = marked(root)
        self._by_kind: dict[str, list[Mark]] = {}
        for mark in self.marks:
            for kind in mark.kinds:
                self._by_kind.setdefault(kind, []).append(mark)
        self._columns = frozenset(mark.node.mem_id for mark in self.of("column", "foot"))
        self._blocks: dict[int, int] = {}
        self._hidden = dict.fromkeys(self._shown(), False)

    def _shown(self) -> Iterator[int]:
        """The columns and all elements around them: a dialog that is open may hide them."""
        for mark in self.of("column", "aside"):
            yield from (node.mem_id for node in ancestry(mark.node))
        yield from (node.mem_id for node in self.root.css(BODY))

    def of(self, *kinds: str) -> list[Mark]:
        """The marks of any of `kinds`, in document order."""
        if len(kinds) == 1:
            return self._by_kind.get(kinds[0], [])
        by_order = {mark.order: mark for kind in kinds for mark in self._by_kind.get(kind, ())}
        return [by_order[order] for order in sorted(by_order)]

    def count_blocks(self, starts: Iterable[LexborNode]) -> None:
        """Count the blocks (a result, an ad, a headed section) in each element, for `box`."""
        for start in starts:
            for node in ancestry(start):
                key = node.mem_id
                self._blocks[key] = self._blocks.get(key, 0) + 1

    def count(self, node: LexborNode) -> int:
        """The number of blocks in an element."""
        return self._blocks.get(node.mem_id, 0)

    def box(self, start: LexborNode) -> LexborNode:
        """The largest element around the start of a block that contains no other block and is no column."""
        box = start
        for node in ancestry(start):
            key = node.mem_id
            if self._blocks.get(key, 0) > 1 or key in self._columns:
                break
            box = node
        return box

    def is_hidden(self, node: LexborNode) -> bool:
        """Whether the style of an element hides it, or that of one around it in its column."""
        visited = []
        answer = False
        for around in ancestry(node):
            key = around.mem_id
            if (known := self._hidden.get(key)) is not None:
                answer = known
                break
            visited.append(key)
            if hidden(around):
                answer = True
                break
        self._hidden.update(dict.fromkeys(visited, answer))
        return answer


def page(body: bytes) -> GooglePage:
    """Parse a page and mark it; raises LayoutError for one with more headings than any real page has."""
    marked_page = GooglePage(parsed(body))
    if len(marked_page.of("heading")) > MOST_HEADINGS:
        raise LayoutError(f"a page of at most {MOST_HEADINGS} headings")
    return marked_page


def marked(root: LexborNode) -> list[Mark]:
    """The marks under an element, in document order; raises LayoutError for a page with too many within each other."""
    marks: list[Mark] = []
    nearest: dict[int, Mark | None] = {root.mem_id: None}
    own: set[int] = set()
    for node in root.css(_UNION):
        key = node.mem_id
        if key not in own:
            own.add(key)
            nearest[key] = mark = Mark(node, len(marks), _around(node, nearest))
            if mark.level > MOST_AROUND:
                raise LayoutError("results that are not within each other")
            marks.append(mark)
    return marks


def _around(node: LexborNode, nearest: dict[int, Mark | None]) -> Mark | None:
    """The nearest mark above an element; caches it for every element between them."""
    visited: list[int] = []
    parent = node.parent
    while parent is not None:
        key = parent.mem_id
        if key in nearest:
            mark = nearest[key]
            for visited_key in visited:
                nearest[visited_key] = mark
            return mark
        visited.append(key)
        parent = parent.parent
    return None


def kinds_of(tag: str | None, attributes: dict[str, str | None]) -> frozenset[str]:
    """The kinds of an element."""
    names = attributes.get("class")
    classes = names.split() if names else ()
    plain = _ATTRIBUTES.keys().isdisjoint(attributes) and _CLASSES.keys().isdisjoint(classes)
    signs = (
        () if plain else [*filter(None, map(_ATTRIBUTES.get, attributes)), *filter(None, map(_CLASSES.get, classes))]
    )
    identity, role = attributes.get("id") or "", attributes.get("role") or ""
    return _kinds(_TAGS.get(tag or ""), _IDS.get(identity), _ROLES.get(role), *signs)


@lru_cache
def _kinds(*kinds: str | None) -> frozenset[str]:
    return frozenset(kind for kind in kinds if kind)
