"""The format of an API key in text, and the headers that may hold one."""

import re
from base64 import b64decode
from dataclasses import dataclass
from urllib.parse import unquote

HEADERS = ("X-Api-Key", "api-key", "x-apikey", "apikey")
"""Request headers that may hold the key; the first one present counts (docs/api.md)."""
AUTHORIZATION = "Authorization"
"""The header that may hold it where none of those is present: `Bearer KEY`, or `Basic` (RFC 6750 2.1, RFC 7617)."""


def _encoded(char: str) -> str:
    """A pattern for a character of a URL, percent-encoded any number of times."""
    digits = "".join(f"[{digit}{digit.upper()}]" for digit in f"{ord(char):02x}")
    return rf"(?:{char}|%(?:25)*{digits})"


def _word(text: str) -> str:
    return "".join(map(_encoded, text))


INVITATION = "wd_invite_"
"""The beginning of the secret of an invitation."""
KEY = re.compile(
    rf"{_word('wd_')}(?:(?P<live>{_word('live')})|(?P<invite>{_word('invite')})|{_word('test')}){_encoded('_')}"
    r"(?:\w|%(?:25)*(?:3[0-9]|[46][1-9a-fA-F]|[57][0-9aA]|5[fF]))+"
)
"""A key, or the secret of an invitation, in other text, such as a URL, in which each of its characters may be
percent-encoded."""


MARK = "…"
"""What stands for the rest of a key in a log; no URL has it."""


def redacted(text: str, mark: str = MARK) -> str:
    """The text for a log: of each key in it only the kind is left, and the mark."""
    return KEY.sub(lambda key: f"wd_{_kind(key)}_{mark}", text)


def _kind(key: re.Match[str]) -> str:
    return "live" if key["live"] else "invite" if key["invite"] else "test"


SHOWN = len("wd_live_") + 4
"""Characters of a key that identify it to its owner: its kind, and 24 of its 256 random bits."""


def key_in_authorization(value: str) -> str | None:
    """What a value of `Authorization` gives as the key, which may be none of ours; None for a scheme without one.

    Of `Basic` it is the password, whoever the user is, or the user where there is no password.
    """
    scheme, _, rest = value.strip().partition(" ")
    if scheme.lower() == "bearer":
        return rest.strip()
    if scheme.lower() != "basic":
        return None
    try:
        user, _, password = b64decode(rest.strip(), validate=True).decode().partition(":")
    except ValueError:
        return None
    return password or user


def prefix_of(text: str) -> str | None:
    """The first characters of the key in a text, such as a header or a URL; None if it holds none."""
    found = KEY.search(text)
    return unquote(found[0])[:SHOWN] if found else None


@dataclass(frozen=True)
class FirstKeys:
    """The secrets of the keys that a new database starts with. They are stored nowhere."""

    test: str
    live: str
    credits: int
    """The balance of their account."""
    invitation: str = ""
    """The path of a link by which one person becomes an admin of the dashboard; it was made with them."""
