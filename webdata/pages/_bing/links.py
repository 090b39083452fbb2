"""The targets of links on Bing's pages, with Bing's own redirects resolved.

`/ck/a?…&u=a1<base64url without padding>` has been Bing's redirect since about 2022; older ones have the target
unencoded. Ads link to `/aclk` or `/aclick`, which is not resolved.
"""

import re
from base64 import urlsafe_b64decode
from binascii import Error as NotBase64
from urllib.parse import SplitResult

from webdata.pages._text import printable
from webdata.pages._urls import join, query, split

BING = "https://www.bing.com/"
HOST = re.compile(r"(?:[a-z0-9-]+\.)*bing\.com$")
TRACKERS = ("/aclk", "/aclick")
REDIRECTS = ("/ck/a", "/rebates/welcome", "/alink/link", "/news/apiclick.aspx", "/link")
TARGETS = ("u", "url", "r")
ENCODED = re.compile(r"a\d([\w-]+)={0,2}", re.ASCII)
"""A digit for the kind of target, then the target in base64url."""
SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
ELSEWHERE = re.compile(r"https?://(?![^/?#]*bing\.com|[^/?#]*[\[\]\\])[^/?#\s]")
WEB = re.compile(r"https?://[^\s/?#]", re.IGNORECASE)


def target(href: str | None) -> str | None:
    """The absolute address that a link leads to; None for a link without an address."""
    address = absolute(href)
    if ELSEWHERE.match(address or ""):
        return address
    parts = split(address or "")
    if parts is None or not is_own(parts) or not parts.path.rstrip("/").endswith(REDIRECTS):
        return address
    values = query(parts)
    found = (_decoded(values[name]) for name in TARGETS if name in values)
    return next(filter(None, found), address)


def absolute(href: str | None) -> str | None:
    """The absolute address; None for one that is not of the web."""
    text = (href or "").strip()
    if ELSEWHERE.match(text):
        return text
    if not text or text[0] == "#" or (SCHEME.match(text) and not WEB.match(text)):
        return None
    address = join(BING, text)
    return address if address and WEB.match(address) else None


def is_paid(href: str | None) -> bool:
    """Whether a link is that of an ad's tracker."""
    parts = split(absolute(href) or "") if href and "/acl" in href else None
    return parts is not None and is_own(parts) and parts.path.startswith(TRACKERS)


def leads_away(link: str | None) -> bool:
    """Whether an address is none of Bing's own."""
    parts = split(link or "")
    return parts is not None and bool(parts.netloc) and not is_own(parts)


def is_own(parts: SplitResult) -> bool:
    return HOST.match(parts.hostname or "") is not None


def _decoded(value: str) -> str | None:
    """The target of a redirect, from base64 or unencoded."""
    encoded = ENCODED.fullmatch(value)
    if not encoded:
        return printable(value) if WEB.match(value) else None
    letters = encoded.group(1)
    try:
        text = urlsafe_b64decode(letters + "=" * (-len(letters) % 4)).decode()
    except (NotBase64, UnicodeDecodeError):
        return None
    return absolute(text) if text.isprintable() else None
