"""Ids of invented articles, as Google News makes them: protobuf in base64url, once with the address, now without.

The id of today holds a string that means something only to the aggregator: here the address and the scenarios that
befall whoever opens the article.
"""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import blake2b

VERSION = b"\x08\x13"
"""Field 1, the number 19."""
ADDRESS, AMP_ADDRESS = 4, 26
OPAQUE = "AU_yqL"
"""How the strings without meaning begin."""
TIME = 1_784_000_000
"""The second that every signature is of."""


def telling(address: str) -> str:
    """An id of before July 2024, which holds the address."""
    return _id(address, "")


def opaque(address: str, words: str) -> str:
    """An id of today; `words` are the scenarios of its article."""
    return _id(OPAQUE + _base64(f"{address}\n{words}".encode("utf-8", "replace")))


def opened(one: str) -> tuple[str, str] | None:
    """The address and the scenarios in an id of today; None in anything else."""
    _, mark, rest = _unbase64(one).partition(OPAQUE.encode())
    address, newline, words = _unbase64(rest.decode("ascii", "replace")).decode("utf-8", "replace").partition("\n")
    return (address, words) if mark and newline else None


def signature(one: str, time: int) -> str:
    """What an article's page gives for its id, and the call for addresses wants to see."""
    return blake2b(f"{one} {time}".encode("utf-8", "replace"), digest_size=24).hexdigest()


def _id(address: str, amp_address: str | None = None) -> str:
    amp = b"" if amp_address is None else _field(AMP_ADDRESS, amp_address)
    return _base64(VERSION + _field(ADDRESS, address) + amp)


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
