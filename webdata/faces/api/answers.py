"""`/v1/answers`: the archived answers of an account, and the pages that they were parsed from."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Literal, TypedDict, TypeVar

import orjson
from pydantic import BeforeValidator

from webdata.accounts.access.answer_archive import read_page
from webdata.domain.errors import UnknownIdError
from webdata.domain.in_schema import InSchema
from webdata.domain.query import LARGEST_NUMBER, Query, lower
from webdata.domain.shapes import Natural, Time, described
from webdata.faces.api.account import DayAsked
from webdata.faces.api.batches import reach_of
from webdata.faces.api.key_pages import KeyCall, KeyPages, KeyReply, RemovedRecord, key_page
from webdata.faces.api.replies import archive_headers
from webdata.resources.terms.page_files import MARKDOWN_TYPE, PICTURE_TYPES
from webdata.runtime.archives.files import ArchiveRecords
from webdata.runtime.server.replies import JSON, attachment
from webdata.stores.answers.model import AnswerFilter, ArchivedAnswer, PageFacts, PageState, archive_bytes
from webdata.stores.answers.sql import AnswerStore

Found = TypeVar("Found")
PATH = "/v1/answers"
ONE = f"{PATH}/{{id}}"
MOST_LISTED = 100
MOST_EXPORTED = 1000
"""Answers of one page of an export."""
BINARY = "application/octet-stream"
CONTENT_TYPES = {"records": "application/jsonl", "warc": "application/warc"}
PAGE_HEADERS = (
    ("x-page-url", "where the page came from"),
    ("x-page-status", "the status of the site's response"),
    ("x-page-content-type", "what the site said that the page is"),
)
EXPORT_HEADERS = (("x-next-after", "`after` of the next page; it is missing on the last"),)
UNKNOWN = (
    f"The key reaches no archived answer with this id: GET {PATH} lists those that it reaches, which are of its kind "
    "(test or live) and of the endpoints that it opens, until they expire"
)
WITHOUT_PAGE: dict[PageState, str] = {
    "cached": "it came from the cache: Cache-Control: no-cache has the next one fetched",
    "too_large": "the page is larger than those that are archived",
    "none": "there was no page that may be stored",
}

AnswerId = Annotated[
    str,
    described(
        "the x-request-id of the answer; of a row of a batch the batch's id, a dot, and the row",
        "req_01KAGX9Y3QZ8V5M2N7R4T6W0BC",
        max_length=64,
    ),
]


class AnswerQuery(Query):
    """The id of one answer."""

    id: AnswerId


class AnswersOf(Query):
    """Which answers of an account are wanted."""

    day: Annotated[DayAsked, described("the day in UTC, such as 2026-11-26", "2026-11-26")] = None
    endpoint: Annotated[
        str | None, BeforeValidator(lower), described("the endpoint, by its name, such as web_search", "web_search")
    ] = None


class AnswersQuery(AnswersOf):
    """A list of answers, the newest first."""

    limit: Annotated[int, described(f"how many, from 1 to {MOST_LISTED}", 20, ge=1, le=MOST_LISTED)] = 20
    before: Annotated[
        int | None, described("the `next` of the page before: older answers", 1000, ge=1, le=LARGEST_NUMBER)
    ] = None


class ExportQuery(AnswersOf):
    """Answers with their records, or their pages, the oldest first."""

    after: Annotated[
        int, described("the x-next-after of the page before, such as 1000", 1000, ge=0, le=LARGEST_NUMBER)
    ] = 0
    limit: Annotated[int, described(f"how many, from 1 to {MOST_EXPORTED}", 1000, ge=1, le=MOST_EXPORTED)] = (
        MOST_EXPORTED
    )
    format: Annotated[
        Literal["records", "warc"],
        described("records: an answer a line; warc: the pages, as a file of WARC", "records"),
    ] = "records"


@InSchema(closed=True)
class ArchivedPageRecord(TypedDict):
    """The page that an answer was parsed from."""

    url: str
    """Where it came from."""
    status: int
    content_type: str
    """As the site said; empty where it said nothing."""
    bytes: Natural


@InSchema(closed=True)
class AnswerRecord(TypedDict):
    """An archived answer, without its content."""

    id: str
    """That of its request; of a row of a batch the batch's id, a dot, and the row."""
    time: Time
    expires: Time
    """When it is removed."""
    endpoint: str
    outcome: str
    engine: str
    cached: bool
    """Whether it came from the cache."""
    query: dict[str, Any]
    """What was asked for, with masked secrets."""
    bytes: Natural
    """Of its body."""
    page: ArchivedPageRecord | None
    """Null where `page_state` is not `archived`."""
    page_state: PageState
    """Whether it has its page; else why not: `cached`, `too_large`, `none`."""


@InSchema(closed=True)
class ArchiveShareRecord(TypedDict):
    """What the keys of this kind (test or live) of the account have archived."""

    bytes: Natural
    """As they are stored."""
    most_bytes: Natural
    """What the plan allows."""
    refused: Natural
    """Answers that were to be archived, ever, and found no room."""


@InSchema(closed=True)
class AnswersRecord(TypedDict):
    """Some archived answers of an account."""

    answers: list[AnswerRecord]
    next: int | None
    """`before` of the next page; null on the last."""
    stored: ArchiveShareRecord


answers_page = partial(key_page, tag="answers")


