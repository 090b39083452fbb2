"""The responses to a fetched page that are no JSON: its Markdown, and its screenshot."""

from base64 import b64decode

from webdata.domain.records import Record
from webdata.resources import MediaFile, PlainText

MARKDOWN_TYPE = "text/html; charset=utf-8"
PICTURE_TYPES = ("image/png", "image/jpeg", "image/webp")
ALONE = frozenset(["url", "status", "content_type", "truncated", "screenshot"])
"""The members of a record of a screenshot without other formats."""
TEXT_HEADERS = (
    ("x-upstream-status", "the status of the page itself"),
    ("x-truncated", "true where the page broke off before it was whole"),
    ("x-pages", "of a PDF: which of its pages are in the Markdown, and how many it has, such as 1-100/240"),
    ("x-left-out", "the share of the page's visible words that is not in the Markdown, such as 0.07"),
    (
        "x-screenshot",
        "the width and height of a screenshot, and whether the page goes on below: 1280x720, cut",
    ),
    ("x-from-scripts", "true where text is in the Markdown that only the data in the page's scripts has"),
    ("x-file", "the path of a screenshot, for ten minutes and whoever has it: /v1/files/…"),
    ("x-next-cursor", "the cursor of the part after this one, where max_chars has cut the text"),
)
"""The headers of these responses, and their descriptions."""


def markdown(record: Record) -> PlainText | None:
    """The text response to a record of Markdown, with its other values in headers; None for a full page."""
    if "config" not in record or record["config"]["response_type"] != "markdown":
        return None
    headers = {"x-upstream-status": str(record["status"])}
    if record["config"]["truncated"]:
        headers["x-truncated"] = "true"
    if "pages" in (document := record["config"].get("document", {})):
        headers["x-pages"] = f"{document['first']}-{document['last']}/{document['pages']}"
    if "left_out" in record["config"]:
        headers["x-left-out"] = f"{record['config']['left_out']:.2f}"
    if "from_scripts" in record["config"]:
        headers["x-from-scripts"] = "true"
    return PlainText(record["data"], MARKDOWN_TYPE, headers)


def screenshot(record: Record) -> MediaFile | None:
    """The screenshot that is in a record."""
    if "screenshot" not in record:
        return None
    found = record["screenshot"]
    size = f"{found['width']}x{found['height']}{', cut' if found['cut'] else ''}"
    headers = {"x-upstream-status": str(record["status"]), "x-screenshot": size}
    return MediaFile(b64decode(found["data"]), found["content_type"], headers)


def picture(record: Record, accept: str) -> MediaFile | None:
    """The screenshot that a record is, without other formats, where `Accept` names its type (RFC 9110, 12.5.1)."""
    if "screenshot" not in record or not ALONE.issuperset(record):
        return None
    asked = {one.partition(";")[0].strip().lower() for one in accept.split(",")}
    return None if asked.isdisjoint((record["screenshot"]["content_type"], "image/*")) else screenshot(record)
