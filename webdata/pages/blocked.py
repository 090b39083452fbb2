"""Whether a response is a block: a captcha, a consent page, a shell that needs scripts, a login page, a denial.

Each check recognises one kind of block. Checks of the address and the headers are first, then those of the page's
structure, then those of phrases, on short pages only. A page with real content is no block because of a vendor's
script, nor because of a dialog over it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import SplitResult, urlsplit

from webdata.pages import _firewalls

SHORT = 20_000
"""Bytes; only pages below it are judged by a form or a phrase."""

SHELL = 200_000
"""Bytes; the shells that need JavaScript are half as long. A longer page is not searched for their marks."""

OPENING = 1024 * 1024
"""Bytes in which prose is looked for."""

CONTENT = (b'id="rso"', b'id="center_col"', b'id="botstuff"', b'id="topstuff"', b"Gx5Zad", b"ZINbbc", b"zMzFAb")
"""The columns and boxes of Google's results pages of any layout; its blocks have none of them."""
HEADING = b"<h3"
"""The heading of a result; Google's blocks have none, those of other sites may."""
IMAGES = (b'id="islrg"', b"data-lpage", b"rg_meta", b"/imgres?")
"""The column and the tiles of Google's pages of images."""
FEED = (b"<rss", b"<feed")
"""How a feed begins: its headlines may contain the phrases of a block."""
OPENING_TAGS = 1024
"""Bytes in which a feed names itself, and a page its base address."""
DATA = (b"{", b"[")
"""How JSON begins: its texts may contain them too."""

CAPTCHA_FORM = re.compile(
    rb"""\bid\s*=\s*["']?(?:captcha-form|recaptcha)\b|class\s*=\s*["']?g-recaptcha\b|action\s*=\s*["']?(?:[^"'>]*/)?sorry/"""
)
ENABLE_SCRIPTS = b"/httpservice/retry/enablejs"
CHALLENGE = (b"emsg=SG_REL", b"SG_SS", b"knitsail")
CONSENT = (b"https://consent.google.", b"https://consent.youtube.")
CONSENT_FORM = re.compile(rb"""=["']?https://consent\.(?:google|youtube)\.[a-z.]{2,6}/(?:save|s)\b""")
CONSENT_BASE = re.compile(rb"""<base\s+href\s*=\s*["']?https://consent\.(?:google|youtube)\.""")
UNUSUAL_TRAFFIC = re.compile(
    "unusual traffic|ungewöhnlichen datenverkehr|trafic (?:exceptionnel|inhabituel)|tráfico inusual"
    "|traffico insolito|tráfego incomum|ongebruikelijk verkeer|необычный трафик|nietypowy ruch"
    "|通常と異なるトラフィック|異常なトラフィック|비정상적인 트래픽|异常流量|異常流量"
    "|การเข้าชมที่ผิดปกติ|lưu lượng bất thường|olağan dışı trafik".encode(),
)
TYPED = re.compile(rb"""<textarea\b|\btype\s*=\s*["']?(?:text|search|email|tel|password)\b""", re.IGNORECASE)
"""The fields of a form that is more than a captcha."""
BARE = 64
"""Bytes; a shorter body is no page."""
MOST_READ = 1024 * 1024
"""Bytes of a page that are looked at: three times the largest page of a firewall that is known."""
REFUSALS = (403, 405, 418, 429)
UPDATE_BROWSER = re.compile(rb"Update your browser|your browser is(?:n't| not) supported", re.IGNORECASE)

TURNSTILE = b"turnstile-widget"
BING_CHALLENGE = re.compile(rb"""bing\.com/challenge/verify\b|class\s*=\s*["']?captcha_header\b""")
BING_RESULTS = b'id="b_results"'
BING_COLUMN = re.compile(rb"""\bid\s*=\s*["']?b_results\b""")

