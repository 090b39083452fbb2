"""What Google sends instead of results: captchas, consent pages, shells that need scripts."""

import re
from urllib.parse import SplitResult

from webdata.pages.blocked import OPENING_TAGS, Block, Page, captcha_form, first

RESULT_MARKS = (
    *(b'id="rso"', b'id="center_col"', b'id="botstuff"', b'id="topstuff"', b"Gx5Zad", b"ZINbbc", b"zMzFAb"),
    *(b'id="islrg"', b"data-lpage", b"rg_meta", b"/imgres?"),
)
"""The columns and boxes of results pages of any layout, and the column and the tiles of pages of images."""

SHELL_MARKS = (b"/httpservice/retry/", b"emsg=SG_REL")
"""Where a page goes that cannot run scripts, and the link below the challenge that runs them, in any language."""
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
UPDATE_BROWSER = re.compile(rb"Update your browser|your browser is(?:n't| not) supported", re.IGNORECASE)
BROWSER_HELP = re.compile(rb"""href\s*=\s*["']?https://support\.google\.com/(?:websearch|chrome)/(?:answer|bin)/""")
"""A link to the help about browsers and their settings, which the same pages have in every language."""
SEARCH_FIELD = re.compile(rb"""\bname\s*=\s*["']?q\b""")


def block(page: Page) -> Block | None:
    """The block that a response of Google is."""
    return first(
        page,
        sorry_address,
        consent_address,
        captcha_form,
        consent_form,
        script_shell,
        unusual_traffic,
        old_browser,
    )


def sorry_address(page: Page) -> Block | None:
    """The address or redirect of the captcha."""
    for address in page.addresses:
        if address.netloc.startswith("sorry.google.") or (_is_google(address) and address.path.startswith("/sorry")):
            return Block("captcha", "the address is Google's /sorry page")
    return None


def consent_address(page: Page) -> Block | None:
    """The host of the consent page, as the address or a redirect."""
    for address in page.addresses:
        if address.netloc.startswith(("consent.google.", "consent.youtube.")):
            return Block("consent", "the address is Google's consent page")
    return None


def consent_form(page: Page) -> Block | None:
    """The consent page, by its form; the same form in a dialog over results is no block."""
    named = page.may_be_shell and any(host in page.body for host in CONSENT)
    named = named or CONSENT_BASE.search(page.body[:OPENING_TAGS]) is not None
    if named and CONSENT_FORM.search(page.body) and not page.has_content:
        return Block("consent", "a consent form and no results")
    return None


def script_shell(page: Page) -> Block | None:
    """A page that asks for JavaScript before it shows anything; results pages contain the same addresses."""
    if not page.may_be_shell or page.has_content or not any(mark in page.body for mark in SHELL_MARKS):
        return None
    if page.any_site and page.has_prose:
        return None
    challenge = any(mark in page.body for mark in CHALLENGE)
    reason = "a script challenge" if challenge else "a refresh to the page that asks for JavaScript"
    return Block("javascript", f"{reason} and no results")


def unusual_traffic(page: Page) -> Block | None:
    """The phrase of the captcha page, in several languages; an article on any site may contain it."""
    if not page.is_short or page.has_content or not UNUSUAL_TRAFFIC.search(page.body):
        return None
    return None if page.any_site and page.has_prose else Block("captcha", "the page speaks of unusual traffic")


def old_browser(page: Page) -> Block | None:
    """The pages for browsers without JavaScript since 2025: a phrase, or a link to the help and no search box."""
    results = not page.any_site and _is_google(page.url)
    if not results or not page.is_short or page.has_content:
        return None
    asks = BROWSER_HELP.search(page.body) and not SEARCH_FIELD.search(page.body)
    return (
        Block("javascript", "the page asks for another browser") if asks or UPDATE_BROWSER.search(page.body) else None
    )


def _is_google(address: SplitResult) -> bool:
    return re.search(r"(?:^|\.)google\.(?:com|[a-z]{2}|com?\.[a-z]{2})$", address.netloc) is not None
