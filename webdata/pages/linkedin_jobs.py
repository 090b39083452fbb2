"""LinkedIn's job postings as guests see them, as a record: the bare list of cards, or the whole page around it.

All layouts since 2020 agree: a card names its posting by number (`urn:li:jobPosting:…`) or links to `/jobs/view/…`,
its title is the one `h3`, its employer the `h4`, the day a `time[datetime]`.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from webdata.domain.errors import LayoutError
from webdata.pages._text import clean
from webdata.resources._job_terms import ANYWHERE
from webdata.resources.job_search import Job, JobPage, JobQuery

SITE = "https://www.linkedin.com"

NOT_FOUND = "No job listings found for this query."
"""The text of `error` (contract.md 5)."""

CARDS = ('[data-entity-urn*="jobPosting:"]', ".base-search-card, .job-search-card, .result-card, [data-id]:has(h3)")
LINK = 'a[href*="/jobs/view/"]'
TITLES = ("h3", "[class*='card__title']", "a[class*='full-link'] .sr-only, a[class*='full-card-link']", ".sr-only")
EMPLOYERS = ("h4", "[class*='card__subtitle']", 'a[href*="/company/"], a[href*="/school/"], a[href*="/showcase/"]')
JOB_PATH = re.compile(r"/jobs/view/.")
EMPLOYER_PATH = re.compile(r"/(?:company|school|showcase)/.")
LOCATIONS = ("[class*='card__location']", "[class*='card__metadata'] > span", "[class*='location']")
HIGHLIGHTS = "[class*='salary-info'], [class*='benefits__text']"
LOGO = "img[data-delayed-url], img[src]"
GHOST = "data-ghost-url"

NOTHING = ".no-results, [class*='no-results__']"
NOTHING_TAG = 'meta[content*="emptyResult=true"]'
NOTHING_TITLE = re.compile(r"0 \S.*\bjobs\b")
NOTHING_WORDS = re.compile(
    r"couldn.t find a match for|no matching jobs|aucun(?:e offre| résultat)|no (?:hemos encontrado|se encontraron)",
    re.IGNORECASE,
)

ADDRESS = re.compile(r"(https?://[^\s/?#]+)?(/[^\s?#]+)")
"""The host of an address, where it names one, and its path."""
NUMBER = re.compile(r"jobPosting:(\d+)")
NUMBER_IN_LINK = re.compile(r"/jobs/view/(?:[^/?#]*-)?(\d+)")
DAY = re.compile(r"[12]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)")
MASKED = re.compile(r"[*\s·•]+")
"""A text that the site shows to members only."""

NOT_REMOTE = (
    r"(?:not?|non|isn.t)[ -](?:a )?remote|remote(?:ly)?[ -](?:sensing|control\w*|monitoring|patient|access|support"
    r"|hands|pilot\w*|operated|site|location)"
)
REMOTE = re.compile(
    rf"(?P<no>{NOT_REMOTE})|\b(?:remote(?:ly)?|work(?:ing)? from home|home[ -]based|wfh|telecommut\w+|telework|anywhere"
    r"|télétravail|à distance|teletrabajo|remot[oa]|trabajo en casa)\b"
)
HYBRID = re.compile(
    r"(?P<no>\bnon[ -]hybrid|\bhybrid[ -](?:cloud|vehicle|electric|power\w*|car|infrastructure|intelligence|mobile"
    r"|app\w*|seeds?|technician))|\b(?:hybrid|hybride|híbrid[oa]|hibrid[oa])\b",
)


class Search(NamedTuple):
    """What a page says was searched; "" for what it does not say."""

    keywords: str
    location: str


def record(body: bytes, query: JobQuery) -> JobPage:
    """The record of one page.

    Raises LayoutError for a page that holds no postings and does not say that none were found.
    """
    tree = LexborHTMLParser(body)
    if _says_nothing(tree):
        return page([], query, _search(tree).location)
    found = _postings(tree)
    if not found:
        raise LayoutError("neither job postings nor a message that none were found")
    if not any(job["position"] for job in found):
        raise LayoutError("the position of any posting")
    return page(found, query, _search(tree).location)


def page(postings: Iterable[Job], query: JobQuery, location: str = "") -> JobPage:
    """The record of postings, each of them once; `location` is where a page says that it searched."""
    jobs = _unrepeated(postings)
    told: JobPage = {
        "jobs": jobs,
        "metadata": {
            "data_query_location": location or query.wanted.place or ANYWHERE,
            "data_num_results_in_fetch": len(jobs),
            "data_is_nearby_query": query.wanted.nearby,
        },
    }
    return told if jobs else {**told, "error": NOT_FOUND}


def _unrepeated(postings: Iterable[Job]) -> list[Job]:
    found: dict[str, Job] = {}
    for job in postings:
        found.setdefault(_number(job["link"]), job)
    return list(found.values())


def postings(body: bytes) -> list[Job]:
    """Every posting of a page, in its order, repeated ones too: the next page begins behind so many."""
    return _postings(LexborHTMLParser(body))


def shown_search(body: bytes) -> Search:
    """What the page says was searched."""
    return _search(LexborHTMLParser(body))


def _search(tree: LexborHTMLParser) -> Search:
    fields = (tree.css_first(f'input[name="{name}"][value]') for name in ("keywords", "location"))
    return Search(*(clean(field.attributes["value"]) if field else "" for field in fields))


def _says_nothing(tree: LexborHTMLParser) -> bool:
    """Whether the page itself says that it found nothing; what it shows besides are suggestions."""
    if tree.css_first(NOTHING):
        return True
    if tree.css_first(LINK):
        return False
    title = tree.css_first("title")
    heads = (clean(node.text()) for node in tree.css("h1, h2"))
    return (
        tree.css_first(NOTHING_TAG) is not None
        or NOTHING_TITLE.match(clean(title.text()) if title else "") is not None
        or any(NOTHING_WORDS.search(head) for head in heads)
    )


def _postings(tree: LexborHTMLParser) -> list[Job]:
    """The postings of the first kind of cards that there is; else of the list items that link to one."""
    for mark in CARDS:
        if found := [job for card in tree.css(mark) if (job := _job(card)) is not None]:
            return found
    items = (item for item in tree.css(f"li:has({LINK})") if len(item.css("li")) == 1)
    return [job for item in items if (job := _job(item)) is not None]


def _job(card: LexborNode) -> Job | None:
    addresses = [address for node in (card, *card.css("a[href]")) if (address := _address(node))]
    link = _led_to(addresses, JOB_PATH) or _numbered(card)
    if link is None:
        return None
    position, location = _text(card, TITLES), _text(card, LOCATIONS)
    highlights = [text for node in card.css(HIGHLIGHTS) if (text := clean(node.text()))]
    words = " | ".join(filter(None, (position, location, *highlights))).lower()
    return {
        "position": position,
        "employer": _text(card, EMPLOYERS),
        "employer_link": _led_to(addresses, EMPLOYER_PATH),
        "location": location,
        "link": link,
        "posted_at": _day(card),
        "is_remote": _says(REMOTE, words),
        "is_hybrid": _says(HYBRID, words),
        "highlights": highlights,
        "logo": _logo(card),
    }


def _led_to(addresses: Iterable[str], path: re.Pattern[str]) -> str | None:
    return next((address for address in addresses if path.search(address)), None)


def _numbered(card: LexborNode) -> str | None:
    """The posting's page by its number, where the card does not link to it."""
    number = NUMBER.search(_attribute(card, "data-entity-urn"))
    return f"{SITE}/jobs/view/{number[1]}" if number else None


