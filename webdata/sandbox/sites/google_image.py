"""Google's image search: invented results in the layout of 2026 (desktop) and 2022 (mobile)."""

import json
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from webdata.runtime.wire.exchange import SandboxRequest, SiteReply
from webdata.sandbox.invention import PUBLISHERS, slug
from webdata.sandbox.sites import _google_search
from webdata.sandbox.sites._google_search import RESULTS, GoogleSearch, page_of
from webdata.sandbox.sites._searches import CACHED_PAGES, Data

HOSTS = _google_search.HOSTS

FORMATS = ("jpg", "jpg", "jpg", "png", "webp", "svg", "gif")
DOCID_LETTERS = 14
CACHE = "https://encrypted-tbn0.example.net/images?q=tbn:"


def takes(request: SandboxRequest) -> bool:
    """Whether a request is a search for images."""
    return _google_search.is_search(request, tbm="isch", udm="2")


def answer(request: SandboxRequest) -> SiteReply:
    """A page of images, or what the scenarios in the terms make of it."""
    return _google_search.answer_search(request, page)


@lru_cache(maxsize=CACHED_PAGES)
def page(search: GoogleSearch) -> bytes:
    """The page with all images of a search. The same search always gives the same bytes."""
    if search.start >= RESULTS:
        return page_of(search, "google_image", "empty")
    images = [_image(search, index) for index in range(RESULTS)]
    if not search.known:
        return page_of(search, "google_image", "unknown", images=images)
    records = [[1, _record(image)] for image in images] if search.mobile else _keyed(images)
    return page_of(search, "google_image", "results", images=images, records=_script(records))


def _image(search: GoogleSearch, index: int) -> Data:
    random = search.random("image", index)
    source, host = random.choice(PUBLISHERS)
    docid, ref, cached = (random.token(DOCID_LETTERS) for _ in range(3))
    return {
        "index": index,
        "key": f"sandbox{index}",
        "docid": docid,
        "ref": ref,
        "thumbnail": f"{CACHE}{cached}&s",
        "thumbnail_width": random.number(180, 320),
        "src": f"https://{host}/images/{slug(search.q)}-{index}.{random.choice(FORMATS)}",
        "width": random.number(400, 4000),
        "height": random.number(300, 3000),
        "page": f"https://{host}/{slug(search.q)}/{index}",
        "title": f"{random.title(search.topic)} - {source}",
        "source": source,
        "host": host,
    }


def _record(image: Data) -> list[Any]:
    """The record of an image in the page's script data; a height precedes its width."""
    about = [
        None,
        image["ref"],
        image["page"],
        image["title"],
        *[None] * 8,
        image["source"],
        *[None] * 4,
        image["host"],
    ]
    thumbnail = [image["thumbnail"], 168, image["thumbnail_width"]]
    original = [image["src"], image["height"], image["width"]]
    named = {"2000": [None, image["host"], "84KB"], "2001": [None, None, None, 3], "2003": about}
    return [0, image["docid"], thumbnail, original, None, 0, "rgb(98,110,74)", None, 0, named]


def _keyed(images: list[Data]) -> dict[str, list[Any]]:
    """The data of the layout of 2026: each record twice, under two keys."""
    return {
        f"{image['key']}{suffix}": record
        for image in images
        for suffix, record in (("a", [1, _record(image)]), ("b", _record(image)))
    }


def _script(value: Any) -> Markup:
    """A value as JSON in a script, with the escapes of Google's pages."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for letter in "=&<>'":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)  # noqa: S704 - all its tags are escaped