AMAZON_CAPTCHA = re.compile(rb"/errors(?:_page)?/validateCaptcha")
AMAZON_CARD = b"s-search-result"
AMAZON_SIGN_IN = "/ap/signin"
WAF_ACTION = "x-amzn-waf-action"
WAF_CHALLENGE = (b"gokuProps", b"AwsWafIntegration")

LINKEDIN_SIGN_IN = ("/authwall", "/signup", "/login", "/uas/login")
LINKEDIN_CHECKPOINT = "/checkpoint/"
LINKEDIN_AUTHWALL = re.compile(rb"<meta\b[^>]{0,200}\bauth_wall_|<link\b[^>]{0,200}/authwall\b|\bauthwall-|/authwall\?")
LINKEDIN_NAMES = (b"authwall", b"auth_wall_")
LINKEDIN_CARDS = (b"urn:li:jobPosting:", b"/jobs/view/", b"no-results__")
LINKEDIN_DENIAL = 999

EBAY_ADDRESS = re.compile(r"(?:^|\.)ebay\.(?:com?\.)?[a-z]{2,3}$")
EBAY_CHALLENGES = "/splashui/"
EBAY_CAPTCHA = "/splashui/captcha"
EBAY_NAMES = (b"splashui", b"Pardon Our Interruption", b"Security Measure")
EBAY_SPLASH = re.compile(
    rb"""<title>\s*(?:Pardon Our Interruption|Security Measure)|["']?serviceName["']?\s*:\s*["']splashui["']"""
)
EBAY_LIST = (b"srp-results", b"srp-river-results", b"su-item-card")


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

    @cached_property
    def has_prose(self) -> bool:
        return len(_firewalls.text(self.body[:OPENING])) > _firewalls.SCREEN

    @cached_property
    def has_results(self) -> bool:
        marks = (BING_RESULTS, *CONTENT, *IMAGES, *EBAY_LIST)
        return any(mark in self.body for mark in marks) or any(mark in self.body[:OPENING_TAGS] for mark in FEED)

    @cached_property
    def has_content(self) -> bool:
        return HEADING in self.body or self.has_results


Check = Callable[["Page"], Block | None]


def block(
    status: int, headers: Mapping[str, str], body: bytes, url: str, checks: tuple[Check, ...] | None = None
) -> Block | None:
    """The block that a response is; None for a page to be parsed.

    `checks` are CHECKS (the default), for pages that should show results, or ANY_SITE.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    page = Page(status, lower, b"" if status < 400 and _is_data(lower, body) else body[:MOST_READ], _address(url))
    return next((found for check in checks or CHECKS if (found := check(page)) is not None), None)


def _is_data(headers: Mapping[str, str], body: bytes) -> bool:
    """Whether the body is JSON: declared as JSON, or without a declaration, like that of a saved page."""
    return "json" in headers.get("content-type", "json").lower() and body[:64].lstrip().startswith(DATA)


def _address(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


def sorry_address(page: Page) -> Block | None:
    """The address or redirect of Google's captcha."""
    for address in page.addresses:
        if address.netloc.startswith("sorry.google.") or (_is_google(address) and address.path.startswith("/sorry")):
            return Block("captcha", "the address is Google's /sorry page")
    return None


def consent_address(page: Page) -> Block | None:
    """The host of Google's consent page, as the address or a redirect."""
    for address in page.addresses:
        if address.netloc.startswith(("consent.google.", "consent.youtube.")):
            return Block("consent", "the address is Google's consent page")
    return None


def captcha_form(page: Page) -> Block | None:
    """A short page with a captcha's form and no content."""
    if page.is_short and CAPTCHA_FORM.search(page.body) and not page.has_content:
        return Block("captcha", "a captcha's form and no results")
    return None


def consent_form(page: Page) -> Block | None:
    """Google's consent page, by its form; the same form in a dialog over results is no block."""
    named = page.may_be_shell and any(host in page.body for host in CONSENT)
    named = named or CONSENT_BASE.search(page.body[:OPENING_TAGS]) is not None
    if named and CONSENT_FORM.search(page.body) and not page.has_content:
        return Block("consent", "a consent form and no results")
    return None


