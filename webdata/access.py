"""Who may call: the rules over API keys.

A key is `wd_live_` or `wd_test_`, then 32 random bytes as 43 base62 digits, then a checksum: the CRC-32 of
everything before it, as 6 base62 digits (contract.md 7). The checksum tells a mistyped key from an unknown
one without a look-up. Digits are 0-9, A-Z, a-z, most significant first, padded with 0.
"""

import hashlib
import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from string import ascii_lowercase, ascii_uppercase, digits
from zlib import crc32

from ulid import ULID

from webdata.errors import UnauthorizedError
from webdata.stores.interfaces import Key, KeyStore

HEADERS = ("X-Api-Key", "api-key", "x-apikey", "apikey")
"""Where a key may come; the first one present wins (contract.md 1)."""

BASE62 = digits + ascii_uppercase + ascii_lowercase
SHAPE = re.compile(r"wd_(live|test)_[0-9A-Za-z]{49}")
GET_ONE = "Send a key in the X-Api-Key header; whoever runs this service makes one with `webdata keys create`"


class Access:
    """Opens the service to those who hold a key."""

    def __init__(self, keys: KeyStore) -> None:
        self._keys = keys

    def authenticate(self, header: Callable[[str], str | None]) -> Key:
        """The key of a caller. `header` gives the value of a request header, None if it was not sent.

        Raises UnauthorizedError that says why the key does not open, and never repeats it.
        """
        secret = next((value for name in HEADERS if (value := header(name)) is not None), None)
        if secret is None:
            raise UnauthorizedError(f"The API key is missing. {GET_ONE}.")
        check_shape(secret)
        key = self._keys.find(digest(secret))
        if key is None:
            raise UnauthorizedError(f"This API key is not known here; it may have been revoked. {GET_ONE}.")
        return key


def new_key(name: str, *, test: bool) -> tuple[Key, str]:
    """A key for a KeyStore, and its secret, which can be shown this once only: nobody keeps it."""
    secret = new_secret(test=test)
    key = Key(id=f"key_{ULID()}", name=name, test=test, created=datetime.now(UTC), digest=digest(secret))
    return key, secret


def new_secret(*, test: bool) -> str:
    """A fresh random secret, as the holder of a key sends it."""
    number = int.from_bytes(secrets.token_bytes(32), "big")
    body = f"wd_{'test' if test else 'live'}_{_base62(number, 43)}"
    return body + _checksum(body)


def check_shape(secret: str) -> None:
    """Raise UnauthorizedError for what cannot be a key, whatever the store holds."""
    if not SHAPE.fullmatch(secret):
        raise UnauthorizedError(
            f"The API key is malformed: it is wd_live_ or wd_test_ and 49 letters and digits after it. {GET_ONE}."
        )
    if _checksum(secret[:-6]) != secret[-6:]:
        raise UnauthorizedError(
            f"The API key is mistyped: its checksum does not fit. Copy it again as a whole. {GET_ONE}."
        )


def digest(secret: str) -> str:
    """What is kept of a key: its SHA-256 in hex. A key has 256 random bits, so it needs no salt and no slow hash.

    Keys are found by this digest, never compared, so the time that a look-up takes tells nothing about any key.
    """
    return hashlib.sha256(secret.encode()).hexdigest()


def _checksum(body: str) -> str:
    return _base62(crc32(body.encode()), 6)


def _base62(number: int, width: int) -> str:
    text = ""
    while number:
        number, digit = divmod(number, 62)
        text = BASE62[digit] + text
    return text.rjust(width, "0")