class AnswerPages(KeyPages):
    """The pages over the archived answers of an account."""

    def __init__(self, answers: AnswerStore) -> None:
        self._answers = answers

    @answers_page("GET", PATH, "the archived answers, newest first", AnswersQuery, "answers")
    async def _list(self, call: KeyCall) -> AnswersRecord:
        query, account, test = call.query, call.caller.account, call.caller.key.test
        found = await self._answers.newest(account.id, _wanted(call), query.limit + 1, query.before)
        listed, share = found[: query.limit], await self._answers.share(account.id, test)
        return {
            "answers": [_answer_record(one) for one in listed],
            "next": listed[-1].number if len(found) > len(listed) else None,
            "stored": {**share._asdict(), "most_bytes": archive_bytes(account.plan, test)},  # type: ignore[typeddict-item]
        }

    @answers_page(
        "GET",
        f"{PATH}/export",
        "the archived answers of a day or an endpoint, as lines, or their pages as WARC",
        ExportQuery,
        "answers_export",
        content_types=tuple(CONTENT_TYPES.values()),
        headers=EXPORT_HEADERS,
    )
    async def _export(self, call: KeyCall) -> KeyReply:
        query, wanted = call.query, _wanted(call)
        account = call.caller.account.id
        found = await self._answers.oldest(account, wanted, query.limit + 1, query.after)
        exported = found[: query.limit]
        headers = {"x-next-after": str(exported[-1].number)} if len(found) > len(exported) else {}
        if query.format == "records":
            return KeyReply(self._lines(exported), headers, CONTENT_TYPES["records"])
        name = f"webdata-answers-{wanted.now:%Y%m%dT%H%M%S}.warc.gz"
        return KeyReply(self._records(exported, name), headers | attachment(name), CONTENT_TYPES["warc"])

    @answers_page(
        "GET",
        ONE,
        "an archived answer, as it was given",
        AnswerQuery,
        "answer",
        content_types=(JSON, MARKDOWN_TYPE, *PICTURE_TYPES),
    )
    async def _again(self, call: KeyCall) -> KeyReply:
        answer = await self._find(call)
        body = _known(await self._answers.body(answer.number))
        headers = {name: value for name, value in answer.headers.items() if name != "content-type"}
        return KeyReply(body, {**headers, **archive_headers(answer)}, answer.headers["content-type"])

    @answers_page(
        "GET",
        f"{ONE}/page",
        "the page that an archived answer was parsed from, as a file",
        AnswerQuery,
        "answer_page",
        content_types=(BINARY,),
        headers=PAGE_HEADERS,
    )
    async def _page(self, call: KeyCall) -> KeyReply:
        answer = await self._find(call)
        if answer.page_state != "archived":
            raise UnknownIdError(f"The answer was archived without its page: {WITHOUT_PAGE[answer.page_state]}")
        page = _known(await read_page(self._answers, answer))
        about = {
            "x-page-url": _ascii(page.url),
            "x-page-status": str(page.status),
            "x-page-content-type": _ascii(page.header("content-type")),
        }
        return KeyReply(page.body, {**about, **attachment(f"{answer.id}.page")}, BINARY)

    @answers_page("DELETE", ONE, "remove an archived answer and its page", AnswerQuery, "answer_remove")
    async def _remove(self, call: KeyCall) -> RemovedRecord:
        answer = await self._find(call)
        if not await self._answers.remove(answer.account_id, answer.id):
            raise UnknownIdError(UNKNOWN)
        return {"id": answer.id, "deleted": True}

    async def _lines(self, answers: Sequence[ArchivedAnswer]) -> AsyncGenerator[bytes]:
        """A line for each answer; one that was removed meanwhile has none."""
        for answer in answers:
            body = await self._answers.body(answer.number)
            if body is not None:
                yield await asyncio.to_thread(_line, answer, body)

    async def _records(self, answers: Sequence[ArchivedAnswer], name: str) -> AsyncGenerator[bytes]:
        """The file of the pages of answers, one after another."""
        yield ArchiveRecords().of_file(name)
        for answer in answers:
            if answer.page and (records := await self._answers.page_records(answer.number)):
                yield records

    async def _find(self, call: KeyCall) -> ArchivedAnswer:
        answer = _known(await self._answers.find(call.caller.account.id, call.query.id, datetime.now(UTC)))
        return _known(answer if reach_of(call.caller.key).includes(answer.test, answer.endpoint) else None)


def _known(found: Found | None) -> Found:
    if found is None:
        raise UnknownIdError(UNKNOWN)
    return found


def _wanted(call: KeyCall) -> AnswerFilter:
    key, query = call.caller.key, call.query
    return AnswerFilter(key.test, datetime.now(UTC), key.scopes, query.endpoint, query.day)


def _answer_record(answer: ArchivedAnswer) -> AnswerRecord:
    return {
        "id": answer.id,
        "time": answer.time.isoformat(),
        "expires": answer.expires.isoformat(),
        "endpoint": answer.endpoint,
        "outcome": answer.outcome,
        "engine": answer.engine,
        "cached": answer.cached,
        "query": dict(answer.query),
        "bytes": answer.body_size,
        "page": _page_record(answer.page) if answer.page else None,
        "page_state": answer.page_state,
    }


def _page_record(page: PageFacts) -> ArchivedPageRecord:
    return {"url": page.url, "status": page.status, "content_type": page.content_type, "bytes": page.size}


def _line(answer: ArchivedAnswer, body: bytes) -> bytes:
    return orjson.dumps({**_answer_record(answer), **_content(answer, body)}, option=orjson.OPT_APPEND_NEWLINE)


def _content(answer: ArchivedAnswer, body: bytes) -> Mapping[str, Any]:
    """A body within JSON: JSON as it is, text, or the base64 of a file."""
    content_type = answer.headers["content-type"]
    if content_type.startswith(JSON):
        return {"record": orjson.Fragment(body)}
    return {"text": body.decode()} if content_type.startswith("text/") else {"base64": b64encode(body).decode()}


def _ascii(text: str) -> str:
    """A text that came from a site, as a header."""
    return "".join(sign if sign.isascii() and sign.isprintable() else "?" for sign in text)
