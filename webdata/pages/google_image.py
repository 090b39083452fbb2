"""Google's image results, as a record.

Since 2020 the page's script data contains the same record for each image, at varying positions:
`[0, docid, [thumbnail, height, width], [original, height, width], …, {"2003": [_, _, page, title, …, host, …]}]`.
Without those, the data beside each tile (`rg_meta`, until 2019) are parsed, else the tiles themselves.
"""

import json
import re
from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

from selectolax.lexbor import LexborNode

from webdata.domain.errors import LayoutError
from webdata.pages._elements import ancestry, attribute, lines, outermost, parsed, visible_text
from webdata.pages._elements import image as picture
from webdata.pages._google import blocks, empty, tree
from webdata.pages._google.links import outside
from webdata.pages._text import clean, printable
from webdata.pages._urls import hostname, split
from webdata.pages._urls import query as parameters
from webdata.pages.upstreams.images import image_page
from webdata.resources.image_search import MOST_IMAGES, ImagePage, ImageQuery, ImageResult

RESULT_MARKS, block = blocks.RESULT_MARKS, blocks.block

MOST_TILES = 10 * MOST_IMAGES
"""Tiles among which those images are looked for."""

RECORD = re.compile(rb'\[\s*0\s*,\s*"[\w-]+"\s*,\s*\[\s*"')
RECORD_BYTES = 16_384
"""The bytes that are decoded from the start of a record; longer than the longest one."""
ABOUT_PAGE = "2003"

DATA = "div.rg_meta"

COLUMNS = "#search, #islrg, #islmp"
"""The elements with the results; a preview beside them has related images."""
TILES = "[data-lpage][data-docid], [data-tbnid][data-ow]"
VIEWS = 'a[href*="/imgres?"]'
PREVIEWS = 'a[href]:has(img[src*="encrypted-tbn"])'
RELATED = "data-rel"
CACHE = "https://encrypted-tbn0.gstatic.com/images?q=tbn:"
"""The address of a thumbnail, without the id of its image."""

MESSAGES = "[role=heading], p, .card-section"
NOTHING_FOUND = re.compile(
    r"did not match any image|aren.t any (?:great )?(?:image )?matches|mit keinen Bild"
    r"|aucune image|ninguna imagen|nessuna immagine|nenhuma imagem|geen afbeeldingen",
    re.IGNORECASE,
)

ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:[^\s\ud800-\udfff]+")
WEB_ADDRESS = re.compile(r"https?://[^\s\ud800-\udfff]+")
SURROGATE = re.compile(r"[\ud800-\udfff]")
"""A surrogate left of a character beyond U+FFFF that the page truncated."""
ENDING = re.compile(r"\.(\w+)$")
FORMATS = {
    "jpg": "jpeg", "jpeg": "jpeg", "jpe": "jpeg", "jfif": "jpeg", "png": "png", "apng": "apng", "gif": "gif",
    "webp": "webp", "svg": "svg+xml", "bmp": "bmp", "ico": "x-icon", "avif": "avif", "tif": "tiff", "tiff": "tiff",
    "heic": "heic",
}  # fmt: skip
"""Endings of file names, and the subtype of their MIME type `image/…`."""


def record(body: bytes, query: ImageQuery) -> ImagePage:
    """The record of a page of images, at most 20 of them.

    Raises LayoutError for a page that has no image and does not report that there is none.
    """
    images = _images(body)
    if not images and not _reports_no_results(body, query.q):
        raise LayoutError("neither images nor a message that nothing was found")
    return image_page(images)


def _images(body: bytes) -> list[ImageResult]:
    """The distinct images of the first source that has any: script data, tile data, tiles."""
    for source in (_script_images, _data_images, _tile_images):
        images: dict[str, ImageResult] = {}
        for key, image in source(body):
            images.setdefault(key, image)
            if len(images) == MOST_IMAGES:
                break
        if images:
            return list(images.values())
    return []


KeyedImages = Iterator[tuple[str, ImageResult]]
"""Images, each with a key that identifies it."""


def _script_images(body: bytes) -> KeyedImages:
    """The images of the script data; the pages of 2026 contain each record twice."""
    for start in RECORD.finditer(body):
        match _decoded(body[start.start() : start.start() + RECORD_BYTES].decode("utf-8", "replace")):
            case [0, str(key), [thumbnail, *_], [src, int(height), int(width), *_], *details]:
                page, title, *about = _source_page(details)
                image = _image(thumbnail, Source(page, title, about), UncheckedImage(src, width, height))
                if image:
                    yield key, image


def _source_page(details: list[Any]) -> list[Any]:
    """The page of an image according to its record: address, title, and further values such as the host."""
    named = next((part for part in details if isinstance(part, dict)), {})
    values = [value for value in (named.get(ABOUT_PAGE), *named.values()) if isinstance(value, list)]
    for value in values:
        match value:
            case [_, _, str(page), title, *_] if WEB_ADDRESS.match(page):
                return [page, title, *chain(*values)]
    return [None, None]


