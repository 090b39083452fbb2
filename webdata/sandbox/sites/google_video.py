"""Google's video search: invented results in the markup that videos have in web results of 2026."""

from functools import lru_cache

from webdata.runtime.wire.exchange import SandboxRequest, SiteReply
from webdata.sandbox.invention import slug
from webdata.sandbox.sites import _google_search, google_web
from webdata.sandbox.sites._google_search import RESULTS, GoogleSearch, page_of
from webdata.sandbox.sites._searches import CACHED_PAGES, IMAGE, Data

HOSTS = _google_search.HOSTS

CHANNELS = ("Kiln & Co", "Half Past Nine", "Blue Lantern", "The Open Notebook", "3 Oak Lane", "Quiet Mornings")


def takes(request: SandboxRequest) -> bool:
    """Whether a request is a search for videos."""
    return _google_search.is_search(request, tbm="vid", udm="7")


def answer(request: SandboxRequest) -> SiteReply:
    """A page of videos, or what the scenarios in the terms make of it."""
    return _google_search.answer_search(request, page)


@lru_cache(maxsize=CACHED_PAGES)
def page(search: GoogleSearch) -> bytes:
    """The page of videos; the pages without results are those of the web search."""
    if search.start >= RESULTS or not search.known:
        return google_web.page(search)
    return page_of(search, "google_video", "results", results=[_video(search, rank) for rank in search.ranks])


def _video(search: GoogleSearch, rank: int) -> Data:
    random = search.random("video", rank)
    key = f"{slug(search.q)}-{rank}"
    return {
        "rank": rank,
        "id": key,
        "link": f"https://video.example.net/watch?v={key}",
        "title": random.title(search.topic),
        "source": "Example Video",
        "channel": random.choice(CHANNELS),
        "views": f"{random.number(2, 900)}K",
        "date": random.date(),
        "duration": f"{random.number(0, 59)}:{random.number(0, 59):02}",
        "image": IMAGE.format(id=f"video-{random.number(1, 9999)}"),
        "snippet": random.sentences(search.topic, 2),
    }
