"""The record of a web or video search, from results of an upstream API."""

from collections.abc import Iterable, Sequence
from typing import Any, cast

from webdata.domain.records import (
    AnswerBox,
    AnswerType,
    RelatedQuestion,
    RelatedSearch,
    Result,
    ResultMetadata,
    WebPage,
)
from webdata.pages._urls import hostname
from webdata.pages.odd_items import OddItemError, count_odd
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


def result(title: str, link: str | None, description: str, **metadata: Any) -> Result:
    """A result, whose rank `web_page` sets; raises OddItemError for one without a title or an address."""
    if not title or not link:
        raise OddItemError("a result with a title and an address")
    shown = {"display_url": hostname(link), **metadata}
    return {
        "title": title,
        "description": description,
        "position": 1,
        "realPosition": 1,
        "result_type": "organic",
        "metadata": cast(ResultMetadata, {name: value for name, value in shown.items() if value not in ("", None, [])}),
        "link": link,
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
    named = {terms: link for terms, link in searches if terms}
    return [
        {"position": rank, "text": terms, "link": link or "", "result_type": "related_search"}
        for rank, (terms, link) in enumerate(named.items(), 1)
    ]


def question(asked: str, answer: str, title: str, link: str | None) -> RelatedQuestion | None:
    """A question that people also ask, whose rank `web_page` sets; None for one without a text."""
    if not asked:
        return None
    return {
        "position": 1,
        "question": asked,
        "answer": answer or None,
        "title": title or None,
        "link": link,
        "list": [],
        "table": [],
    }


def _numbered(questions: Sequence[RelatedQuestion | None]) -> list[RelatedQuestion]:
    """The questions in their order; odd ones, without a text, are left out and counted."""
    asked = [one for one in questions if one]
    count_odd(len(questions) - len(asked))
    return [{**one, "position": position} for position, one in enumerate(asked, 1)]


def answer_box(kind: AnswerType, shown: str, title: str, link: str | None) -> list[AnswerBox]:
    """An answer box; none without a text."""
    if not shown:
        return []
    box: AnswerBox = {
        "type": kind,
        "answer": shown,
        "title": title or None,
        "link": link,
        "display_url": hostname(link) if link else None,
        "date": None,
        "list": [],
        "table": [],
        "references": [],
    }
    return [box]
