"""Google's web results: the HTML results page in any of its layouts since 2018, as a record.

The pages for desktops, for mobiles and without JavaScript differ in their classes, and classes change; the relations
between headings, links and a few attributes are stable. `_google` has one module for each part of the page.
"""

from dataclasses import dataclass
from typing import TypeVar

from webdata.domain.errors import LayoutError
from webdata.domain.records import (
    Ad,
    AnswerBox,
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
    blocks,
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
from webdata.pages._google.tree import GooglePage, Ordered
from webdata.pages._text import clean
from webdata.resources.web_search import GoogleQuery, WebQuery

RESULT_MARKS, block = blocks.RESULT_MARKS, blocks.block

SEARCH_BOX = "textarea[name=q], input[name=q]"
TITLE = "title"
TITLE_END = " - "

Ranked = TypeVar("Ranked", Result, Ad, Place, Carousel)
"""An item with a rank of its own in the main column."""


def record(body: bytes, query: WebQuery) -> WebPage:
    """The record of a results page; `query.num` cuts the results, not the other parts.

    Raises LayoutError for a page that has no content and does not report that there is none.
    """
    page = tree.page(body)
    return web_page(page, all_parts(page, organic.titles(page)), query)


def shown_query(body: bytes) -> str | None:
    """The search terms on the page: in its search box, else in its title."""
    return _shown_query(tree.page(body))


@dataclass(slots=True)
class Parts:
    """The items of each part, each with its order in the page."""

    results: Ordered[Result]
    ads: Ordered[Ad]
    shopping: Ordered[ShoppingAd]
    answers: Ordered[AnswerBox]
    places: Ordered[Place]
    carousels: Ordered[Carousel]
    questions: Ordered[RelatedQuestion]
    searches: Ordered[RelatedSearch]
    company: Company

    @property
    def have_content(self) -> bool:
        return any((self.results, self.answers, self.places, self.carousels))

    def ranks(self) -> dict[int, int]:
        """The rank of each block of the main column by its order; shopping ads count as one, and so do questions."""
        items = (self.results, self.ads, self.answers, self.places, self.carousels)
        orders = {order for part in items for order, _ in part} | {
            part[0][0] for part in (self.shopping, self.questions) if part
        }
        return {order: rank for rank, order in enumerate(sorted(orders), 1)}


def all_parts(page: GooglePage, titles: list[Title]) -> Parts:
    """The parts of a page whose results have these titles."""
    heads = ads.heads(page)
    starts = [title.anchor for title in titles] + [head.mark.node for head in heads]
    starts += [mark.node for mark in (*carousels.headings(page), *page.of("question"))]
    page.count_blocks(starts)
    boxes = answers.answers(page, titles)
    return Parts(
        results=[(title.mark.order, organic.result(page, title)) for title in _results(titles, boxes)],
        ads=ads.text_ads(page, heads, titles[0].mark.order if titles else 0),
        shopping=shopping.shopping_ads(page),
        answers=boxes,
        places=places.places(page),
        carousels=carousels.carousels(page),
        questions=questions.related_questions(page),
        searches=related.related_searches(page),
        company=panel.company(page),
    )


def _results(titles: list[Title], boxes: Ordered[AnswerBox]) -> list[Title]:
    """The titles of results: that of a featured snippet is one, unless its page is listed below it, as until 2020."""
    featured = {order for order, _ in boxes}
    listed = {title.link for title in titles if title.mark.order not in featured}
    return [title for title in titles if title.mark.order not in featured or title.link not in listed]


def web_page(page: GooglePage, parts: Parts, query: GoogleQuery) -> WebPage:
    """The record of a page with these parts; raises LayoutError as `record` does."""
    if not parts.have_content and not empty.reports_no_results(page, query.q, _shown_query(page)):
        raise LayoutError("neither results nor a message that nothing was found")
    if not parts.results and empty.is_partly_parsed(page, repr(parts)):
        raise LayoutError("links to several sites, and none read as a result")
    ranks = parts.ranks()
    first_pack = parts.places[0][0] if parts.places else None
    carousel = _ranked(parts.carousels, ranks)
    text_ads = _ranked(parts.ads, ranks)
    return {
        "results": _ranked(parts.results, ranks)[: query.num],
        "ads": text_ads,
        "ads_count": len(text_ads),
        "answers": [answer for _, answer in parts.answers],
        "shopping_ads": [ad for _, ad in parts.shopping],
        "places": _ranked([place for place in parts.places if place[0] == first_pack], ranks),
        "local_businesses": _ranked([place for place in parts.places if place[0] != first_pack], ranks),
        "related_searches": [search for _, search in parts.searches],
        "related_questions": [question for _, question in parts.questions],
        "carousel": carousel,
        "carousel_count": len(carousel),
        "image_results": [item for one in carousel if one["type"] == "images" for item in one["items"]],
        "company": parts.company,
        "knowledge_graph": parts.company.get("description") or "",
        "total": empty.total(page),
    }


def _ranked(items: Ordered[Ranked], ranks: dict[int, int]) -> list[Ranked]:
    """The items of a part, with their positions in it and in the main column."""
    for position, (order, item) in enumerate(items, 1):
        item["position"] = position
        item["realPosition"] = ranks[order]
    return [item for _, item in items]


def _shown_query(page: GooglePage) -> str | None:
    written = (clean(attribute(box, "value") or box.text()) for box in page.root.css(SEARCH_BOX))
    return next(filter(None, written), None) or _query_in_title(page)


def _query_in_title(page: GooglePage) -> str | None:
    """The search terms in the title: `terms - Google Search`, in any language."""
    title = page.root.css_first(TITLE)
    terms, dash, engine = clean(title.text() if title is not None else "").rpartition(TITLE_END)
    return terms if dash and "google" in engine.casefold() else None
