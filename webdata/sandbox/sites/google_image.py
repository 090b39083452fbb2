"""Google's image search in the layout of 2026 (desktop) and 2022 (mobile), with invented content."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from webdata.sandbox.exchange import Reply, SandboxRequest
from webdata.sandbox.invention import PUBLISHERS, TITLES, slug
from webdata.sandbox.sites import _google_search
from webdata.sandbox.sites._google_results import KEPT_PAGES, NOTHING, RESULTS, Search
from webdata.sandbox.templates import Block, Html, blocks, joined

HOSTS = _google_search.HOSTS

FORMATS = ("jpg", "jpg", "jpg", "png", "webp", "svg", "gif")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
DOCID_LETTERS = 14
CACHE = "https://encrypted-tbn0.example.net/images?q=tbn:"

Tile = Mapping[str, Any]


def takes(request: SandboxRequest) -> bool:
    """Searches for images, by the old name or the new one."""
    return _google_search.is_search(request, tbm="isch", udm="2")


def answer(request: SandboxRequest) -> Reply:
    """A page of images, or what the terms ask for instead."""
    return _google_search.answer_search(request, page)


@lru_cache(maxsize=KEPT_PAGES)
def page(search: Search) -> bytes:
    """The whole page, which has all images there are; the same search always gives the same bytes."""
    block = blocks("google_image.html")
    prefix = "old_" if search.mobile else ""
    tiles = [_tile(search, index) for index in range(RESULTS)]
    parts = _parts(search, block, prefix, tiles)
    markup = block[f"{prefix}page"].fill(q=search.q, hl=search.hl, **parts)
    return markup.encode("utf-8", "replace")


def _parts(search: Search, block: Mapping[str, Block], prefix: str, tiles: list[Tile]) -> dict[str, Html]:
    if search.start >= RESULTS:
        return {"main": NOTHING, "below": block["empty"].fill(q=search.q), "data": NOTHING}
    if not search.known:
        cards = joined(block["layout_tile"].fill(**tile) for tile in tiles)
        return {"main": block["layout"].fill(parts=cards), "below": NOTHING, "data": NOTHING}
    shown = joined(block[f"{prefix}tile"].fill(**tile) for tile in tiles)
    records = _script([[1, _record(tile)] for tile in tiles] if search.mobile else _keyed(tiles))
    data = block[f"{prefix}data"].fill(records=records)
    return {"main": block[f"{prefix}main"].fill(parts=shown), "below": NOTHING, "data": data}


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
    """The record of an image in the page's script data; heights stand before widths."""
    about = [None, tile["ref"], tile["page"], tile["title"], *[None] * 8, tile["source"], *[None] * 4, tile["host"]]
    thumbnail = [tile["thumbnail"], 168, tile["thumbnail_width"]]
    original = [tile["src"], tile["height"], tile["width"]]
    named = {"2000": [None, tile["host"], "84KB"], "2001": [None, None, None, 3], "2003": about}
    return [0, tile["docid"], thumbnail, original, None, 0, "rgb(98,110,74)", None, 0, named]


def _keyed(tiles: list[Tile]) -> dict[str, list[Any]]:
    """The data of today's page: each record twice, under keys of its own."""
    pairs = (
        (f"{tile['key']}{suffix}", record)
        for tile in tiles
        for suffix, record in (("a", [1, _record(tile)]), ("b", _record(tile)))
    )
    return dict(pairs)


def _script(value: Any) -> Html:
    """A value as it stands in a script of Google's."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for letter in "=&<>'":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Html(text)