def script_shell(page: Page) -> Block | None:
    """A page that asks for JavaScript before it shows anything; results pages contain the same address."""
    if page.may_be_shell and ENABLE_SCRIPTS in page.body and not page.has_content:
        reason = (
            "a script challenge"
            if any(mark in page.body for mark in CHALLENGE)
            else "a refresh to the page that asks for JavaScript"
        )
        return Block("javascript", f"{reason} and no results")
    return None


def unusual_traffic(page: Page) -> Block | None:
    """The phrase of Google's captcha page, in several languages."""
    if page.is_short and not page.has_content and UNUSUAL_TRAFFIC.search(page.body):
        return Block("captcha", "the page speaks of unusual traffic")
    return None


def old_browser(page: Page) -> Block | None:
    """Google's page for browsers without JavaScript since September 2025."""
    if page.is_short and not page.has_content and _is_google(page.url) and UPDATE_BROWSER.search(page.body):
        return Block("javascript", "the page asks for another browser")
    return None


def bing_challenge(page: Page) -> Block | None:
    """Bing's page with Cloudflare's widget instead of results; results pages contain the widget's host too."""
    named = TURNSTILE in page.body and BING_CHALLENGE.search(page.body)
    if named and not BING_COLUMN.search(page.body):
        return Block("captcha", "a challenge's widget and no results")
    return None


def waf_action(page: Page) -> Block | None:
    """The header of the AWS firewall: `challenge`, which a browser solves by scripts, or `captcha`."""
    action = page.headers.get(WAF_ACTION, "").strip().lower()
    kind = {"challenge": "javascript", "captcha": "captcha"}.get(action)
    return Block(kind, f"the firewall's header asks for a {action}") if kind else None


def waf_challenge(page: Page) -> Block | None:
    """The page of the AWS firewall: a script and nothing else."""
    if page.is_short and any(mark in page.body for mark in WAF_CHALLENGE) and not page.has_content:
        return Block("javascript", "a firewall's script challenge and no results")
    return None


def amazon_captcha(page: Page) -> Block | None:
    """Amazon's captcha of letters or its button to continue shopping: both have the same form."""
    if page.is_short and AMAZON_CAPTCHA.search(page.body) and AMAZON_CARD not in page.body:
        return Block("captcha", "the form of Amazon's captcha and no results")
    return None


def amazon_sign_in(page: Page) -> Block | None:
    """The address or redirect of Amazon's sign-in page."""
    for address in page.addresses:
        if ".amazon." in f".{address.netloc}" and address.path.startswith(AMAZON_SIGN_IN):
            return Block("login", "the address is Amazon's page to sign in")
    return None


def linkedin_address(page: Page) -> Block | None:
    """The addresses or redirects of LinkedIn's sign-in pages and security check."""
    for address in page.addresses:
        if re.search(r"(?:^|\.)linkedin\.com$", address.netloc):
            if address.path.startswith(LINKEDIN_CHECKPOINT):
                return Block("captcha", "the address is LinkedIn's security check")
            if address.path.startswith(LINKEDIN_SIGN_IN):
                return Block("login", "the address is LinkedIn's wall for guests")
    return None


def linkedin_authwall(page: Page) -> Block | None:
    """LinkedIn's page that asks guests to join, or the script that redirects to it; job pages have such forms too."""
    named = page.may_be_shell and any(name in page.body for name in LINKEDIN_NAMES)
    if named and LINKEDIN_AUTHWALL.search(page.body) and not any(mark in page.body for mark in LINKEDIN_CARDS):
        return Block("login", "a form to join LinkedIn and no jobs")
    return None


def linkedin_denial(page: Page) -> Block | None:
    """LinkedIn's own status for clients that it refuses."""
    return Block("denied", "status 999") if page.status == LINKEDIN_DENIAL else None


