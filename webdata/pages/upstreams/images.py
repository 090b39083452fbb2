"""The record of an image search, and images of an upstream API."""

import re
from collections.abc import Sequence

from webdata.pages._urls import hostname
from webdata.pages.odd_items import OddItemError
from webdata.resources.image_search import MOST_IMAGES, ImagePage, ImageResult

FORMAT = re.compile(r"^(?:image/)?([a-z0-9.+-]{1,20})$")


def image(
    title: str,
    page: str | None,
    source: str | None,
    thumbnail: str | None,
    pixels: tuple[int | None, int | None] = (None, None),
    file_format: str = "",
) -> ImageResult:
    """An image, with its width and height; raises OddItemError for one without its page, or any address of its own."""
    preview = thumbnail or source
    if not page or not preview:
        raise OddItemError("an image with its page and a preview")
    width, height = (str(size) if size else None for size in pixels)
    return {
        "image": {"src": preview, "alt": title},
        "link": {"href": page, "title": title, "domain": hostname(page)},
        "original_image": {"src": source, "width": width, "height": height, "file_format": _format(file_format)},
        "thumbnails": {"small": preview, "medium": preview, "large": preview},
    }


def image_page(images: Sequence[ImageResult]) -> ImagePage:
    """The record of a page of images."""
    shown = list(images[:MOST_IMAGES])
    return {
        "image_results": shown,
        "results": [],
        "ads": [],
        "ads_count": 0,
        "answers": [],
        "shopping_ads": [],
        "places": [],
        "related_searches": [],
        "carousel": [],
        "company": {},
        "total": len(shown),
    }


def _format(text: str) -> str:
    found = FORMAT.fullmatch(text.lower())
    name = found[1] if found else ""
    return f"image/{'jpeg' if name == 'jpg' else name}"