def _data_images(body: bytes) -> KeyedImages:
    """The images of the JSON beside each tile."""
    for node in parsed(body).css(DATA) if b"rg_meta" in body else ():
        match _decoded(node.text().strip()):
            case {"ou": str(src), "ow": int(width), "oh": int(height), "tu": thumbnail, "ru": page, **others}:
                original = UncheckedImage(src, width, height, others.get("ity"))
                image = _image(thumbnail, Source(page, others.get("pt"), [others.get("rh")]), original)
                if image:
                    yield src, image


def _decoded(text: str) -> Any:
    """The JSON value at the start of a text; None where there is none."""
    try:
        return json.JSONDecoder().raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None


def _tile_images(body: bytes) -> KeyedImages:
    """The images of the tiles; they have the original's address only where a script has run."""
    root = parsed(body)
    columns = root.css(COLUMNS)[:1] or root.css("body")
    groups = (outermost(node for column in columns for node in column.css(tiles)) for tiles in (TILES, VIEWS, PREVIEWS))
    for tile in next(filter(None, groups), [])[:MOST_TILES]:
        image = _tile(tile)
        if image and RELATED not in tile.attributes:
            yield image["image"]["src"], image


def _tile(tile: LexborNode) -> ImageResult | None:
    links = [href for anchor in (tile, *tile.css("a[href]")) if (href := attribute(anchor, "href"))]
    view = next((parts for href in links if "/imgres?" in href and (parts := split(href))), None)
    values = parameters(view) if view else {}
    pages = (values.get("imgrefurl"), attribute(tile, "data-lpage"), *links)
    page = next(filter(None, map(outside, pages)), None)
    width, height = attribute(tile, "data-ow") or values.get("w"), attribute(tile, "data-oh") or values.get("h")
    thumbnail = _thumbnail(tile, values)
    if not thumbnail or not page:
        return None
    title = _caption(tile).removesuffix(_domain(page, []))
    return _image(thumbnail, Source(page, title, []), UncheckedImage(values.get("imgurl"), width, height))


def _thumbnail(tile: LexborNode, values: dict[str, str]) -> str | None:
    """The address of the thumbnail: that of the picture, else the one with the image's id."""
    key = attribute(tile, "data-docid") or attribute(tile, "data-tbnid") or values.get("tbnid")
    return picture(tile) or (f"{CACHE}{key}" if key else None)


def _caption(tile: LexborNode) -> str:
    """The `alt` of the picture, else the first line around it, up to the next picture."""
    named = next((name for img in tile.css("img[alt]") if (name := clean(attribute(img, "alt")))), "")
    for around in ancestry(tile):
        if named or len(around.css("img")) > 1:
            break
        named = next(iter(lines(around)), "")
    return named


class Source(NamedTuple):
    """The page of an image, as unchecked values."""

    page: Any
    title: Any
    about: list[Any]


class UncheckedImage(NamedTuple):
    """An original image, as unchecked values."""

    src: Any
    width: Any
    height: Any
    ending: Any = None


def _image(thumbnail: Any, source: Source, original: UncheckedImage) -> ImageResult | None:
    """One result; None without a thumbnail or a page."""
    cached, page, src = _whole(WEB_ADDRESS, thumbnail), _whole(WEB_ADDRESS, source.page), _whole(ADDRESS, original.src)
    if not cached or not page:
        return None
    title = clean(SURROGATE.sub("\ufffd", source.title)) if isinstance(source.title, str) else ""
    return {
        "image": {"src": cached, "alt": title},
        "link": {"href": page, "title": title, "domain": _domain(page, source.about)},
        "original_image": {
            "src": src,
            "width": _pixels(original.width),
            "height": _pixels(original.height),
            "file_format": _format(src, original.ending),
        },
        "thumbnails": {"small": cached, "medium": cached, "large": cached},
    }


def _whole(pattern: re.Pattern[str], value: Any) -> str | None:
    """The value without control characters, if it is a text that the whole pattern matches."""
    return printable(value) if isinstance(value, str) and pattern.fullmatch(value) else None


def _pixels(value: Any) -> str | None:
    return str(value) if str(value).isascii() and str(value).isdecimal() else None


def _domain(page: str, about: list[Any]) -> str:
    """The page's host among the values about it, after the site's name, which may look like one; else the address's."""
    name = hostname(page)
    bare = name.removeprefix("www.")
    return next((text for text in reversed(about) if text in (bare, f"www.{bare}")), name)


def _format(src: str | None, ending: Any) -> str:
    """The MIME type of the ending in the data, else of the ending of the address."""
    in_address = ENDING.search((src or "").partition("?")[0].partition("#")[0])
    endings = (ending, in_address.group(1).lower() if in_address else None)
    return "image/" + next((FORMATS[one] for one in endings if isinstance(one, str) and one in FORMATS), "")


def _reports_no_results(body: bytes, terms: str) -> bool:
    page = tree.page(body)
    return empty.reports_no_results(page, terms) or any(
        NOTHING_FOUND.search(visible_text(node)) for node in page.root.css(MESSAGES)
    )
