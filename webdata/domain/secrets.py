"""Secrets in what callers send, masked before it is stored or shown."""

import re
from base64 import b64encode
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, quote_plus

from webdata.domain.api_key import redacted

MASK = "…"
LONGEST_SHOWN = 1000
"""Characters of a text that are shown."""
MOST_ITEMS = 50
DEEPEST = 5

SHORT = 20
"""Characters of texts that are too short for the name of a scheme and its credential."""
MARKS = frozenset("@=%_")
"""A secret of another kind is not without one of them."""

SECRET_NAME = re.compile(
    r"authorization|cookie|credential|passw|passphrase|secret|session_?id|signature|token|api[_-]?key|x-amz-"
    r"|^(?:auth|jwt|key|pass|pwd|sid|sig)$",
    re.IGNORECASE,
)
"""Names of headers, parameters and fields whose values are secrets."""
SCHEME = re.compile(r"\b(basic|bearer|token)\s+[\w.~+/=-]{16,}", re.IGNORECASE)
"""A credential as the header `Authorization` has it (RFC 9110 11.6.2); no word of a search is so long."""
USERINFO = re.compile(r"//[^/?#\s@]*@")
"""The user and password of a URL (RFC 3986 3.2.1)."""
PARAMETER = re.compile(r"([?&;#])([^?&;#=\s]{1,64})=([^&;#\s]+)")
"""A parameter of a URL."""


def masked(value: Any, depth: int = 0) -> Any:
    """A value of JSON with masked secrets, and without what is too long or too deep for a page."""
    if isinstance(value, str):
        return masked_text(value)
    if depth >= DEEPEST and isinstance(value, Mapping | list | tuple):
        return MASK
    if isinstance(value, Mapping):
        items = list(value.items())[:MOST_ITEMS]
        return {
            masked_text(str(name)): MASK if SECRET_NAME.search(str(name)) else masked(one, depth + 1)
            for name, one in items
        }
    if isinstance(value, list | tuple):
        return [masked(one, depth + 1) for one in value[:MOST_ITEMS]]
    return value


def masked_text(text: str) -> str:
    """A text with masked secrets: API keys, credentials, and those in URLs."""
    if len(text) <= SHORT and MARKS.isdisjoint(text):
        return text
    shown = SCHEME.sub(rf"\1 {MASK}", masked_url(text[: 2 * LONGEST_SHOWN]))  # half of a secret is not known as one
    return shown if len(shown) <= LONGEST_SHOWN else shown[:LONGEST_SHOWN] + MASK


def forms_of(key: str) -> tuple[str, ...]:
    """A key as it is in bodies and headers, and as URLs and `Authorization` have it."""
    return key, quote(key, safe=""), quote_plus(key), b64encode(key.encode()).decode()


def masked_url(url: str) -> str:
    """A URL with masked secrets, however long it is."""
    shown = USERINFO.sub(f"//{MASK}@", redacted(url)) if "@" in url else redacted(url)
    return PARAMETER.sub(_parameter, shown) if "=" in shown else shown


def _parameter(found: re.Match[str]) -> str:
    return f"{found[1]}{found[2]}={MASK}" if SECRET_NAME.search(found[2]) else found[0]