def linkedin_denial_without_text(page: Page) -> Block | None:
    """The same status without any text: other sites may use it for pages of theirs."""
    return linkedin_denial(page) if not _firewalls.text(page.body) else None


def ebay_address(page: Page) -> Block | None:
    """The addresses or redirects of eBay's challenges and sign-in page."""
    for address in page.addresses:
        if not EBAY_ADDRESS.search(address.netloc):
            continue
        if address.netloc.startswith("signin."):
            return Block("login", "the address is eBay's page to sign in")
        if address.path.startswith(EBAY_CHALLENGES):
            kind = "captcha" if address.path.startswith(EBAY_CAPTCHA) else "javascript"
            return Block(kind, "the address is one of eBay's challenges")
    return None


def ebay_splash(page: Page) -> Block | None:
    """The page on which eBay checks the browser; later pages may still link to its address."""
    named = page.may_be_shell and any(mark in page.body for mark in EBAY_NAMES)
    found = EBAY_SPLASH.search(page.body) if named else None
    if found and not any(mark in page.body for mark in EBAY_LIST):
        kind = "captcha" if b"Security Measure" in found.group() else "javascript"
        return Block(kind, "eBay's check of the browser and no results")
    return None


def denial(page: Page) -> Block | None:
    """Status 403 or 429 without content."""
    if page.status in (403, 429) and not page.has_content:
        return Block("denied", f"status {page.status} and no results")
    return None


def firewall(page: Page) -> Block | None:
    """A challenge or a denial of a firewall that many sites use."""
    found = _firewalls.firewall(page.status, page.headers, page.body)
    return Block(*found) if found else None


def firewall_without_results(page: Page) -> Block | None:
    """A firewall's page and no results."""
    return None if page.may_be_shell and page.has_results else firewall(page)


def captcha_without_text(page: Page) -> Block | None:
    """A captcha's form without other fields or prose; forms of normal pages have captchas too."""
    alone = page.is_short and CAPTCHA_FORM.search(page.body) and not TYPED.search(page.body)
    return Block("captcha", "a captcha's form and nothing else") if alone and not page.has_prose else None


def unusual_traffic_without_text(page: Page) -> Block | None:
    """The phrase of Google's captcha page and little other text; an article may contain the phrase."""
    return unusual_traffic(page) if not page.has_prose else None


def bare_refusal(page: Page) -> Block | None:
    """A refusal without a page; a body of JSON is no block."""
    bare = page.status in REFUSALS and len(page.body.strip()) < BARE and not page.body.lstrip().startswith(DATA)
    return Block("denied", f"status {page.status} and no page") if bare else None


def _is_google(address: SplitResult) -> bool:
    return re.search(r"(?:^|\.)google\.(?:com|[a-z]{2}|com?\.[a-z]{2})$", address.netloc) is not None


CHECKS: tuple[Check, ...] = (
    sorry_address,
    consent_address,
    waf_action,
    amazon_sign_in,
    captcha_form,
    consent_form,
    script_shell,
    unusual_traffic,
    old_browser,
    bing_challenge,
    waf_challenge,
    amazon_captcha,
    linkedin_address,
    linkedin_authwall,
    linkedin_denial,
    ebay_address,
    ebay_splash,
    firewall_without_results,
    denial,
)
"""The checks of pages that should show results, the surest first."""

ANY_SITE: tuple[Check, ...] = (
    sorry_address,
    consent_address,
    waf_action,
    amazon_sign_in,
    linkedin_address,
    linkedin_denial_without_text,
    ebay_address,
    captcha_without_text,
    consent_form,
    script_shell,
    unusual_traffic_without_text,
    bing_challenge,
    amazon_captcha,
    linkedin_authwall,
    ebay_splash,
    firewall,
    bare_refusal,
)
"""The checks of pages of any kind: an error page of a site is no block."""
