"""Links on Google's pages: where they lead, with Google's own redirects undone."""

import re
from urllib.parse import SplitResult, unquote_plus, urljoin

from selectolax.lexbor import LexborNode

from webdata.pages._urls import query, split

GOOGLE = "https://www.google.com/"
HOST = re.compile(r"(?:www|m|encrypted)\.google\.(?:[a-z]{2,3}|com?\.[a-z]{2})$")
REDIRECTS = ("/url", "/goto", "/interstitial")
AMP = re.compile(r"/amp/(s/)?(?=[^/?#]+\.)")
"""The start of a path under which Google keeps fast copies of pages: `/amp/s/` and the page's address."""
GOTO = re.compile(r"(?:https?://(?:www|m)\.google\.[a-z.]{2,6})?/goto\?")
REPORTS = ("data-sb", "ping", "data-redirect")
TARGETS = ("q", "url", "adurl", "imgrefurl")
TRACKERS = re.compile(r"^(?:https?://(?:www\.)?(?:google\.[a-z.]+|googleadservices\.com))?/(?:pagead/)?aclk\b")
OWN = (
    "/search",
    "/url",
    "/goto",
    "/imgres",
    "/aclk",
    "/preferences",
    "/advanced_search",
    "/setprefs",
    "/webhp",
    "/wml",
    "/sorry",
)
OWN_SITES = re.compile(
    r"https?://(?:(?:webcache\.googleusercontent|(?:accounts|policies|consent|maps)\.google)\."
    r"|scholar\.google\.[^#]*[?&]oi=scholar)"
)
ELSEWHERE = re.compile(r"https?://(?!(?:www|m|encrypted)\.google\.|[^/?#]*[\[\]\\])[^/?#\s]")
SEARCH = re.compile(r"(?:https?://(?:www|m)\.google\.[a-z.]{2,6})?/(?:wml/)?search\?")
TERMS = re.compile(r"[?&]q=([^&#]+)")
ENTITY = re.compile(r"/search(?=\?.*?(?<=[?&])(?:stick|si)=)(?=\?.*?(?<=[?&])q=[^&])")
VERTICAL = re.compile(r"[?&](?:(?:stick|si|start|ibp|ludocid)=|tbs=(?!ctr:|lr:)|tbm=(?!vid)|udm=(?!7\b))")
OWN_PATH = re.compile(r"/(?!/|url\?|goto\?|interstitial\?|amp/)[^\s#]*$")
"""A path on Google's own host that is no redirect."""
HIGHLIGHT = "#:~:text="


def target(href: str | None) -> str | None:
    """Where a link leads, as an absolute address; None for what is no address at all.

    Undoes `/url?q=…`, `/url?…url=…`, `/goto?url=…` and `/amp/s/…` where the target can be read, and drops
    the instruction to highlight a text on the target page.
    """
    href = (href or "").strip()
    if ELSEWHERE.match(href):
        return href.split(HIGHLIGHT)[0]
    if OWN_PATH.match(href):
        return GOOGLE + href[1:]
    if not href or href[0] == "#" or not _leads_somewhere(href):
        return None
    parts = split(href)
    if parts is None:
        return None
    if _is_own_host(parts) and parts.path in REDIRECTS:
        href = _query_address(parts) or href
    elif _is_own_host(parts) and (copy := AMP.match(parts.path)):
        href = f"{'https' if copy.group(1) else 'http'}://{href.partition(copy.group())[2]}"
    try:
        return urljoin(GOOGLE, href).split(HIGHLIGHT)[0]
    except ValueError:
        return None


def destination(attributes: dict[str, str | None]) -> str | None:
    """The address of a link; for an opaque `/goto` the one in the attributes that Google reports clicks with."""
    href = attributes.get("href")
    if href and GOTO.match(href):
        reported = (attributes.get(name) or "" for name in REPORTS)
        return next((text for text in reported if "url=http" in text), href)
    return href


def _leads_somewhere(href: str) -> bool:
    scheme = re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:", href)
    return not scheme or scheme.group().lower() in ("http:", "https:")


def _query_address(parts: SplitResult) -> str | None:
    values = query(parts)
    return next(
        (value for name in TARGETS if (value := values.get(name, "")).startswith(("http://", "https://"))), None
    )


def _is_own_host(parts: SplitResult) -> bool:
    return not parts.netloc or HOST.match(parts.netloc.lower()) is not None


def outside(href: str | None) -> str | None:
    """Where a link leads, if it leads away from Google's own pages about the search."""
    if href is None or OWN_PATH.match(href):
        return None
    link = target(href)
    if link is None or OWN_SITES.match(link):
        return None
    if ELSEWHERE.match(link):
        return link
    parts = split(link)
    if parts is None or not parts.netloc:
        return None
    opaque = parts.path == "/goto"
    relative = not (href or "").strip().lower().startswith(("http", "//", "/amp/", *REDIRECTS))
    return None if _is_own_host(parts) and not opaque and (relative or parts.path.startswith(OWN)) else link


def search_terms(href: str) -> str | None:
    """The terms of a plain search on Google that a link leads to; None for links to entities and verticals."""
    if not SEARCH.match(href) or VERTICAL.search(href):
        return None
    terms = TERMS.search(href)
    return unquote_plus(terms.group(1)) if terms else None


def is_paid(link: LexborNode) -> bool:
    """Whether a link is an ad's: it leads over a tracker, or names one."""
    attributes = link.attributes
    return (
        "data-rw" in attributes or "data-pcu" in attributes or TRACKERS.match(attributes.get("href") or "") is not None
    )


def advertised(link: LexborNode) -> str | None:
    """Where an ad leads: its clean link, else the destination written beside the tracker (`data-pcu`)."""
    attributes = link.attributes
    href = attributes.get("href") or attributes.get("data-rw") or ""
    if not TRACKERS.match(href):
        return target(href)
    parts = split(href)
    written = (attributes.get("data-pcu") or "").split(",")
    readable = query(parts).get("adurl", "") if parts else ""
    return readable or next((address for address in written if address.startswith("http")), None) or target(href)


def host(link: str | None) -> str:
    """The host of an address without `www.`, "" where there is none, or where an opaque link hides it."""
    parts = split(link or "") if not GOTO.match(link or "") else None
    return (parts.hostname or "").removeprefix("www.") if parts else ""
