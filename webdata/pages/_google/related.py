"""Related searches: links to a search for exactly the text of the link."""

from collections.abc import Iterable
from itertools import groupby

from webdata.domain.records import RelatedSearch
from webdata.pages._elements import visible_text
from webdata.pages._google.links import search_terms, target
from webdata.pages._google.tree import GooglePage, Mark, Ordered
from webdata.pages._text import folded

KNOWN_CLASSES = frozenset({"k8XOCe", "ngTNl", "s75CSd", "Q71vJc", "h9P1Xd", "ZWRArf"})
EXCLUDED = (
    "question", "questions", "text_ad", "product_ad", "aside", "carousel",
    "popup", "ai_text", "dictionary", "fact", "result_box", "place",
)  # fmt: skip
LEAST_RUN = 3
"""The least number of such links in a row where none has a known class."""


def related_searches(page: GooglePage) -> Ordered[RelatedSearch]:
    """The related searches of the page, each with its order."""
    searches: dict[str, tuple[int, RelatedSearch]] = {}
    for mark in suggestions(page.of("link")):
        if page.is_hidden(mark.node):
            continue
        text = visible_text(mark.node)
        link = target(mark.attribute("href"))
        if not text or not link:
            continue
        item: RelatedSearch = {
            "position": len(searches) + 1,
            "text": text,
            "link": link,
            "result_type": "related_search",
        }
        searches.setdefault(text, (mark.order, item))
    return list(searches.values())


def suggestions(links: Iterable[Mark]) -> list[Mark]:
    """The links that suggest a search: runs of one class, long enough or with a known class."""
    suggested: list[Mark] = []
    for (matches, _), group in groupby(
        links, key=lambda mark: (_is_suggestion(mark), mark.attribute("class").split(" ")[0])
    ):
        run = list(group)
        if matches and (len(run) >= LEAST_RUN or any(map(_is_known, run))):
            suggested += run
    return suggested


def _is_known(mark: Mark) -> bool:
    return not KNOWN_CLASSES.isdisjoint(mark.classes)


def _is_suggestion(mark: Mark) -> bool:
    if "link" not in mark.kinds or mark.is_within(EXCLUDED) or not (terms := search_terms(mark.attribute("href"))):
        return False
    return _is_known(mark) or folded(terms) == folded(visible_text(mark.node))
