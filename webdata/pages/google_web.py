"""Google's web results: the HTML results page in any of its layouts since 2018, as a record.

Desktop, mobile, and the page without JavaScript differ in their classes, and classes change; what a heading, a link
and a few attributes are to each other has lasted. `_google` holds one module for each part of the page.
"""

from dataclasses import dataclass
from typing import TypeVar

from selectolax.lexbor import LexborNode

from webdata.domain.errors import LayoutError
from webdata.domain.records import (
    Ad,
    Answer,
    Carousel,
    Company,
    Place,
    RelatedQuestion,
    RelatedSearch,
    Result,
    ShoppingAd,
    WebPage,
)
from webdata.pages._elements import attribute
from webdata.pages._google import (
    ads,
    answers,
    carousels,
    empty,
    organic,
    panel,
    places,
    questions,
    related,
    shopping,
    tree,
)
from webdata.pages._google.organic import Title
from webdata.pages._google.tree import Ordered, Page
from webdata.pages._text import clean
from webdata.resources.web_search import WebQuery

SEARCH_BOX = "textarea[name=q], input[name=q]"
TITLE = "title"
TITLE_END = " - "

Placed = TypeVar("Placed", Result, Ad, Place, Carousel)
"""What has a rank of its own in the main column."""


def record(body: bytes, query: WebQuery) -> WebPage:
    """The record of a results page; `query.num` cuts the results, not the other parts.

    Raises LayoutError for a page that holds nothing asked for and does not say that nothing was found.
    """
    page = tree.page(body)
    return web_page(page, all_parts(page, organic.titles(page)), query)


def shown_query(body: bytes) -> str | None:
    """The search terms as the page itself shows them: in its search box, else in its title."""
    return _shown_query(tree.page(body))


@dataclass(slots=True)
class Parts:
    """What each part found, each thing with its place in the page's order."""

    results: Ordered[Result]
    ads: Ordered[Ad]
    shopping: Ordered[ShoppingAd]
    answers: Ordered[Answer]
    places: Ordered[Place]
    carousels: Ordered[Carousel]
    questions: Ordered[RelatedQuestion]
    searches: Ordered[RelatedSearch]
    company: Company

    @property
    def hold_content(self) -> bool:
        return any((self.results, self.answers, self.places, self.carousels))

    def ranks(self) -> dict[int, int]:
        """The rank of each block of the main column by its place; shopping ads are one block, and so are questions."""
        single = (self.results, self.ads, self.answers, self.places, self.carousels)
        orders = {order for found in single for order, _ in found} | {
            found[0][0] for found in (self.shopping, self.questions) if found
        }
        return {order: rank for rank, order in enumerate(sorted(orders), 1)}


def all_parts(page: Page, titles: list[Title]) -> Parts:
    """What a page holds whose results have these titles."""
    heads = ads.heads(page)
    starts = [title.anchor for title in titles] + [head.mark.node for head in heads]
    starts += [mark.node for mark in (*carousels.headings(page), *page.of("question"))]
    page.count_blocks(starts)
    return Parts(
        results=[(title.mark.order, organic.result(page, title)) for title in titles],
        ads=ads.text_ads(page, heads, titles[0].mark.order if titles else 0),
        shopping=shopping.shopping_ads(page),
        answers=answers.answers(page, titles),
        places=places.places(page),
        carousels=carousels.carousels(page),
        questions=questions.related_questions(page),
        searches=related.related_searches(page),
        company=panel.company(page),
    )


def web_page(page: Page, parts: Parts, query: WebQuery) -> WebPage:
    """The record of a page with these parts; raises LayoutError as `record` does."""
    if not parts.hold_content and not empty.reports_no_results(page, query.q, _shown_query(page)):
        raise LayoutError("neither results nor a message that nothing was found")
    if not parts.results and empty.is_partly_parsed(page, repr(parts)):
        raise LayoutError("links to several sites, and none read as a result")
    ranks = parts.ranks()
    first_pack = parts.places[0][0] if parts.places else None
    carousel = _placed(parts.carousels, ranks)
    adverts = _placed(parts.ads, ranks)
    return {
        "results": _placed(parts.results, ranks)[: query.num],
        "ads": adverts,
        "ads_count": len(adverts),
        "answers": [answer for _, answer in parts.answers],
        "shopping_ads": [ad for _, ad in parts.shopping],
        "places": _placed([found for found in parts.places if found[0] == first_pack], ranks),
        "local_businesses": _placed([found for found in parts.places if found[0] != first_pack], ranks),
        "related_searches": [search for _, search in parts.searches],
        "related_questions": [question for _, question in parts.questions],
        "carousel": carousel,
        "carousel_count": len(carousel),
        "image_results": [item for one in carousel if one["type"] == "images" for item in one["items"]],
        "company": parts.company,
        "knowledge_graph": parts.company.get("description") or "",
        "total": empty.total(page),
    }


def _placed(found: Ordered[Placed], ranks: dict[int, int]) -> list[Placed]:
    """The things of one part with their positions: among themselves, and in the main column."""
    for position, (order, item) in enumerate(found, 1):
        item["position"] = position
        item["realPosition"] = ranks[order]
    return [item for _, item in found]


def _shown_query(page: Page) -> str | None:
    written = (_written(box) for box in page.root.css(SEARCH_BOX))
    return next((text for text in written if text), None) or _titled(page)


def _written(box: LexborNode) -> str:
    return clean(attribute(box, "value") or box.text())


def _titled(page: Page) -> str | None:
    """The search terms in the title: `terms - Google Search`, whatever the language says for it."""
    title = page.root.css_first(TITLE)
    terms, dash, engine = clean(title.text() if title is not None else "").rpartition(TITLE_END)
    return terms if dash and "google" in engine.casefold() else None
