"""The archiving of answers that callers ask for, with the pages that they were parsed from."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import orjson

from webdata.accounts.access.cache import Hit
from webdata.crawling.warm_crawlers import Answer
from webdata.domain.errors import DatabaseUnavailableError, UpstreamError
from webdata.domain.query import ARCHIVE, Query
from webdata.domain.shown_queries import shown_query
from webdata.fetching.recording import FetchedPage
from webdata.runtime.archives.exchange import ArchivedPage, header_of
from webdata.runtime.archives.files import packed_exchange
from webdata.runtime.archives.reader import archived_page
from webdata.runtime.process.shares import MEBIBYTE
from webdata.stores.accounts.model import Account, Key
from webdata.stores.answers.model import (
    AddedAnswer,
    AnswerContent,
    ArchivedAnswer,
    PageFacts,
    PageState,
    archive_bytes,
    archive_days,
)
from webdata.stores.answers.sql import AnswerStore

logger = logging.getLogger(__name__)

MOST_BODY = 32 * MEBIBYTE
"""Bytes of the longest answer that is archived."""
MOST_PAGE = 16 * MEBIBYTE
"""Bytes of the longest page, decompressed; an answer with a longer one is archived without it."""
LONGEST_URL = 2000
"""Characters of a page's address that are shown."""
OF_ROW = 1000
"""Bytes of what else is stored of an answer: its headers, ids and times."""
NO_RECORD = "only an answer with a record is archived"
PRIVATE = "it is for its caller alone, as the call has headers, cookies, a method or a body of its own"
TOO_LARGE = f"it is larger than {MOST_BODY // MEBIBYTE} MiB"
FULL = "the archive of the account is full: DELETE /v1/answers/ID makes room"
NOT_STORED = "it could not be stored: the answer is good, and the next one is tried again"


class NotArchivedError(Exception):
    """An answer could not be archived: why, for its caller."""


@dataclass(frozen=True)
class ArchivedCall:
    """Whose answer is archived, and for how long."""

    id: str
    """Of the answer."""
    account: Account
    key: Key
    endpoint: str
    query: Query
    days: int


class Packed(NamedTuple):
    """What is stored of an answer, and what is known of its page."""

    content: AnswerContent
    state: PageState
    page: PageFacts | None

    @property
    def size(self) -> int:
        """Bytes of the content."""
        return len(self.content.body) + len(self.content.page or b"")


def days_of(query: Query, key: Key, account: Account) -> int:
    """For how many days the answer of a call is archived; 0 for not."""
    return archive_days(getattr(query, ARCHIVE, None), key, account.plan)


class AnswerArchive:
    """Archives answers, and counts by `ends` how that ended."""

    def __init__(self, store: AnswerStore, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.ends: Counter[str] = Counter({"archived": 0, "refused": 0, "lost": 0})
        """`lost` are those that the database did not take."""
        self._store = store
        self._clock = clock

    async def add(
        self, call: ArchivedCall, end: Answer | Hit, body: bytes | memoryview, headers: Mapping[str, str]
    ) -> ArchivedAnswer:
        """Archive an answer, and return once it is stored; raises NotArchivedError, and nothing else."""
        try:
            answer, content = await packed_answer(call, end, body, headers, self._clock())
            most = archive_bytes(call.account.plan, call.key.test)
            if not await self._store.add(AddedAnswer(answer, content, most)):
                raise NotArchivedError(FULL)
        except NotArchivedError:
            self.ends["refused"] += 1
            raise
        except Exception as error:
            self.ends["lost"] += 1
            if isinstance(error, DatabaseUnavailableError):
                logger.warning("%s is not archived: %s", call.id, error)
            else:  # no answer fails by it
                logger.exception("%s is not archived", call.id)
            raise NotArchivedError(NOT_STORED) from error
        self.ends["archived"] += 1
        return answer


async def packed_answer(
    call: ArchivedCall, end: Answer | Hit, body: bytes | memoryview, headers: Mapping[str, str], now: datetime
) -> tuple[ArchivedAnswer, AnswerContent]:
    """An answer as it is stored; raises NotArchivedError for one that is not."""
    _check_archivable(call.query, len(body))
    stored = await asyncio.to_thread(_packed, end, bytes(body))
    of = end.entry if isinstance(end, Hit) else end
    query = shown_query(call.query)
    answer = ArchivedAnswer(
        call.id,
        call.account.id,
        call.key.id,
        call.key.test,
        call.endpoint,
        of.outcome.value,
        of.engine,
        isinstance(end, Hit),
        now,
        now + timedelta(days=call.days),
        query,
        headers,
        len(body),
        stored.size + len(orjson.dumps((query, stored.page))) + OF_ROW,
        stored.state,
        stored.page,
    )
    return answer, stored.content


def _check_archivable(query: Query, size: int) -> None:
    """Raise NotArchivedError for an answer of so many bytes that is not archived."""
    if query.is_private:
        raise NotArchivedError(PRIVATE)
    if size > MOST_BODY:
        raise NotArchivedError(TOO_LARGE)


async def read_page(store: AnswerStore, answer: ArchivedAnswer) -> ArchivedPage | None:
    """The page of an answer; None for one that has none, or was removed meanwhile."""
    records = await store.page_records(answer.number)
    return None if records is None else await asyncio.to_thread(archived_page, records)


def _packed(end: Answer | Hit, body: bytes) -> Packed:
    state, facts, records = _packed_page(end)
    return Packed(AnswerContent.of(body, records), state, facts)


def _packed_page(end: Answer | Hit) -> tuple[PageState, PageFacts | None, bytes | None]:
    if isinstance(end, Hit):
        return "cached", None, None
    page = end.page
    if page is None:
        return "none", None, None
    if _is_too_large(page):
        return "too_large", None, None
    try:
        exchange = page.masked()
    except UpstreamError:  # its engine's key cannot be looked for
        return "none", None, None
    kind = header_of(exchange.headers, "content-type")
    facts = PageFacts(exchange.url[:LONGEST_URL], exchange.status, kind, len(page.exchange.body))
    return "archived", facts, packed_exchange(exchange)


def _is_too_large(page: FetchedPage) -> bool:
    """Whether a page is longer than what is archived; one that is still compressed is."""
    return bool(header_of(page.exchange.headers, "content-encoding")) or len(page.exchange.body) > MOST_PAGE
