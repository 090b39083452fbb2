"""The recording of exchanges in an archive, without anybody's secrets."""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from time import monotonic
from typing import NamedTuple, Protocol, Self

import orjson
from scrapy import Request
from scrapy.http import Headers, Response
from scrapy.settings import BaseSettings

from webdata.domain.query import Query, of_single_calls
from webdata.domain.secrets import MASK, SECRET_NAME, forms_of, masked_url
from webdata.fetching.fetch import Fetch
from webdata.resources import Resource
from webdata.runtime.archives.exchange import (
    ENGINE,
    QUERY,
    TRANSPORT,
    ArchivedExchange,
    HeaderPairs,
    pairs_without_transfer,
)
from webdata.runtime.archives.files import ArchiveFiles
from webdata.runtime.process.disk import lacks_room
from webdata.runtime.wire.content_codings import leniently_decompressed

logger = logging.getLogger(__name__)

TOLD_EVERY = 60.0
"""Seconds between two lines of the log about exchanges that cannot be written."""
SHORT = 64 << 10
SHORT_ENCODED = 512 << 10
"""Bytes of a body, and of one that is compressed already, that is written at once.

To pack it takes one or two milliseconds; to hand it to a thread takes one, and slows the loop while the thread works.
"""
LONGEST_MASKED = 32 << 20
"""Bytes of a decompressed body in which a key is looked for; a longer one is not recorded."""


class FetchedPage(NamedTuple):
    """The page that an answer was parsed from, for an archive."""

    exchange: ArchivedExchange
    keys: tuple[str, ...]
    """Those of its engine."""

    def masked(self) -> ArchivedExchange:
        """The exchange without the keys; raises UpstreamError for a page in which they cannot be looked for."""
        return without_keys(self.exchange, self.keys) if self.keys else self.exchange


class RecordedSpider(Protocol):
    """The part of `webdata.crawling.engine.EngineSpider` that tells whose exchange it is."""

    name: str
    kind: str
    resources: tuple[Resource, ...]
    keys: tuple[str, ...]


class ExchangeRecorder:
    """Writes the exchanges of all crawlers of a network into one archive, long ones in a thread of its own.

    An exchange that cannot be written is lost, and told in the log: no fetch fails by it.
    """

    def __init__(self, folder: Path, prefix: str) -> None:
        self._folder = folder
        self._files = ArchiveFiles(folder, prefix)
        self._thread = ThreadPoolExecutor(1, "recorder")
        self._last: Future[None] | None = None
        self._lost = 0
        self._told_at = 0.0

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self | None:
        """That of the setting `RECORD`; the sandbox's has other files, as its pages are invented. None without one."""
        folder = settings["RECORD"]
        prefix = "webdata-sandbox" if settings.getbool("SANDBOX") else "webdata"
        return cls(Path(folder), prefix) if folder else None

    async def record(self, exchange: ArchivedExchange, keys: tuple[str, ...]) -> None:
        """Write an exchange, with a mask in the place of the engine's own `keys`, and wait until it is written."""
        short = SHORT_ENCODED if exchange.is_encoded else SHORT
        if keys or len(exchange.body) > short or len(exchange.sent_body) > SHORT or self._is_writing():
            self._last = self._thread.submit(self._write, exchange, keys)
            await asyncio.shield(asyncio.wrap_future(self._last))
        else:
            self._write(exchange, keys)

    async def close(self) -> None:
        """Write what is left, and close the file."""
        await asyncio.to_thread(self._thread.shutdown)
        self._files.close()

    def _is_writing(self) -> bool:
        return self._last is not None and not self._last.done()

    def _write(self, exchange: ArchivedExchange, keys: tuple[str, ...]) -> None:
        try:
            if lacks_room([self._folder], 1.0):
                raise OSError("the disk is nearly full")
            self._files.write(without_keys(exchange, keys) if keys else exchange)
        except Exception as error:  # noqa: BLE001  # no fetch fails by it
            self._lost += 1
            if monotonic() - self._told_at > TOLD_EVERY or not self._told_at:
                self._told_at = monotonic()
                logger.warning("Exchanges are not recorded, %d since the start: %s", self._lost, error)


