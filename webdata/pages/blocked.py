"""Whether a response is a block: a captcha, a consent page, a shell that needs scripts, a login page, a denial.

Here are the blocks that many sites have: those of firewalls, captchas and refusals. What those of a single site look
like stands in `block(page)` of its engine's page module, and the marks of its results in RESULT_MARKS; both are
optional. Checks of the address and the headers are first, then those of the page's structure, then those of phrases,
on short pages only. A page with real content is no block because of a vendor's script, nor because of a dialog over it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from urllib.parse import SplitResult, urlsplit

from webdata import pages
from webdata.domain.modules import importable
from webdata.pages import _firewalls
from webdata.pages._urls import split

SHORT = 20_000
"""Bytes; only pages below it are judged by a form or a phrase."""

SHELL = 200_000
"""Bytes; the shells that need JavaScript are half as long. A longer page is not searched for their marks."""

OPENING = 1024 * 1024
"""Bytes in which prose is looked for."""

HEADING = b"<h3"
"""The heading of a result; blocks have none."""
FEED = (b"<rss", b"<feed")
"""How a feed begins: its headlines may contain the phrases of a block."""
OPENING_TAGS = 1024
"""Bytes in which a feed names itself, and a page its base address."""
DATA = (b"{", b"[")
"""How JSON begins: its texts may contain them too."""

CAPTCHA_FORM = re.compile(
    rb"""\bid\s*=\s*["']?(?:captcha-form|recaptcha)\b|class\s*=\s*["']?g-recaptcha\b|action\s*=\s*["']?(?:[^"'>]*/)?sorry/"""
)
TYPED = re.compile(rb"""<textarea\b|\btype\s*=\s*["']?(?:text|search|email|tel|password)\b""", re.IGNORECASE)
"""The fields of a form that is more than a captcha."""
BARE = 64
"""Bytes; a shorter body is no page."""
MOST_READ = 1024 * 1024
"""Bytes of a page that are looked at: three times the largest page of a firewall that is known."""
REFUSALS = (403, 405, 418, 429)
DENIALS = (403, 429)
DENIAL_TITLE = re.compile(r"\b(?:403|429)\b")

WAF_ACTION = "x-amzn-waf-action"
WAF_CHALLENGE = (b"gokuProps", b"AwsWafIntegration")


@dataclass(frozen=True)
class Block:
    """A block: its kind (`captcha`, `consent`, `javascript`, `login`, `denied`), and the evidence."""

    kind: str
    reason: str


@dataclass(frozen=True)
class Page:
    """A response as the checks see it; the names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: SplitResult
    any_site: bool = False
    """Whether it may be a page of any kind and site; otherwise it should show an engine's results."""
    result_marks: tuple[bytes, ...] = ()
    """What only pages with results have."""

    @cached_property
    def addresses(self) -> tuple[SplitResult, SplitResult]:
        """The address of the page, and the one that it redirects to."""
        return self.url, _address(self.headers.get("location", ""))

    @property
    def is_short(self) -> bool:
        return len(self.body) < SHORT

    @property
    def may_be_shell(self) -> bool:
        return len(self.body) < SHELL

    @property
    def titles(self) -> Iterator[str]:
        """The title and the first heading."""
        return _firewalls.titles(self.body)

    @cached_property
    def has_text(self) -> bool:
        return bool(_firewalls.text(self.body))

    @cached_property
    def has_prose(self) -> bool:
        return len(_firewalls.text(self.body[:OPENING])) > _firewalls.SCREEN

    @cached_property
    def has_results(self) -> bool:
        marked = any(mark in self.body for mark in self.result_marks)
        return marked or any(mark in self.body[:OPENING_TAGS] for mark in FEED)

    @cached_property
    def has_content(self) -> bool:
        return HEADING in self.body or self.has_results


Check = Callable[[Page], Block | None]


def block_of(status: int, headers: Mapping[str, str], body: bytes, url: str, engine: str | None = None) -> Block | None:
    """The block that a response is; None for a page to be parsed.

    The page should show results of the engine; without one it may be a page of any kind and site.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    read = b"" if status < 400 and _is_data(lower, body) else body[:MOST_READ]
    modules = _page_modules(engine)
    marks = tuple(mark for module in modules for mark in getattr(module, "RESULT_MARKS", ()))
    page = Page(status, lower, read, _address(url), engine is None, marks)
    own = dict.fromkeys(module.block for module in modules if hasattr(module, "block"))
    return first(page, waf_action, *own, *(CHECKS if engine else ANY_SITE))


def first(page: Page, *checks: Check) -> Block | None:
    """What the first of these checks finds that finds a block."""
    return next((found for check in checks if (found := check(page)) is not None), None)


@cache
def _page_modules(engine: str | None) -> tuple[ModuleType, ...]:
    """The page module of an engine; without one those of all engines."""
    if engine:
        name = f"{pages.__name__}.{engine}"
        return (import_module(name),) if find_spec(name) else ()
    return tuple(importable(pages))


def _is_data(headers: Mapping[str, str], body: bytes) -> bool:
    """Whether the body is JSON: declared as JSON, or without a declaration, like that of a saved page."""
    return "json" in headers.get("content-type", "json").lower() and body[:64].lstrip().startswith(DATA)


def _address(url: str) -> SplitResult:
    return split(url) or urlsplit("")


def waf_action(page: Page) -> Block | None:
    """The header of the AWS firewall: `challenge`, which a browser solves by scripts, or `captcha`."""
    action = page.headers.get(WAF_ACTION, "").strip().lower()
    kind = {"challenge": "javascript", "captcha": "captcha"}.get(action)
    return Block(kind, f"the firewall's header asks for a {action}") if kind else None


def captcha_form(page: Page) -> Block | None:
    """A short page with a captcha's form and no content; on any site without other fields and prose.

    Forms of normal pages have captchas too.
    """
    if not page.is_short or not CAPTCHA_FORM.search(page.body):
        return None
    if page.any_site:
        alone = not TYPED.search(page.body) and not page.has_prose
        return Block("captcha", "a captcha's form and nothing else") if alone else None
    return None if page.has_content else Block("captcha", "a captcha's form and no results")


def waf_challenge(page: Page) -> Block | None:
    """The page of the AWS firewall: a script and nothing else."""
    if page.is_short and any(mark in page.body for mark in WAF_CHALLENGE) and not page.has_content:
        return Block("javascript", "a firewall's script challenge and no results")
    return None


def firewall(page: Page) -> Block | None:
    """A challenge or a denial of a firewall that many sites use."""
    found = _firewalls.firewall(page.status, page.headers, page.body)
    return Block(*found) if found else None


def firewall_without_results(page: Page) -> Block | None:
    """A firewall's page and no results."""
    return None if page.may_be_shell and page.has_results else firewall(page)


def denial(page: Page) -> Block | None:
    """Status 403 or 429 without content, or a page that has the number as its title and another status."""
    if page.has_content:
        return None
    if page.status in DENIALS:
        return Block("denied", f"status {page.status} and no results")
    alone = page.is_short and not TYPED.search(page.body)
    number = next((found for title in page.titles if (found := DENIAL_TITLE.search(title))), None) if alone else None
    return Block("denied", f"the page is titled {number.group()} and has no results") if number else None


def bare_refusal(page: Page) -> Block | None:
    """A refusal without a page; a body of JSON is no block."""
    bare = page.status in REFUSALS and len(page.body.strip()) < BARE and not page.body.lstrip().startswith(DATA)
    return Block("denied", f"status {page.status} and no page") if bare else None


CHECKS: tuple[Check, ...] = (captcha_form, waf_challenge, firewall_without_results, denial)
"""The checks of pages that should show results, after those of their engine."""

ANY_SITE: tuple[Check, ...] = (captcha_form, firewall, bare_refusal)
"""The checks of pages of any kind, after those of all engines: an error page of a site is no block."""
