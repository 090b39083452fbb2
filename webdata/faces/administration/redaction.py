"""A page without what it says: the names of its structure stay, every letter of its texts is x and every digit 9."""

import json
import re
from typing import Any

from lxml import etree, html

KEPT_ATTRIBUTES = frozenset(
    {
        "class",
        "id",
        "role",
        "type",
        "rel",
        "name",
        "itemprop",
        "itemscope",
        "lang",
        "dir",
        "hidden",
        "colspan",
        "rowspan",
    }
)
"""Attributes whose values are names of the page's maker."""
KEPT_WORD = re.compile(r"[A-Za-z_-]{1,40}")
"""A value of such an attribute that names something; one with digits or signs may be data."""
LETTER, DIGIT = re.compile(r"[^\W\d_]"), re.compile(r"\d")
BLANKS = " \t\n"
TAG = re.compile(r"[a-z][a-z0-9-]{0,40}")
ATTRIBUTE = re.compile(r"[a-z][a-z_-]{0,40}")
OPAQUE = ("script", "style", "noscript", "template")
"""Elements whose text is code or data, and is left out."""


def redacted_page(body: bytes) -> str:
    """The structure of a page of HTML, XML or JSON; of any other only its length."""
    text = body.decode("utf-8", "replace")
    if text.lstrip()[:1] in ("{", "["):
        try:
            return json.dumps(_redacted_value(json.loads(text)), indent=1)
        except (ValueError, RecursionError):
            return f"{len(body)} bytes that are no JSON"
    try:
        tree = html.document_fromstring(body, parser=html.HTMLParser(encoding="utf-8"))
    except (etree.ParserError, ValueError):
        return f"{len(body)} bytes that are no HTML"
    for element in tree.iter():
        _redact(element)
    return str(html.tostring(tree, encoding="unicode"))


def _redacted_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {_name(name): _redacted_value(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_redacted_value(one) for one in value]
    if isinstance(value, str):
        return _masked(value)
    return 9 if isinstance(value, int | float) and not isinstance(value, bool) else value


def _redact(element: Any) -> None:
    element.tail = _masked(element.tail)
    if not isinstance(element.tag, str) or element.tag in OPAQUE:  # comments, too
        element.text = ""
        if not isinstance(element.tag, str):
            return
    element.text = _masked(element.text)
    if not TAG.fullmatch(element.tag):
        element.tag = "x"
    kept = {name: shown for name, value in element.attrib.items() if (shown := _redacted_attribute(name, value))}
    element.attrib.clear()
    element.attrib.update(kept)


def _redacted_attribute(name: str, value: str) -> str:
    """The masked value; empty for an attribute that is left out, as broken markup makes attributes of words."""
    if not ATTRIBUTE.fullmatch(name):
        return ""
    return " ".join(map(_name, value.split())) if name in KEPT_ATTRIBUTES or name.startswith("js") else _masked(value)


def _name(word: str) -> str:
    return word if KEPT_WORD.fullmatch(word) else _masked(word)


def _masked(text: str | None) -> str:
    shown = "".join(one for one in text or "" if one.isprintable() or one in BLANKS)
    return DIGIT.sub("9", LETTER.sub("x", shown))
