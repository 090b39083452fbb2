"""Links on Google's pages and their targets, with Google's own redirects undone."""

import re
from urllib.parse import SplitResult, unquote_plus

from selectolax.lexbor import LexborNode

from webdata.pages._text import printable
from webdata.pages._urls import hostname, join, query, split

GOOGLE = "https://www.google.com/"
HOST = re.compile(r"(?:www|m|encrypted)\.google\.(?:[a-z]{2,3}|com?\.[a-z]{2})$")
REDIRECTS = ("/url", "/goto", "/interstitial")
AMP = re.compile(r"/amp/(s/)?(?=[^/?#]+\.)")
"""The start of a path of Google's copies of AMP pages: `/amp/s/`, then the page's address."""
GOTO = re.compile(r"(?:https?://(?:www|m)\.google\.[a-z.]{2,6})?/goto\?")
CLICK_REPORTS = ("data-sb", "ping", "data-redirect")
TARGETS = ("q", "url", "adurl", "imgrefurl")
CLICK = "ved"
"""The parameter that names the click in links to Google's own tools; results have it in redirects at most."""
TRACKERS = re.compile(r"^(?:https?://(?:www\.)?(?:google\.[a-z.]+|googleadservices\.com))?/(?:pagead/)?aclk\b")
OWN_PATHS = (
    "/search", "/url", "/goto", "/imgres", "/aclk", "/preferences", "/advanced_search", "/setprefs", "/webhp",
    "/wml", "/sorry",
)  # fmt: skip
OWN_SITES = re.compile(
    r"https?://(?:(?:webcache\.googleusercontent|(?:accounts|policies|consent|maps)\.google)\."
    r"|scholar\.google\.[^#]*[?&]oi=scholar)"
)
OUTSIDE = re.compile(r"https?://(?!(?:www|m|encrypted)\.google\.|[^/?#]*[\[\]\\])[^/?#\s]")
WEB = re.compile(r"https?://[^/?#\s]")
SEARCH = re.compile(r"(?:https?://(?:www|m)\.google\.[a-z.]{2,6})?/(?:wml/)?search\?")
TERMS = re.compile(r"[?&]q=([^&#]+)")
ENTITY = re.compile(r"/search(?=\?.*?(?<=[?&])(?:stick|si)=)(?=\?.*?(?<=[?&])q=[^&])")
VERTICAL = re.compile(r"[?&](?:(?:stick|si|start|ibp|ludocid)=|tbs=(?!ctr:|lr:)|tbm=(?!vid)|udm=(?!7\b))")
OWN_PATH = re.compile(r"/(?!/|url\?|goto\?|interstitial\?|amp/)[^\s#]*$")
"""A path on Google's own host that is no redirect."""
HIGHLIGHT = "#:~:text="
SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")


def target(href: str | None) -> str | None:
    """The target of a link as an absolute address; None where it is no address.

    Undoes `/url?q=…`, `/url?…url=…`, `/goto?url=…` and `/amp/s/…` where they contain the target, and drops the
    text fragment (https://wicg.github.io/scroll-to-text-fragment/).
    """
    href = printable((href or "").strip())
    if OUTSIDE.match(href):
        return href.split(HIGHLIGHT)[0]
    if OWN_PATH.match(href):
        return GOOGLE + href[1:]
    scheme = SCHEME.match(href)
    if not href or href[0] == "#" or (scheme and scheme.group().lower() not in ("http:", "https:")):
        return None
    parts = split(href)
    if parts is None:
        return None
    if _is_own_host(parts) and parts.path in REDIRECTS:
        href = _query_address(parts) or href
    elif _is_own_host(parts) and (copy := AMP.match(parts.path)):
        href = f"{'https' if copy.group(1) else 'http'}://{href.partition(copy.group())[2]}"
    address = join(GOOGLE, href)
    return address.split(HIGHLIGHT)[0] if address else None


def destination(attributes: dict[str, str | None]) -> str | None:
    """The address of a link; of an opaque `/goto` the address in the attributes for click reports."""
    href = attributes.get("href")
    if href and GOTO.match(href):
        reported = (attributes.get(name) or "" for name in CLICK_REPORTS)
        return next((text for text in reported if "url=http" in text), href)
    return href


def _query_address(parts: SplitResult) -> str | None:
    values = query(parts)
    return next(
        (value for name in TARGETS if (value := values.get(name, "")).startswith(("http://", "https://"))), None
    )


def _is_own_host(parts: SplitResult) -> bool:
    return not parts.netloc or HOST.match(parts.netloc.lower()) is not None


def outside(href: str | None) -> str | None:
    """The target of a link, unless it is one of Google's own pages about the search."""
    if href is None or OWN_PATH.match(href):
        return None
    link = target(href)
    if link is None or OWN_SITES.match(link):
        return None
    if OUTSIDE.match(link):
        return link
    parts = split(link)
    if parts is None or not parts.netloc:
        return None
    opaque = parts.path == "/goto"
    relative = not (href or "").strip().lower().startswith(("http", "//", "/amp/", *REDIRECTS))
    own = relative or parts.path.startswith(OWN_PATHS) or CLICK in query(parts)
    return None if _is_own_host(parts) and not opaque and own else link


def search_terms(href: str) -> str | None:
    """The terms of the plain search that a link leads to; None for links to entities and verticals."""
    if not SEARCH.match(href) or VERTICAL.search(href):
        return None
    terms = TERMS.search(href)
    return printable(unquote_plus(terms.group(1))) if terms else None


def is_paid(link: LexborNode) -> bool:
    """Whether a link belongs to an ad: it leads through a tracker, or names one."""
    attributes = link.attributes
    return (
        "data-rw" in attributes or "data-pcu" in attributes or TRACKERS.match(attributes.get("href") or "") is not None
    )


def advertised(link: LexborNode) -> str | None:
    """The target of an ad: its direct link, else the destination beside the tracker (`data-pcu`)."""
    attributes = link.attributes
    href = attributes.get("href") or attributes.get("data-rw") or ""
    if not TRACKERS.match(href):
        return target(href)
    parts = split(href)
    beside = (attributes.get("data-pcu") or "").split(",")
    readable = query(parts).get("adurl", "") if parts else ""
    return next(filter(WEB.match, (readable, *beside)), None) or target(href)


def host(link: str | None) -> str:
    """The host of an address without `www.`; "" where there is none, or where a link is opaque."""
    return "" if GOTO.match(link or "") else hostname(link or "").removeprefix("www.")
