"""Google's image search: invented results in the layout of 2026 (desktop) and 2022 (mobile)."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from webdata.sandbox.exchange import Reply, SandboxRequest
from webdata.sandbox.invention import PUBLISHERS, TITLES, slug
from webdata.sandbox.sites import _google_search
from webdata.sandbox.sites._google_results import CACHED_PAGES, NOTHING, RESULTS, Search
from webdata.sandbox.templates import Block, Html, blocks, joined

HOSTS = _google_search.HOSTS

FORMATS = ("jpg", "jpg", "jpg", "png", "webp", "svg", "gif")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
DOCID_LETTERS = 14
CACHE = "https://encrypted-tbn0.example.net/images?q=tbn:"

Tile = Mapping[str, Any]


def takes(request: SandboxRequest) -> bool:
    """Whether a request is a search for images."""
    return _google_search.is_search(request, tbm="isch", udm="2")


def answer(request: SandboxRequest) -> Reply:
    """A page of images, or what the scenarios in the terms make of it."""
    return _google_search.answer_search(request, page)


@lru_cache(maxsize=CACHED_PAGES)
def page(search: Search) -> bytes:
    """The page with all images of a search. The same search always gives the same bytes."""
    block = blocks("google_image.html")
    prefix = "old_" if search.mobile else ""
    parts = _parts(search, block, prefix, [_tile(search, index) for index in range(RESULTS)])
    return block[f"{prefix}page"].fill(q=search.q, hl=search.hl, **parts).encode("utf-8", "replace")


def _parts(search: Search, block: Mapping[str, Block], prefix: str, tiles: list[Tile]) -> dict[str, Html]:
    if search.start >= RESULTS:
        return {"main": NOTHING, "below": block["empty"].fill(q=search.q), "data": NOTHING}
    if not search.known:
        cards = joined(block["layout_tile"].fill(**tile) for tile in tiles)
        return {"main": block["layout"].fill(parts=cards), "below": NOTHING, "data": NOTHING}
    grid = joined(block[f"{prefix}tile"].fill(**tile) for tile in tiles)
    records = _script([[1, _record(tile)] for tile in tiles] if search.mobile else _keyed(tiles))
    data = block[f"{prefix}data"].fill(records=records)
    return {"main": block[f"{prefix}main"].fill(parts=grid), "below": NOTHING, "data": data}


def _tile(search: Search, index: int) -> Tile:
    random = search.random("image", index)
    source, host = random.choice(PUBLISHERS)
    docid, ref, cached = ("".join(random.choice(LETTERS) for _ in range(DOCID_LETTERS)) for _ in range(3))
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
        "title": f"{random.choice(TITLES).format(topic=search.topic)} - {source}",
        "source": source,
        "host": host,
    }


def _record(tile: Tile) -> list[Any]:
    """The record of an image in the page's script data; a height precedes its width."""
    about = [None, tile["ref"], tile["page"], tile["title"], *[None] * 8, tile["source"], *[None] * 4, tile["host"]]
    thumbnail = [tile["thumbnail"], 168, tile["thumbnail_width"]]
    original = [tile["src"], tile["height"], tile["width"]]
    named = {"2000": [None, tile["host"], "84KB"], "2001": [None, None, None, 3], "2003": about}
    return [0, tile["docid"], thumbnail, original, None, 0, "rgb(98,110,74)", None, 0, named]


def _keyed(tiles: list[Tile]) -> dict[str, list[Any]]:
    """The data of the layout of 2026: each record twice, under two keys."""
    return {
        f"{tile['key']}{suffix}": record
        for tile in tiles
        for suffix, record in (("a", [1, _record(tile)]), ("b", _record(tile)))
    }


def _script(value: Any) -> Html:
    """A value as JSON in a script, with the escapes of Google's pages."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for letter in "=&<>'":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Html(text)