def _number(link: str) -> str:
    """What tells a posting from others."""
    found = NUMBER_IN_LINK.search(link)
    return found[1] if found else link


def _text(card: LexborNode, marks: Iterable[str]) -> str | None:
    """The text of the first mark that has any; None where guests may not see it."""
    texts = (clean(node.text()) for mark in marks if (node := card.css_first(mark)))
    text = next(filter(None, texts), None)
    return text if text and not MASKED.fullmatch(text) else None


def _address(node: LexborNode) -> str | None:
    """Where a node links to, without what follows the visitor around."""
    found = ADDRESS.match(_attribute(node, "href").strip())
    return f"{found[1] or SITE}{found[2]}" if found else None


def _day(card: LexborNode) -> str | None:
    time = card.css_first("time[datetime]")
    day = DAY.match(_attribute(time, "datetime").strip()) if time else None
    return day.group() if day else None


def _logo(card: LexborNode) -> str | None:
    """The employer's logo; a grey stand-in is none."""
    for image in card.css(LOGO):
        for name in ("data-delayed-url", "src"):
            address = _attribute(image, name)
            if address.startswith("https://") and address != _attribute(image, GHOST):
                return address
    return None


def _attribute(node: LexborNode, name: str) -> str:
    value: str | None = node.attrs.get(name)
    return value or ""


def _says(way: re.Pattern[str], words: str) -> bool:
    return any(found["no"] is None for found in way.finditer(words))
