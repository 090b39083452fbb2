"""Answers from an archive of exchanges, by their addresses."""

from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from webdata.domain.errors import ConfigError
from webdata.domain.secrets import masked_url
from webdata.runtime.archives.exchange import ArchivedPage
from webdata.runtime.archives.reader import ArchiveReader
from webdata.runtime.wire.exchange import SandboxRequest, SiteReply, plain

CACHED_PAGES = 64
"""Pages in memory; the others are read from the archive when they are asked for."""
Place = tuple[str, str]
"""The host and path of an address."""


class ArchiveReplay:
    """Answers a request with the responses of its address, one after another, and then with the last again.

    Without that address, the one of the same host and path answers that has the most of its parameters; 404 without
    one. Raises ConfigError for a file that is no archive, or has no page.
    """

    def __init__(self, archive: Path) -> None:
        self._reader = ArchiveReader(archive)
        self._offsets: defaultdict[str, list[int]] = defaultdict(list)
        self._places: defaultdict[Place, list[str]] = defaultdict(list)
        for offset, page in self._reader.found():
            if page.url not in self._offsets:
                self._places[_place(page.url)].append(page.url)
            self._offsets[page.url].append(offset)
        if not self._offsets:
            raise ConfigError(f"{archive} has no page: give an archive with responses")
        self._page = lru_cache(CACHED_PAGES)(self._reader.at)

    def answer(self, request: SandboxRequest) -> SiteReply:
        url = self._nearest(masked_url(request.url))
        if url is None:
            return plain(404, f"The archive has no page of {request.host}{request.path}.")
        offsets = self._offsets[url]
        page = self._page(offsets.pop(0) if len(offsets) > 1 else offsets[0])
        return _reply(page) if page else plain(404, "The archive has changed since it was opened.")

    def _nearest(self, url: str) -> str | None:
        if url in self._offsets:
            return url
        wanted = _parameters(url)
        urls = self._places.get(_place(url), ())
        return max(urls, key=lambda one: len(wanted & _parameters(one)), default=None)


def _place(url: str) -> Place:
    parts = urlsplit(url)
    return (parts.hostname or "").lower(), parts.path or "/"


def _parameters(url: str) -> set[tuple[str, str]]:
    return set(parse_qsl(urlsplit(url).query, keep_blank_values=True))


def _reply(page: ArchivedPage) -> SiteReply:
    return SiteReply(page.status, page.headers, page.body)
