"""LinkedIn's job postings for guests, as a record: the list of cards alone, or the whole page.

All layouts since 2020 agree: a card has the number of its posting (`urn:li:jobPosting:…`) or a link to
`/jobs/view/…`, the title in its only `h3`, the employer in the `h4`, the day in `time[datetime]`.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from webdata.domain.errors import LayoutError
from webdata.pages._elements import attribute, outermost, parsed
from webdata.pages._linkedin.workplace import is_hybrid, is_remote
from webdata.pages._text import clean
from webdata.pages.blocked import Block, Page
from webdata.resources.job_search import Job, JobPage, JobQuery
from webdata.resources.terms.job_terms import ANYWHERE

SITE = "https://www.linkedin.com"

NOT_FOUND = "No job listings found for this query."
"""The text of `error` in a record without postings (docs/api.md)."""

CARDS = ('[data-entity-urn*="jobPosting:"]', ".base-search-card, .job-search-card, .result-card, [data-id]:has(h3)")
LINK = 'a[href*="/jobs/view/"]'
TITLES = ("h3", "[class*='card__title']", "a[class*='full-link'] .sr-only, a[class*='full-card-link']", ".sr-only")
EMPLOYERS = ("h4", "[class*='card__subtitle']", 'a[href*="/company/"], a[href*="/school/"], a[href*="/showcase/"]')
OWN_ADDRESS = 'link[rel=canonical], meta[property="og:url"]'
JOB_PATH = re.compile(r"/jobs/view/.")
EMPLOYER_PATH = re.compile(r"/(?:company|school|showcase)/.")
LOCATIONS = ("[class*='card__location']", "[class*='card__metadata'] > span", "[class*='location']")
HIGHLIGHTS = "[class*='salary-info'], [class*='benefits__text']"
LOGO = "img[data-delayed-url], img[src]"
PLACEHOLDER = "data-ghost-url"

HOST = re.compile(r"(?:^|\.)linkedin\.com$")
CHECKPOINT = "/checkpoint/"
SIGN_IN = ("/authwall", "/signup", "/login", "/uas/login")
AUTHWALL = re.compile(rb"<meta\b[^>]{0,200}\bauth_wall_|<link\b[^>]{0,200}/authwall\b|\bauthwall-|/authwall\?")
AUTHWALL_NAMES = (b"authwall", b"auth_wall_")
CARD_MARKS = (b"urn:li:jobPosting:", b"/jobs/view/", b"no-results__")
DENIAL = 999
"""The site's own status for clients that it refuses."""

NOTHING = ".no-results, [class*='no-results__']"
NOTHING_TAG = 'meta[content*="emptyResult=true"]'
NOTHING_TITLE = re.compile(r"0 \S.*\bjobs\b")
NOTHING_PHRASES = re.compile(
    r"couldn.t find a match for|no matching jobs|aucun(?:e offre| résultat)|no (?:hemos encontrado|se encontraron)",
    re.IGNORECASE,
)

ADDRESS = re.compile(r"(https?://[^\s/?#]+)?(/[^\s?#]+)")
"""The host of an address, if it has one, and its path."""
NUMBER = re.compile(r"jobPosting:(\d+)")
NUMBER_IN_LINK = re.compile(r"/jobs/view/(?:[^/?#]*-)?(\d+)")
DAY = re.compile(r"[12]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)")
MASKED = re.compile(r"[*\s·•]+")
"""The mask of a text that the site shows to members only."""


class RepeatedSearch(NamedTuple):
    """The search terms that a page repeats; "" for those that it does not."""

    keywords: str
    location: str


def record(body: bytes, query: JobQuery) -> JobPage:
    """The record of one page.

    Raises LayoutError for a page without postings and without the message that none were found, and for the page of a
    single posting, whose cards are similar ones.
    """
    root = parsed(body)
    if any(JOB_PATH.search(_own_address(node)) for node in root.css(OWN_ADDRESS)):
        raise LayoutError("a list of postings: it is the page of one")
    if _has_no_results_message(root):
        return page([], query, _search(root).location)
    found = _postings(root)
    if not found:
        raise LayoutError("neither job postings nor a message that none were found")
    if not any(job["position"] for job in found):
        raise LayoutError("the position of any posting")
    return page(found, query, _search(root).location)


def block(page: Page) -> Block | None:
    """The pages for guests that may see no jobs: by their addresses, by the form to join, by the status.

    Other sites may use the status 999 for pages of theirs, and job pages have forms to join too.
    """
    for address in page.addresses:
        if HOST.search(address.netloc):
            if address.path.startswith(CHECKPOINT):
                return Block("captcha", "the address is LinkedIn's security check")
            if address.path.startswith(SIGN_IN):
                return Block("login", "the address is LinkedIn's wall for guests")
    named = page.may_be_shell and any(name in page.body for name in AUTHWALL_NAMES)
    if named and AUTHWALL.search(page.body) and not any(mark in page.body for mark in CARD_MARKS):
        return Block("login", "a form to join LinkedIn and no jobs")
    if page.status == DENIAL and not (page.any_site and page.has_text):
        return Block("denied", "status 999")
    return None


