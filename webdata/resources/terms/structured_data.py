"""What a page says of itself to machines, as answers have it."""

from typing import Any, Literal, TypedDict

from webdata.domain.in_schema import InSchema
from webdata.domain.shapes import Natural

SOURCES = ("json_ld", "microdata", "rdfa", "opengraph", "twitter", "meta")
SUMMARY_FIELD = {
    "type": "object",
    "properties": {"value": {}, "from": {"type": "string", "enum": [*SOURCES]}},
    "required": ["value", "from"],
    "additionalProperties": True,
}
"""The schema of a value and the first source that says it; no class has an attribute of the name `from`."""


@InSchema(more={"additionalProperties": SUMMARY_FIELD})
class PageSummary(TypedDict):
    """What the page is about: its kind, and fields that each have a value and the first source that says it."""

    type: Literal["article", "product", "job", "event", "recipe", "organization", "faq", "breadcrumb", "listing"]


class StructuredData(TypedDict, total=False):
    """What a page says of itself to machines."""

    summary: PageSummary | None
    """Null where the page says no kind."""
    json_ld: list[Any]
    """The items of all blocks, those of a @graph one by one."""
    unread: Natural
    """How many blocks of JSON-LD cannot be read."""
    microdata: list[dict[str, Any]]
    rdfa: list[dict[str, Any]]
    """In the form of the microdata."""
    opengraph: dict[str, Any]
    twitter: dict[str, Any]
    meta: dict[str, Any]