def fetched_page(
    response: Response, engine: str, resources: Sequence[Resource], keys: tuple[str, ...]
) -> FetchedPage | None:
    """The page of a response that an engine with these has parsed; None for one that is a secret as a whole."""
    assert response.request, "it was downloaded"
    exchange = recorded_exchange(response.request, response, engine, resources)
    return None if exchange is None else FetchedPage(exchange, keys)


def recorded_exchange(
    request: Request, response: Response, engine: str, resources: Sequence[Resource] = ()
) -> ArchivedExchange | None:
    """The exchange of an engine with these resources, without secrets; None for one that is a secret as a whole.

    Cookies, credentials and headers named like some are left out, such values of a URL are masked, and what a caller
    sends of its own is for its caller alone, with the answer to it.
    """
    fetch = Fetch.of(request)
    if fetch.parts is not None or fetch.is_secret:
        return None
    marks = {ENGINE: engine, TRANSPORT: fetch.transport}
    if fetch.query is not None:
        marks[QUERY] = orjson.dumps(archived_fields(fetch.query, resources)).decode()
    sent, received = _public_pairs(request.headers), pairs_without_transfer(_public_pairs(response.headers))
    url = masked_url(response.url)
    return ArchivedExchange(url, request.method, sent, request.body, response.status, received, response.body, marks)


def archived_fields(query: Query, resources: Sequence[Resource]) -> Mapping[str, object]:
    """The fields of a query that tell which page it is, as JSON, with masked secrets.

    Those of a single call are left out, and the session. `resource` is its resource, where the engine has several.
    """
    without = {*of_single_calls(type(query)), "session"}
    fields = query.model_dump(mode="json", exclude_defaults=True, exclude=without)
    names = [resource.name for resource in resources if type(query) is resource.query]
    named = {"resource": names[0]} if len(resources) > 1 and names else {}
    return {name: masked_url(value) if isinstance(value, str) else value for name, value in fields.items()} | named


def without_keys(exchange: ArchivedExchange, keys: tuple[str, ...]) -> ArchivedExchange:
    """The exchange with a mask in the place of keys: in its URL, its headers, its marks and both bodies.

    Raises UpstreamError for a body that cannot be decompressed.
    """
    secrets = [form for key in keys if key for form in forms_of(key)]
    encoding = ",".join(value for name, value in exchange.headers if name.lower() == "content-encoding")
    body = leniently_decompressed(exchange.body, encoding, LONGEST_MASKED).body if encoding else exchange.body
    return ArchivedExchange(
        _without(exchange.url, secrets),
        exchange.method,
        tuple((name, _without(value, secrets)) for name, value in exchange.sent),
        _bytes_without(exchange.sent_body, secrets),
        exchange.status,
        tuple(
            (name, _without(value, secrets)) for name, value in exchange.headers if name.lower() != "content-encoding"
        ),
        _bytes_without(body, secrets),
        {name: _without(value, secrets) for name, value in exchange.marks.items()},
    )


def _without(text: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, MASK)
    return text


def _bytes_without(body: bytes, secrets: Iterable[str]) -> bytes:
    for secret in secrets:
        body = body.replace(secret.encode(), MASK.encode())
    return body


@lru_cache(1000)
def is_public(name: str) -> bool:
    """Whether a header of this name holds no secret."""
    return not SECRET_NAME.search(name)


def _public_pairs(headers: Headers) -> HeaderPairs:
    pairs = ((name.decode("latin-1"), value.decode("latin-1")) for name in headers for value in headers.getlist(name))
    return tuple((name, masked_url(value) if "://" in value else value) for name, value in pairs if is_public(name))
