"""Archived answers, and the pages that they were read from. Times are aware, in UTC."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal, NamedTuple, Self

from webdata.stores.accounts.model import TEST_SHARE, Key, Plan
from webdata.stores.database.packing import packed

USUAL_DAYS = 30
"""For which an answer is archived where neither its key nor its plan says how long."""
MOST_DAYS = 365

PageState = Literal["archived", "cached", "too_large", "none"]
"""Whether an answer has its page: it has none where it came from the cache, where the page is larger than what is
archived, or where there was no page that may be stored."""


@dataclass(frozen=True)
class PageFacts:
    """What is known of an archived page without reading it."""

    url: str
    """Where it came from, with masked secrets."""
    status: int
    content_type: str
    """As the site said; empty where it said nothing."""
    size: int
    """Bytes, decompressed."""


@dataclass(frozen=True)
class ArchivedAnswer:
    """An answer that can be read again, without its content."""

    id: str
    """That of its request; of a row of a batch the id of the batch, a dot, and the row."""
    account_id: str
    key_id: str
    test: bool
    """Whether its key is a test key."""
    endpoint: str
    """The name of the resource."""
    outcome: str
    engine: str
    cached: bool
    time: datetime
    expires: datetime
    query: Mapping[str, Any]
    """The fields that differ from their defaults, with masked secrets."""
    headers: Mapping[str, str]
    """Those of the answer that tell how it was obtained and what its body is."""
    body_size: int
    """Bytes of the body."""
    stored_size: int
    """Bytes of the body, the page and the query, as they are stored, and of the row around them."""
    page_state: PageState
    page: PageFacts | None = None
    """None where `page_state` is not `archived`."""
    number: int = 0
    """Its place among all answers, given when it is stored."""


class AnswerContent(NamedTuple):
    """The content of an answer, as it is stored."""

    body: bytes
    """Compressed (`webdata.stores.database.packing`)."""
    page: bytes | None
    """The records of the page in the form of an archive (`webdata.runtime.archives`)."""

    @classmethod
    def of(cls, body: bytes, page: bytes | None) -> Self:
        """The content with a body that is not compressed yet."""
        return cls(packed(body), page)


class AddedAnswer(NamedTuple):
    """An answer to add, where its account has not more than `most` bytes with it."""

    answer: ArchivedAnswer
    content: AnswerContent
    most: int


@dataclass(frozen=True)
class AnswerFilter:
    """Which answers of an account are wanted: those that fit all that is given."""

    test: bool
    now: datetime
    """Those that expire later."""
    scopes: Collection[str] = ()
    """The endpoints that the reader may see; empty for all."""
    endpoint: str | None = None
    day: date | None = None
    """In UTC."""


class ArchiveShare(NamedTuple):
    """What the live or the test keys of an account have archived."""

    bytes: int = 0
    """As they are stored."""
    refused: int = 0
    """Answers that were to be archived, ever, and found no room."""


def archive_days(asked: bool | None, key: Key, plan: Plan) -> int:
    """For how many days an answer is archived: as the call asks, else as its key says, else its plan; 0 for not."""
    if asked is False:
        return 0
    usual = plan.archive_days if key.archive_days is None else key.archive_days
    return usual or (USUAL_DAYS if asked else 0)


def archive_bytes(plan: Plan, test: bool) -> int:
    """How much the live or `test` keys of an account may archive."""
    return plan.archive_bytes // TEST_SHARE if test else plan.archive_bytes
