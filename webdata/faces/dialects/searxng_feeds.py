"""The results of SearXNG's search as CSV and as RSS."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from email.utils import format_datetime
from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree

from webdata.domain.csv_lines import csv_line

CSV, RSS = "text/csv; charset=utf-8", "application/rss+xml; charset=utf-8"
CSV_COLUMNS = ("title", "url", "content", "host", "engine", "score", "type")


def csv_of(results: Iterable[Mapping[str, Any]]) -> bytes:
    """The results as CSV, with SearXNG's columns."""
    rows = ({**result, "host": result["parsed_url"][1], "type": "result"} for result in results)
    lines = (csv_line(row[name] for name in CSV_COLUMNS) for row in rows)
    return b"".join([csv_line(CSV_COLUMNS), *lines])


def rss_of(terms: str, path: str, results: Iterable[Mapping[str, Any]]) -> bytes:
    """The results of a search at a path as a feed of RSS 2.0."""
    root = ElementTree.Element("rss", version="2.0")
    channel = ElementTree.SubElement(root, "channel")
    address = f"{path}?{urlencode({'q': terms})}"
    _add(channel, {"title": f"webdata: {terms}", "link": address, "description": f"Search results for {terms}"})
    for result in results:
        item = ElementTree.SubElement(channel, "item")
        day = result["publishedDate"]
        published = {"pubDate": format_datetime(datetime.fromisoformat(day))} if day else {}
        described = {"title": result["title"], "link": result["url"], "description": result["content"]}
        _add(item, {**described, **published})
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text


def _add(parent: ElementTree.Element, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        ElementTree.SubElement(parent, name).text = "".join(char for char in text if char.isprintable())
