"""Google's video results: the structure of the web results, each result with the metadata of its video.

A result is a title inside a link that leads away from Google. On a page without those the results are headings inside
links without an address, the structure of the items in the carousels of videos on the page of web results.
"""

import re
from collections.abc import Iterator
from typing import cast

from selectolax.lexbor import LexborNode

from webdata.domain.records import Result, ResultMetadata, WebPage
from webdata.pages import google_web
from webdata.pages._elements import image, lines, visible_text
from webdata.pages._google import blocks, organic, tree
from webdata.pages._google.links import destination, is_paid, outside
from webdata.pages._google.organic import Title
from webdata.pages._google.tree import GooglePage, Mark
from webdata.pages._text import clean, date, duration
from webdata.resources.web_search import GoogleQuery

RESULT_MARKS, block = blocks.RESULT_MARKS, blocks.block

SNIPPET = ".ITZIwc, .qCr3Hd"
PUBLISHER = ".gqF9jc, .WRu9Cd, .Sg4azc, .VuuXrf"
ROW_LENGTH = 80
"""Characters; lines with metadata are shorter."""
DOTS = re.compile(r"[·•]")
LABEL = re.compile(r"^[^\W\d_]+: ")
"""The label of a value on the page without JavaScript: `Duration: 4:05`."""


def record(body: bytes, query: GoogleQuery) -> WebPage:
    """The record of a page of videos; `query.num` cuts the results, not the other parts.

    Raises LayoutError for a page that has no content and does not report that there is none.
    """
    page = tree.page(body)
    titles = organic.titles(page) or list(_headed(page))
    parts = google_web.all_parts(page, titles)
    by_order = {title.mark.order: title for title in titles}
    for order, result in parts.results:  # a featured snippet is none, where its page is listed below it
        _add_metadata(page, by_order[order], result)
    links = {title.link for title in titles}
    parts.carousels = [
        (order, one) for order, one in parts.carousels if not links.issuperset(item["link"] for item in one["items"])
    ]
    return google_web.web_page(page, parts, query)


def _headed(page: GooglePage) -> Iterator[Title]:
    """Headings inside a link, or around one on mobile pages; the first of each link."""
    seen: set[str] = set()
    for mark in page.of("heading"):
        around = mark.within("link")
        anchors = [around.node] if around else mark.node.css("a[href]")
        anchor, link = next(((one, link) for one in anchors if (link := _target(mark, one))), (None, None))
        text = next((row for row in lines(mark.node) if duration(row) is None), "")
        if anchor and link and text and link not in seen and not page.is_hidden(anchor):
            seen.add(link)
            yield Title(mark, text, anchor, link)


def _target(heading: Mark, anchor: LexborNode) -> str | None:
    return None if heading.is_within(organic.EXCLUDED) or is_paid(anchor) else outside(destination(anchor.attributes))


def _add_metadata(page: GooglePage, title: Title, result: Result) -> None:
    """Add to a result the metadata of its video."""
    box = page.box(title.anchor)
    rows = [row for row in lines(box) if len(row) < ROW_LENGTH and row != title.text]
    publisher = _publisher(box, rows)
    result["result_type"] = "video"
    result["description"] = _description(visible_text(box.css_first(SNIPPET)) or result["description"], rows, publisher)
    result["metadata"] |= _metadata(box, rows, publisher)
    attributes = result["metadata"].pop("attributes", [])
    if others := [text for text in attributes if text not in publisher]:
        result["metadata"]["attributes"] = others


def _publisher(box: LexborNode, rows: list[str]) -> list[str]:
    """The site of the video and its channel, as far as the box names them."""
    known = [_names(visible_text(node)) for node in box.css(PUBLISHER)]
    pairs = known or [names for row in rows if not row[0].isdigit() and len(names := _names(row)) > 1]
    return max(pairs, key=len, default=[])[:2]


def _description(text: str, rows: list[str], publisher: list[str]) -> str:
    """A snippet without its lines of dates and durations; "" where it is the line of the publisher."""
    for row in rows:
        if row in text and not _names(row):
            text = clean(text.replace(row, "", 1))
    return "" if publisher and _names(text)[:1] == publisher[:1] else text


def _metadata(box: LexborNode, rows: list[str], publisher: list[str]) -> ResultMetadata:
    values = [part for row in rows for part in _parts(row)]
    time = next((text for value in values if (text := duration(value))), None)
    day = next((text for value in values if not duration(value) and (text := date(value))), None)
    source, channel = (*publisher, None, None)[:2]
    metadata = {"duration": time, "channel": channel, "source": source, "date": day, "thumbnail": image(box)}
    return cast(ResultMetadata, {name: value for name, value in metadata.items() if value})


def _names(text: str) -> list[str]:
    """The parts of a line that are neither date nor duration."""
    return [part for part in _parts(text) if not date(part) and not duration(part)]


def _parts(text: str) -> list[str]:
    """The parts of a line between its dots, without labels."""
    return [part for raw in DOTS.split(text) if (part := LABEL.sub("", clean(raw)))]
