"""Article ids in the format of Google News: protobuf in base64url.

Until July 2024 an id contained the article's URL, since then an opaque string. The sandbox encodes the URL and the
scenarios of the article's page in that string.
"""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import blake2b

VERSION = b"\x08\x13"
"""Field 1, the number 19."""
URL, AMP_URL = 4, 26
OPAQUE = "AU_yqL"
"""The prefix of opaque strings."""
TIME = 1_784_000_000
"""The Unix time of every signature."""


def legacy_id(url: str) -> str:
    """An id from before July 2024, with the article's URL."""
    return _id(url, amp=_field(AMP_URL, ""))


def opaque_id(url: str, scenarios: str) -> str:
    """An id in the current format; `scenarios` are those of the article's page."""
    return _id(OPAQUE + _base64(f"{url}\n{scenarios}".encode("utf-8", "replace")))


def decoded(article_id: str) -> tuple[str, str] | None:
    """The URL and the scenarios in an id of the current format; None for anything else."""
    _, prefix, encoded = _unbase64(article_id).partition(OPAQUE.encode())
    text = _unbase64(encoded.decode("ascii", "replace")).decode("utf-8", "replace")
    url, newline, scenarios = text.partition("\n")
    return (url, scenarios) if prefix and newline else None


def signature(article_id: str, time: int) -> str:
    """The signature of an id on its article's page, which the call for URLs requires."""
    return blake2b(f"{article_id} {time}".encode("utf-8", "replace"), digest_size=24).hexdigest()


def _id(text: str, amp: bytes = b"") -> str:
    return _base64(VERSION + _field(URL, text) + amp)


def _field(number: int, text: str) -> bytes:
    value = text.encode("utf-8", "replace")
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(number: int) -> bytes:
    digits = bytearray()
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*digits, number])


def _base64(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def _unbase64(text: str) -> bytes:
    try:
        return urlsafe_b64decode(text.encode("ascii", "replace") + b"=" * (-len(text) % 4))
    except binascii.Error:
        return b""
