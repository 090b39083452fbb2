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

from webdata.pages import _firewalls

SHORT = 20_000
"""Bytes; below it a page's words may be taken for its purpose."""

SHELL = 200_000
"""Bytes; the shells that ask for JavaScript are half as long, and a page beyond it is never searched."""

OPENING = 1024 * 1024
"""Bytes in which a page shows its prose, if it has any."""

CONTENT = (b'id="rso"', b'id="center_col"', b'id="botstuff"', b'id="topstuff"', b"Gx5Zad", b"ZINbbc", b"zMzFAb")
"""The columns and plain boxes of Google's results pages of any layout; an obstacle has none of them."""
HEADING = b"<h3"
"""The heading of a result; Google's obstacles have none, others may."""
IMAGES = (b'id="islrg"', b"data-lpage", b"rg_meta", b"/imgres?")
"""The column and the tiles of Google's pages of images."""
FEED = (b"<rss", b"<feed")
"""How a feed begins, whose headlines may speak of anything."""
OPENING_TAGS = 1024
"""Bytes in which a feed names itself, and a page its base address."""
DATA = (b"{", b"[")
"""How JSON begins, whose words are as little an obstacle as those of a feed."""

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
"""What a form that is more than a captcha has."""
BARE = 64
"""Bytes; an answer below it is no page."""
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

LINKEDIN_WALLS = ("/authwall", "/signup", "/login", "/uas/login")
LINKEDIN_CHECKPOINT = "/checkpoint/"
LINKEDIN_WALL = re.compile(rb"<meta\b[^>]{0,200}\bauth_wall_|<link\b[^>]{0,200}/authwall\b|\bauthwall-|/authwall\?")
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
    """An obstacle: its kind (`captcha`, `consent`, `javascript`, `login`, `denied`), and what gave it away."""

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
    def has_prose(self) -> bool:
        return len(_firewalls.text(self.body[:OPENING])) > _firewalls.SCREEN

    @cached_property
    def has_results(self) -> bool:
        marks = (BING_RESULTS, *CONTENT, *IMAGES, *EBAY_LIST)
        return any(mark in self.body for mark in marks) or any(mark in self.body[:OPENING_TAGS] for mark in FEED)

    @cached_property
    def has_content(self) -> bool:
        return HEADING in self.body or self.has_results


Check = Callable[["Seen"], Block | None]


def block(
    status: int, headers: Mapping[str, str], body: bytes, url: str, checks: tuple[Check, ...] | None = None
) -> Block | None:
    """The obstacle that a response is; None for a page to be read.

    `checks` are CHECKS, of pages that should show results, or ANY_SITE.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    seen = Seen(status, lower, b"" if status < 400 and _is_data(lower, body) else body, _address(url))
    return next((found for check in checks or CHECKS if (found := check(seen)) is not None), None)


def _is_data(headers: Mapping[str, str], body: bytes) -> bool:
    """Whether the body is JSON: declared to be, or not declared at all, as that of a saved page."""
    return "json" in headers.get("content-type", "json").lower() and body[:64].lstrip().startswith(DATA)


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
    if (
        (named or CONSENT_BASE.search(seen.body[:OPENING_TAGS]))
        and CONSENT_FORM.search(seen.body)
        and not seen.has_content
    ):
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


def bing_challenge(seen: Seen) -> Block | None:
    """Bing's page with Cloudflare's widget in the place of results; result pages name the widget's host too."""
    named = TURNSTILE in seen.body and BING_CHALLENGE.search(seen.body)
    if named and not BING_COLUMN.search(seen.body):
        return Block("captcha", "a challenge's widget and no results")
    return None


def waf_action(seen: Seen) -> Block | None:
    """Amazon's firewall names in a header what it wants: `challenge`, which scripts pass, or `captcha`."""
    action = seen.headers.get(WAF_ACTION, "").strip().lower()
    kind = {"challenge": "javascript", "captcha": "captcha"}.get(action)
    return Block(kind, f"the firewall's header asks for a {action}") if kind else None


def waf_challenge(seen: Seen) -> Block | None:
    """The page of Amazon's firewall, of any site behind it: a script and nothing else."""
    if seen.is_short and any(mark in seen.body for mark in WAF_CHALLENGE) and not seen.has_content:
        return Block("javascript", "a firewall's script challenge and no results")
    return None


def amazon_captcha(seen: Seen) -> Block | None:
    """Amazon's captchas, of letters or of a button to continue shopping, send the same form."""
    if seen.is_short and AMAZON_CAPTCHA.search(seen.body) and AMAZON_CARD not in seen.body:
        return Block("captcha", "the form of Amazon's captcha and no results")
    return None


def amazon_sign_in(seen: Seen) -> Block | None:
    """Amazon's page to sign in has an address of its own, or is redirected to."""
    for address in (seen.url, _address(seen.headers.get("location", ""))):
        if ".amazon." in f".{address.netloc}" and address.path.startswith(AMAZON_SIGN_IN):
            return Block("login", "the address is Amazon's page to sign in")
    return None