def page(postings: Iterable[Job], query: JobQuery, location: str = "") -> JobPage:
    """The record of postings, without repeated ones; `location` is the one that a page repeats from its query."""
    unique: dict[str, Job] = {}
    for job in postings:
        number = NUMBER_IN_LINK.search(job["link"])
        unique.setdefault(number[1] if number else job["link"], job)
    jobs = list(unique.values())
    found: JobPage = {
        "jobs": jobs,
        "metadata": {
            "data_query_location": location or query.wanted.place or ANYWHERE,
            "data_num_results_in_fetch": len(jobs),
            "data_is_nearby_query": query.wanted.nearby,
        },
    }
    return found if jobs else {**found, "error": NOT_FOUND}


def postings(body: bytes) -> list[Job]:
    """Every posting of a page in order, with repeated ones: their number is the offset of the next page."""
    return _postings(parsed(body))


def shown_search(body: bytes) -> RepeatedSearch:
    """The search terms that a page repeats."""
    return _search(parsed(body))


def _search(root: LexborNode) -> RepeatedSearch:
    fields = (root.css_first(f'input[name="{name}"][value]') for name in ("keywords", "location"))
    return RepeatedSearch(*(clean(field.attributes["value"]) if field else "" for field in fields))


def _has_no_results_message(root: LexborNode) -> bool:
    """Whether the page has the message that nothing was found; its cards are suggestions then."""
    if root.css_first(NOTHING):
        return True
    if root.css_first(LINK):
        return False
    title = root.css_first("title")
    heads = (clean(node.text()) for node in root.css("h1, h2"))
    return (
        root.css_first(NOTHING_TAG) is not None
        or NOTHING_TITLE.match(clean(title.text()) if title else "") is not None
        or any(NOTHING_PHRASES.search(head) for head in heads)
    )


def _postings(root: LexborNode) -> list[Job]:
    """The postings of the first kind of cards that the page has, else of the list items that link to one."""
    for mark in CARDS:
        if found := [job for card in outermost(root.css(mark)) if (job := _job(card)) is not None]:
            return found
    items = (item for item in root.css(f"li:has({LINK})") if len(item.css("li")) == 1)
    return [job for item in items if (job := _job(item)) is not None]


def _job(card: LexborNode) -> Job | None:
    addresses = [address for node in (card, *card.css("a[href]")) if (address := _address(node))]
    link = _matching(addresses, JOB_PATH) or _link_by_number(card)
    if link is None:
        return None
    position, location = _text(card, TITLES), _text(card, LOCATIONS)
    highlights = [text for node in card.css(HIGHLIGHTS) if (text := clean(node.text()))]
    return {
        "position": position,
        "employer": _text(card, EMPLOYERS),
        "employer_link": _matching(addresses, EMPLOYER_PATH),
        "location": location,
        "link": link,
        "posted_at": _day(card),
        "is_remote": is_remote(position, location, *highlights),
        "is_hybrid": is_hybrid(position, location, *highlights),
        "highlights": highlights,
        "logo": _logo(card),
    }


def _matching(addresses: Iterable[str], path: re.Pattern[str]) -> str | None:
    return next((address for address in addresses if path.search(address)), None)


def _link_by_number(card: LexborNode) -> str | None:
    """The address of the posting's page, made from its number, for a card without a link."""
    number = NUMBER.search(attribute(card, "data-entity-urn"))
    return f"{SITE}/jobs/view/{number[1]}" if number else None


def _text(card: LexborNode, marks: Iterable[str]) -> str | None:
    """The text of the first mark that has any; None where it is masked for guests."""
    texts = (clean(node.text()) for mark in marks if (node := card.css_first(mark)))
    text = next(filter(None, texts), None)
    return text if text and not MASKED.fullmatch(text) else None


def _address(node: LexborNode) -> str | None:
    """The address that an element links to, without tracking."""
    found = ADDRESS.match(attribute(node, "href").strip())
    return f"{found[1] or SITE}{found[2]}" if found else None


def _day(card: LexborNode) -> str | None:
    time = card.css_first("time[datetime]")
    day = DAY.match(attribute(time, "datetime").strip()) if time else None
    return day.group() if day else None


def _logo(card: LexborNode) -> str | None:
    """The address of the employer's logo, not of its grey placeholder."""
    for image in card.css(LOGO):
        for name in ("data-delayed-url", "src"):
            address = attribute(image, name)
            if address.startswith("https://") and address != attribute(image, PLACEHOLDER):
                return address
    return None


def _own_address(node: LexborNode) -> str:
    """The path of the address that a page gives as its own."""
    found = ADDRESS.match(attribute(node, "href") or attribute(node, "content"))
    return found[2] if found else ""
