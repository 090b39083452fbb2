"""The ids in the aggregator's links, and the publishers' addresses in the older ones.

An id (`…/rss/articles/CBMi…?oc=5`) is a protobuf message in base64url: field 1 is a number, field 4 the publisher's
address, field 26 the address of its AMP page, if any. Since July 2024 both are strings that only the aggregator can
resolve. Until 2017 the address was a parameter of the link (`/news/url?…&url=`).
"""

import binascii
import re
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from itertools import pairwise
from urllib.parse import SplitResult, parse_qs

from webdata.pages._urls import hostname, split

AGGREGATOR = re.compile(r"news\.google\.[a-z]{2,3}(?:\.[a-z]{2})?")
ID = re.compile(r"[A-Za-z0-9_-]{8,1024}={0,2}")
BEFORE_ID = ("articles", "read")
OLD_PATH = "/news/url"
ADDRESS = 4
"""The field of the publisher's address."""

WEB_ADDRESS = re.compile(r"https?://[^\s\x00-\x20\"<>/?#]+[^\s\x00-\x20\"<>]*", re.IGNORECASE)
LONGEST_ADDRESS = 4096

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
"""Protobuf's wire types, without those of groups (3, 4), which are deprecated."""
LONGEST_VARINT = 10


def id_in_link(link: str) -> str | None:
    """The id in a link to the aggregator; None in any other link."""
    parts = aggregator_url(link)
    segments = parts.path.split("/") if parts else []
    candidates = (after for before, after in pairwise(segments) if before in BEFORE_ID)
    return next(filter(ID.fullmatch, candidates), None)


def address_in_link(link: str) -> str | None:
    """The publisher's address in a link to the aggregator; None where it has none."""
    parts = aggregator_url(link)
    if not parts:
        return None
    if article := id_in_link(link):
        return address_in_id(article)
    values = parse_qs(parts.query).get("url", []) if parts.path == OLD_PATH else []
    return next(filter(is_web_address, values), None)


def is_article_link(link: str) -> bool:
    """Whether a link leads to an article of the aggregator."""
    return id_in_link(link) is not None or address_in_link(link) is not None


def aggregator_url(link: str) -> SplitResult | None:
    """The parts of a link to the aggregator; None for any other link."""
    parts = split(link)
    return parts if parts and AGGREGATOR.fullmatch(parts.hostname or "") else None


def address_in_id(article: str) -> str | None:
    """The publisher's address in an id; None in an opaque one."""
    try:
        message = urlsafe_b64decode(article.rstrip("=") + "=" * (-len(article.rstrip("=")) % 4))
        values = [value.decode() for number, value in fields(message) if number == ADDRESS and isinstance(value, bytes)]
    except (binascii.Error, ValueError):
        return None
    return next(filter(is_web_address, values), None)


def is_web_address(text: str) -> bool:
    """Whether a text is an http or https address."""
    return len(text) <= LONGEST_ADDRESS and WEB_ADDRESS.fullmatch(text) is not None and bool(hostname(text))


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a protobuf message, each with its number; raises ValueError for an invalid message.

    Source: https://protobuf.dev/programming-guides/encoding/
    """
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        number, wire_type = key >> 3, key & 7
        if wire_type == VARINT:
            value, at = varint(message, at)
            yield number, value
            continue
        if wire_type == BYTES:
            length, at = varint(message, at)
        elif wire_type in (FIXED64, FIXED32):
            length = 8 if wire_type == FIXED64 else 4
        else:
            raise ValueError(f"wire type {wire_type}")
        if at + length > len(message):
            raise ValueError("a field beyond the end")
        yield number, message[at : at + length]
        at += length


def varint(message: bytes, at: int) -> tuple[int, int]:
    """The number at an offset and the offset of its end; it has seven bits a byte, the lowest first."""
    value = 0
    for place, byte in enumerate(message[at : at + LONGEST_VARINT]):
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value, at + place + 1
    raise ValueError("a number without an end")