def linkedin_address(seen: Seen) -> Block | None:
    """LinkedIn leads guests to pages with addresses of their own."""
    for address in (seen.url, _address(seen.headers.get("location", ""))):
        if re.search(r"(?:^|\.)linkedin\.com$", address.netloc):
            if address.path.startswith(LINKEDIN_CHECKPOINT):
                return Block("captcha", "the address is LinkedIn's security check")
            if address.path.startswith(LINKEDIN_WALLS):
                return Block("login", "the address is LinkedIn's wall for guests")
    return None


def linkedin_wall(seen: Seen) -> Block | None:
    """LinkedIn's page that asks guests to join, or the script that leads there; job pages have such forms too."""
    named = seen.may_be_shell and any(name in seen.body for name in LINKEDIN_NAMES) and LINKEDIN_WALL.search(seen.body)
    if named and not any(mark in seen.body for mark in LINKEDIN_CARDS):
        return Block("login", "a form to join LinkedIn and no jobs")
    return None


def linkedin_denial(seen: Seen) -> Block | None:
    """LinkedIn's own status for clients that it refuses."""
    return Block("denied", "status 999") if seen.status == LINKEDIN_DENIAL else None


def linkedin_denial_alone(seen: Seen) -> Block | None:
    """The same without a word to read; sites of others may use the status as they like."""
    return linkedin_denial(seen) if not _firewalls.text(seen.body) else None


def ebay_address(seen: Seen) -> Block | None:
    """The challenges of eBay and its page to sign in have addresses of their own, or are redirected to."""
    for address in (seen.url, _address(seen.headers.get("location", ""))):
        if not EBAY_ADDRESS.search(address.netloc):
            continue
        if address.netloc.startswith("signin."):
            return Block("login", "the address is eBay's page to sign in")
        if address.path.startswith(EBAY_CHALLENGES):
            kind = "captcha" if address.path.startswith(EBAY_CAPTCHA) else "javascript"
            return Block(kind, "the address is one of eBay's challenges")
    return None


def ebay_splash(seen: Seen) -> Block | None:
    """The page on which eBay checks the browser; pages won after it still name its address in their links."""
    named = seen.may_be_shell and any(mark in seen.body for mark in EBAY_NAMES)
    found = EBAY_SPLASH.search(seen.body) if named else None
    if found and not any(mark in seen.body for mark in EBAY_LIST):
        kind = "captcha" if b"Security Measure" in found.group() else "javascript"
        return Block(kind, "eBay's check of the browser and no results")
    return None


def denial(seen: Seen) -> Block | None:
    """Too many requests, or forbidden, without a page that says more."""
    if seen.status in (403, 429) and not seen.has_content:
        return Block("denied", f"status {seen.status} and no results")
    return None


def firewall(seen: Seen) -> Block | None:
    """A challenge or a denial of a firewall that any site may stand behind."""
    found = _firewalls.firewall(seen.status, seen.headers, seen.body)
    return Block(*found) if found else None


def firewall_alone(seen: Seen) -> Block | None:
    """A firewall's page and no results."""
    return None if seen.may_be_shell and seen.has_results else firewall(seen)


def lone_captcha(seen: Seen) -> Block | None:
    """A captcha's form with nothing to fill in or to read; forms of sites have captchas too."""
    alone = seen.is_short and CAPTCHA_FORM.search(seen.body) and not TYPED.search(seen.body)
    return Block("captcha", "a captcha's form and nothing else") if alone and not seen.has_prose else None


def unusual_traffic_alone(seen: Seen) -> Block | None:
    """The words of Google's captcha page and few others; pages may speak of traffic."""
    return unusual_traffic(seen) if not seen.has_prose else None


def bare_refusal(seen: Seen) -> Block | None:
    """A refusal without a page; JSON is an answer."""
    bare = seen.status in REFUSALS and len(seen.body.strip()) < BARE and not seen.body.lstrip().startswith(DATA)
    return Block("denied", f"status {seen.status} and no page") if bare else None


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
    linkedin_wall,
    linkedin_denial,
    ebay_address,
    ebay_splash,
    firewall_alone,
    denial,
)
"""The checks of pages that should show results, surest first."""

ANY_SITE: tuple[Check, ...] = (
    sorry_address,
    consent_address,
    waf_action,
    amazon_sign_in,
    linkedin_address,
    linkedin_denial_alone,
    ebay_address,
    lone_captcha,
    consent_form,
    script_shell,
    unusual_traffic_alone,
    bing_challenge,
    amazon_captcha,
    linkedin_wall,
    ebay_splash,
    firewall,
    bare_refusal,
)
"""The checks of pages that may show anything: an error page of a site is one to be read."""
