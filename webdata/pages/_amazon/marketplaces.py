"""Amazon's marketplaces: which one a region searches, which one a page is from, and its currency."""

import re
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from webdata.domain.query import Region
from webdata.pages._elements import visible_text
from webdata.pages._text import Price

CURRENCIES = {
    "com": "USD", "ca": "CAD", "com.mx": "MXN", "com.br": "BRL", "co.uk": "GBP", "ie": "EUR", "de": "EUR",
    "fr": "EUR", "it": "EUR", "es": "EUR", "nl": "EUR", "com.be": "EUR", "se": "SEK", "pl": "PLN", "com.tr": "TRY",
    "ae": "AED", "sa": "SAR", "eg": "EGP", "co.za": "ZAR", "in": "INR", "co.jp": "JPY", "com.au": "AUD",
    "sg": "SGD", "cn": "CNY",
}  # fmt: skip
"""The ends of Amazon's domains, and the currency of each."""
DOMAINS = tuple(f"amazon.{end}" for end in CURRENCIES)
"""The domains of Amazon's marketplaces."""

SHARED_MARKS = {
    "$": {"USD", "CAD", "MXN", "AUD", "SGD"},
    "¥": {"JPY", "CNY"},
    "￥": {"JPY", "CNY"},
    "kr": {"SEK"},
}
"""Marks that several countries write for their own currencies; on a marketplace they mean its currency."""


class Marketplace(NamedTuple):
    """One of Amazon's shops: its host and its currency (ISO 4217)."""

    host: str
    currency: str


class Locale(NamedTuple):
    """The marketplace and the language of a region's searches; the language as Amazon writes it, such as `de_DE`."""

    marketplace: Marketplace
    language: str


def _of_domain(domain: str) -> Marketplace:
    return Marketplace(f"www.amazon.{domain}", CURRENCIES[domain])


DEFAULT = Locale(_of_domain("com"), "en_US")

LOCALES = {
    Region.EU: Locale(_of_domain("de"), "de_DE"),
    Region.CA: Locale(_of_domain("ca"), "en_CA"),
    Region.US: DEFAULT,
    Region.IE: Locale(_of_domain("ie"), "en_IE"),
    Region.GB: Locale(_of_domain("co.uk"), "en_GB"),
    Region.FR: Locale(_of_domain("fr"), "fr_FR"),
    Region.DE: Locale(_of_domain("de"), "de_DE"),
    Region.SE: Locale(_of_domain("se"), "sv_SE"),
    Region.IN: Locale(_of_domain("in"), "en_IN"),
    Region.JP: Locale(_of_domain("co.jp"), "ja_JP"),
    Region.KR: Locale(_of_domain("com"), "ko_KR"),
    Region.SG: Locale(_of_domain("sg"), "en_SG"),
    Region.AU: Locale(_of_domain("com.au"), "en_AU"),
    Region.BR: Locale(_of_domain("com.br"), "pt_BR"),
}
"""The locale of each region. The EU's largest marketplace is Germany's; to Korea, amazon.com sells in Korean."""

_DOMAINS = "|".join(re.escape(domain) for domain in sorted(CURRENCIES, key=len, reverse=True))
_DIGITS = re.compile(r"[\d.,'\s]+")
_HOST = re.compile(rf"(?:^|\.)amazon\.({_DOMAINS})$", re.IGNORECASE)
_TITLE = re.compile(rf"^Amazon\.({_DOMAINS})\b", re.IGNORECASE)
_SERVER = re.compile(rf"""\bue_sn\s*=\s*["']www\.amazon\.({_DOMAINS})["']""".encode())
_ADDRESS = re.compile(rf"""=["']https?://www\.amazon\.({_DOMAINS})(?=[/"'])""".encode())


def locale(region: Region | None) -> Locale:
    """The locale that a region searches in."""
    return LOCALES[region] if region else DEFAULT


def of_host(host: str | None) -> Marketplace | None:
    """The marketplace with this host; None for one that is not Amazon's."""
    found = _HOST.search(host or "")
    return _of_domain(found.group(1).lower()) if found else None


def of_page(root: LexborNode, body: bytes) -> Marketplace | None:
    """The marketplace of a page: by its title, by the name of its server, else by its first address."""
    if titled := _TITLE.match(visible_text(root.css_first("title"))):
        return _of_domain(titled.group(1).lower())
    named = _SERVER.search(body) or _ADDRESS.search(body)
    return _of_domain(named.group(1).decode()) if named else None


def currency(price: Price, marketplace: Marketplace) -> str | None:
    """The currency (ISO 4217) of a price on a marketplace; those of other countries are written out there."""
    mark = _DIGITS.sub("", price.text)
    return marketplace.currency if marketplace.currency in SHARED_MARKS.get(mark, ()) else price.currency
