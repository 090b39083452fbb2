"""The record of a web or video search, from results of an upstream API."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from webdata.domain.records import (
    AnswerBox,
    AnswerType,
    RelatedQuestion,
    RelatedSearch,
    Result,
    ResultMetadata,
    Sitelink,
    WebPage,
)
from webdata.pages._urls import hostname
from webdata.pages.odd_items import OddItemError, count_odd
from webdata.pages.upstreams.answers import link, text
from webdata.resources.video_search import VideoQuery
from webdata.resources.web_search import WebQuery

PARTS = (
    "ads", "answers", "shopping_ads", "places", "local_businesses", "related_searches", "related_questions", "carousel",
    "image_results", "company", "knowledge_graph", "total",
)  # fmt: skip
"""The parts of the record besides the results."""


def missing(*known: str) -> tuple[str, ...]:
    """The parts of the record but those that an API knows."""
    return tuple(part for part in PARTS if part not in known)


def result(title: str, address: str | None, description: str, **metadata: Any) -> Result:
    """A result, whose rank `web_page` sets; raises OddItemError for one without a title or an address."""
    if not title or not address:
        raise OddItemError("a result with a title and an address")
    shown = {"display_url": hostname(address), **metadata}
    return {
        "title": title,
        "description": description,
        "position": 1,
        "realPosition": 1,
        "result_type": "organic",
        "metadata": cast(ResultMetadata, {name: value for name, value in shown.items() if value not in ("", None, [])}),
        "link": address,
    }


def web_page(
    results: Sequence[Result],
    query: WebQuery,
    *,
    answers: Iterable[AnswerBox] = (),
    related: Iterable[tuple[str, str | None]] = (),
    questions: Sequence[RelatedQuestion | None] = (),
    total: int | None = None,
) -> WebPage:
    """The record of so many results as the query asks for; `related` are terms and addresses of other searches."""
    kind = "video" if isinstance(query, VideoQuery) else "organic"
    return {
        "results": [_ranked(one, rank, kind) for rank, one in enumerate(results[: query.num], 1)],
        "ads": [],
        "ads_count": 0,
        "answers": list(answers),
        "shopping_ads": [],
        "places": [],
        "local_businesses": [],
        "related_searches": _related(related),
        "related_questions": _numbered(questions),
        "carousel": [],
        "carousel_count": 0,
        "image_results": [],
        "company": {},
        "knowledge_graph": "",
        "total": total,
    }


def _ranked(one: Result, rank: int, kind: str) -> Result:
    return {**one, "position": rank, "realPosition": rank, "result_type": kind}


def _related(searches: Iterable[tuple[str, str | None]]) -> list[RelatedSearch]:
    named = {terms: address for terms, address in searches if terms}
    return [
        {"position": rank, "text": terms, "link": address or "", "result_type": "related_search"}
        for rank, (terms, address) in enumerate(named.items(), 1)
    ]


def question(asked: str, answer: str, title: str, address: str | None) -> RelatedQuestion | None:
    """A question that people also ask, whose rank `web_page` sets; None for one without a text."""
    if not asked:
        return None
    return {
        "position": 1,
        "question": asked,
        "answer": answer or None,
        "title": title or None,
        "link": address,
        "list": [],
        "table": [],
    }


def listed_question(row: Mapping[str, Any]) -> RelatedQuestion | None:
    """The question of a row as the APIs of Google's results have it; None for one without a text."""
    return question(text(row, "question"), text(row, "snippet"), text(row, "title"), link(row, "link"))


def sitelinks(found: Iterable[Mapping[str, Any]]) -> list[Sitelink]:
    """The links to parts of a site, of rows as the same APIs have them."""
    return [
        {"title": title, "link": address, "description": text(row, "snippet") or None}
        for row in found
        if (title := text(row, "title")) and (address := link(row, "link"))
    ]


def _numbered(questions: Sequence[RelatedQuestion | None]) -> list[RelatedQuestion]:
    """The questions in their order; odd ones, without a text, are left out and counted."""
    asked = [one for one in questions if one]
    count_odd(len(questions) - len(asked))
    return [{**one, "position": position} for position, one in enumerate(asked, 1)]


def answer_box(kind: AnswerType, shown: str, title: str, address: str | None) -> list[AnswerBox]:
    """An answer box; none without a text."""
    if not shown:
        return []
    box: AnswerBox = {
        "type": kind,
        "answer": shown,
        "title": title or None,
        "link": address,
        "display_url": hostname(address) if address else None,
        "date": None,
        "list": [],
        "table": [],
        "references": [],
    }
    return [box]
