"""Google's video search in the markup of the web page's videos of 2026 (results and groups), with invented content."""

from functools import lru_cache

from webdata.sandbox.exchange import Reply, SandboxRequest
from webdata.sandbox.invention import TITLES, slug
from webdata.sandbox.sites import _google_search
from webdata.sandbox.sites._google_results import IMAGE, KEPT_PAGES, Search, frame, ranks, whole
from webdata.sandbox.templates import Html, blocks, joined

HOSTS = _google_search.HOSTS

CHANNELS = ("Kiln & Co", "Half Past Nine", "Blue Lantern", "The Open Notebook", "3 Oak Lane", "Quiet Mornings")


def takes(request: SandboxRequest) -> bool:
    """Searches for videos, by the old name or the new one."""
    return _google_search.is_search(request, tbm="vid", udm="7")


def answer(request: SandboxRequest) -> Reply:
    """A page of videos, or what the terms ask for instead."""
    return _google_search.answer_search(request, page)


@lru_cache(maxsize=KEPT_PAGES)
def page(search: Search) -> bytes:
    """The whole page. The same search always gives the same bytes."""
    return whole(search, _videos)


def _videos(search: Search) -> Html:
    result = blocks("google_video.html")["mobile_result" if search.mobile else "result"]
    parts = joined(result.fill(**_video(search, rank)) for rank in ranks(search))
    return frame(search, main=parts if search.mobile else search.block["main"].fill(parts=parts))


def _video(search: Search, rank: int) -> dict[str, str | int]:
    random = search.random("video", rank)
    key = f"{slug(search.q)}-{rank}"
    return {
        "rank": rank,
        "hl": search.hl,
        "id": key,
        "link": f"https://video.example.net/watch?v={key}",
        "title": random.choice(TITLES).format(topic=search.topic),
        "source": "Example Video",
        "channel": random.choice(CHANNELS),
        "views": f"{random.number(2, 900)}K",
        "date": random.date(),
        "duration": f"{random.number(0, 59)}:{random.number(0, 59):02}",
        "image": IMAGE.format(id=f"video-{random.number(1, 9999)}"),
        "snippet": random.sentences(search.topic, 2),
    }
