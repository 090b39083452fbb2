"""Whether a page is no answer but an obstacle: a captcha, a consent page, a shell for scripts, a denial.

Each check looks for one kind of obstacle. Those that need only the address or the headers come first, marks in the
page's build next, and its words last, on short pages alone. A page with real content is never an obstacle because of
the name of a vendor's script, or because a dialog lies over it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import SplitResult, urlsplit

SHORT = 20_000
"""Bytes; below it a page's words may be taken for its purpose."""

SHELL = 200_000
"""Bytes; the shells that ask for JavaScript are half as long, and a page beyond it is never searched."""

CONTENT = (b'id="rso"', b'id="center_col"', b'id="botstuff"', b'id="topstuff"', b"<h3", b"Gx5Zad", b"ZINbbc", b"zMzFAb")
"""The columns, headings and plain boxes of Google's results pages of any layout; an obstacle has none of them."""

CAPTCHA_FORM = re.compile(
    rb"""\bid\s*=\s*["']?(?:captcha-form|recaptcha)\b|class\s*=\s*["']?g-recaptcha\b|action\s*=\s*["']?(?:[^"'>]*/)?sorry/"""
)
ENABLE_SCRIPTS = b"/httpservice/retry/enablejs"
CHALLENGE = (b"emsg=SG_REL", b"SG_SS", b"knitsail")
CONSENT = (b"https://consent.google.", b"https://consent.youtube.")
CONSENT_FORM = re.compile(rb"""=["']?https://consent\.(?:google|youtube)\.[a-z.]{2,6}/(?:save|s)\b""")
UNUSUAL_TRAFFIC = re.compile(
    "unusual traffic|ungewöhnlichen datenverkehr|trafic (?:exceptionnel|inhabituel)|tráfico inusual"
    "|traffico insolito|tráfego incomum|ongebruikelijk verkeer|необычный трафик|nietypowy ruch"
    "|通常と異なるトラフィック|異常なトラフィック|비정상적인 트래픽|异常流量|異常流量"
    "|การเข้าชมที่ผิดปกติ|lưu lượng bất thường|olağan dışı trafik".encode(),
)
UPDATE_BROWSER = re.compile(rb"Update your browser|your browser is(?:n't| not) supported", re.IGNORECASE)


@dataclass(frozen=True)
class Block:
    """An obstacle: its kind (`captcha`, `consent`, `javascript`, `denied`), and what gave it away."""

    kind: str
    reason: str


@dataclass(frozen=True)
class Seen:
    """What the checks may look at."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: SplitResult

    @property
    def is_short(self) -> bool:
        return len(self.body) < SHORT

    @property
    def may_be_shell(self) -> bool:
        return len(self.body) < SHELL

    @cached_property
    def has_content(self) -> bool:
        return any(mark in self.body for mark in CONTENT)


def block(status: int, headers: Mapping[str, str], body: bytes, url: str) -> Block | None:
    """The obstacle that a response is; None for a page to be read."""
    seen = Seen(status, {name.lower(): value for name, value in headers.items()}, body, _address(url))
    return next((found for check in CHECKS if (found := check(seen)) is not None), None)


def _address(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


def sorry_address(seen: Seen) -> Block | None:
    """Google's captcha has an address of its own, or is redirected to."""
    for address in (seen.url, _address(seen.headers.get("location", ""))):
        if address.netloc.startswith("sorry.google.") or (_is_google(address) and address.path.startswith("/sorry")):
            return Block("captcha", "the address is Google's /sorry page")
    return None


def consent_address(seen: Seen) -> Block | None:
    """Google's consent page has a host of its own."""
    for address in (seen.url, _address(seen.headers.get("location", ""))):
        if address.netloc.startswith(("consent.google.", "consent.youtube.")):
            return Block("consent", "the address is Google's consent page")
    return None


def captcha_form(seen: Seen) -> Block | None:
    """A page that is little more than the form of a captcha."""
    if seen.is_short and CAPTCHA_FORM.search(seen.body) and not seen.has_content:
        return Block("captcha", "a captcha's form and no results")
    return None


def consent_form(seen: Seen) -> Block | None:
    """The consent page; the same form in a dialog over results is none."""
    named = seen.may_be_shell and any(host in seen.body for host in CONSENT)
    if named and CONSENT_FORM.search(seen.body) and not seen.has_content:
        return Block("consent", "a consent form and no results")
    return None


def script_shell(seen: Seen) -> Block | None:
    """A page that asks for JavaScript before it shows anything; result pages name the same address."""
    if seen.may_be_shell and ENABLE_SCRIPTS in seen.body and not seen.has_content:
        reason = (
            "a script challenge"
            if any(mark in seen.body for mark in CHALLENGE)
            else "a refresh to the page that asks for JavaScript"
        )
        return Block("javascript", f"{reason} and no results")
    return None


def unusual_traffic(seen: Seen) -> Block | None:
    """The words of Google's captcha page."""
    if seen.is_short and not seen.has_content and UNUSUAL_TRAFFIC.search(seen.body):
        return Block("captcha", "the page speaks of unusual traffic")
    return None


def old_browser(seen: Seen) -> Block | None:
    """What browsers without JavaScript have been shown since September 2025."""
    if seen.is_short and not seen.has_content and _is_google(seen.url) and UPDATE_BROWSER.search(seen.body):
        return Block("javascript", "the page asks for another browser")
    return None


def denial(seen: Seen) -> Block | None:
    """Too many requests, or forbidden, without a page that says more."""
    if seen.status in (403, 429) and not seen.has_content:
        return Block("denied", f"status {seen.status} and no results")
    return None


def _is_google(address: SplitResult) -> bool:
    return re.search(r"(?:^|\.)google\.(?:com|[a-z]{2}|com?\.[a-z]{2})$", address.netloc) is not None


CHECKS: tuple[Callable[[Seen], Block | None], ...] = (
    sorry_address,
    consent_address,
    captcha_form,
    consent_form,
    script_shell,
    unusual_traffic,
    old_browser,
    denial,
)
"""The checks, surest first."""
