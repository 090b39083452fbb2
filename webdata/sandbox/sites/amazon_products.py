"""Amazon's product search: results in the layout of 2026 of any marketplace, with invented content.

Its own scenarios (see `webdata.sandbox.scenarios`), besides captcha, denied, limited, error, empty and layout:

| scenario | effect |
|---|---|
| `sandbox:challenge` | the firewall's script challenge (202), until a real browser solves it |
| `sandbox:robot` | the captcha of letters for every client |
| `sandbox:signin` | a redirect to the sign-in page |
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from typing import cast
from urllib.parse import quote

from webdata.runtime.wire.exchange import HTML, Handler, Headers, SandboxRequest, SiteReply, redirect
from webdata.sandbox.challenges import challenge_id, solved
from webdata.sandbox.invention import SeededRandom, slug
from webdata.sandbox.sites._searches import CACHED_PAGES, IMAGE, Data, Search, answer_search, whole_number
from webdata.sandbox.templates import data, html, render

HOSTS = (".amazon.com", ".amazon.??", ".amazon.co.??", ".amazon.com.??")
TEMPLATE = "sites/amazon_products"
FIREWALL_HEADERS: Headers = (("x-amzn-waf-action", "challenge"), *HTML)

RESULTS_A_PAGE = 16
ADS_A_PAGE = 4
PAGES = 3
BRANDS = ("Kilnlane", "Northwind", "Quietmorn", "Tinker & Co", "Harbourline", "Bluelantern", "Fieldbook", "Openshed")
VARIANTS = ("Black", "Set of 2", "Large", "with Case", "2nd Generation", "for Home & Office", "Blue, 500 g", "Compact")


@dataclass(frozen=True)
class Money:
    """A marketplace's price format: the currency before or after the digits, and the separators."""

    before: str = ""
    after: str = ""
    thousands: str = ","
    decimal: str = "."
    """Empty for a currency without hundredths."""
    indian: bool = False
    """Whether thousands are grouped by two: `1,23,456`."""

    def text(self, cents: int) -> str:
        """A formatted price; without hundredths, `cents` are whole units."""
        whole = f"{self.number(cents // 100)}{self.decimal}{cents % 100:02}" if self.decimal else self.number(cents)
        return f"{self.before}{whole}{self.after}"

    def number(self, value: int) -> str:
        """A whole number with its separators."""
        digits = f"{value:,}"
        if self.indian and value >= 100_000:
            head, tail = divmod(value, 1000)
            digits = f"{self._pairs(head)},{tail:03}"
        return digits.replace(",", self.thousands)

    def stars(self, tenths: int) -> str:
        """A rating with one decimal."""
        return f"{tenths / 10:.1f}".replace(".", self.decimal or ".")

    def _pairs(self, value: int) -> str:
        head, tail = divmod(value, 100)
        return f"{self._pairs(head)},{tail:02}" if head else str(tail)


DOLLARS = Money(before="$")
EUROS = Money(after="\u00a0€", thousands=".", decimal=",")
MONEY: Mapping[str, Money] = {
    "com": DOLLARS, "ca": DOLLARS, "com.au": DOLLARS, "com.mx": DOLLARS, "sg": Money(before="S$"),
    "co.uk": Money(before="£"), "ie": Money(before="€"), "de": EUROS, "it": EUROS, "es": EUROS,
    "fr": Money(after="\u00a0€", thousands="\u202f", decimal=","), "nl": Money("€\u00a0", "", ".", ","),
    "se": Money(after="\u00a0kr", thousands="\u00a0", decimal=","), "com.br": Money("R$\u00a0", "", ".", ","),
    "in": Money(before="₹", indian=True, decimal=""), "co.jp": Money(before="￥", decimal=""),
}  # fmt: skip
"""By domain of the marketplace: what follows `amazon.`."""


def texts(language: str) -> Mapping[str, str]:
    """The texts of a language (`de_DE`); English ones for a language without its own."""
    languages = data("sites/_amazon_texts")
    return cast(Mapping[str, str], languages.get(language.partition("_")[0], languages["en"]))


def money(domain: str) -> Money:
    """The price format of a domain (`co.jp`); dollars for a domain without its own."""
    return MONEY.get(domain, DOLLARS)


@dataclass(frozen=True)
class ProductSearch(Search):
    """The parameters of one page of Amazon's results."""

    page: int = 1
    domain: str = "com"
    """The end of the marketplace's domain: what follows `amazon.`."""
    language: str = "en_US"

    @property
    def market(self) -> tuple[object, ...]:
        return self.domain, self.page

    @property
    def texts(self) -> Mapping[str, str]:
        return texts(self.language)

    @property
    def money(self) -> Money:
        return money(self.domain)


def answer(request: SandboxRequest) -> SiteReply:
    """The home page, a page of results, or a scenario's page in its place."""
    path = request.path.rstrip("/")
    if path == "/s" or path.startswith("/s/ref="):
        return answer_search(
            request, _terms(request), _handler(page), SCENARIOS, lambda status, _: _error(request, status)
        )
    if path == "":
        return html(TEMPLATE, "home", shop=_shop(request))
    if path == "/ap/signin":
        return html(TEMPLATE, "sign_in", host=request.host)
    if path == "/errors/validateCaptcha":
        return redirect(_next(request))
    return _error(request, HTTPStatus.NOT_FOUND)


def _terms(request: SandboxRequest) -> str:
    return request.first("k") or request.first("field-keywords")


def _handler(page: Callable[[ProductSearch], bytes]) -> Handler:
    return lambda request: SiteReply(200, HTML, page(_search(request)))


def _search(request: SandboxRequest) -> ProductSearch:
    return ProductSearch(
        q=_terms(request),
        page=whole_number(request.first("page")) or 1,
        domain=request.host.rpartition("amazon.")[2],
        language=request.first("language") or "en_US",
    )


@lru_cache(maxsize=CACHED_PAGES)
def page(search: ProductSearch) -> bytes:
    """The page of results; past the last page the empty one."""
    if search.page > PAGES:
        return empty_page(search)
    first = (search.page - 1) * RESULTS_A_PAGE + 1
    return render(
        TEMPLATE,
        "results",
        search=search,
        texts=search.texts,
        first=first,
        last=first + RESULTS_A_PAGE - 1,
        total=search.money.number(search.random("total").number(60, 90_000)),
        products=[_product(search, index) for index in range(1, ADS_A_PAGE + RESULTS_A_PAGE + 1)],
        related=[_related(search, search.random("carousel", index)) for index in range(4)],
    )


def empty_page(search: ProductSearch) -> bytes:
    """The page with the message for no results."""
    return render(TEMPLATE, "empty", search=search, texts=search.texts)


def unknown_page(search: ProductSearch) -> bytes:
    """A page of results in a layout that no parser knows."""
    titles = [_title(search, search.random("card", index)) for index in range(1, RESULTS_A_PAGE + 1)]
    return render(TEMPLATE, "unknown", search=search, titles=titles)


def _product(search: ProductSearch, index: int) -> Data:
    random, text = search.random("card", index), search.money.text
    asin, title, is_ad = _asin(random), _title(search, random), index <= ADS_A_PAGE
    cents, unfeatured = random.number(500, 150_000), random.chance(6)
    product = {
        "asin": asin,
        "title": title,
        "is_ad": is_ad,
        "href": _href(search, asin, index, is_ad),
        "image": IMAGE.format(id=asin),
        "badge": "bestseller" if random.chance(8) else "choice" if random.chance(8) else "",
        **({"stars": ""} if random.chance(8) else _reviews(search, random)),
        "has_deal": random.chance(5),
        "price": "" if unfeatured else text(cents),
        "unit_price": text(cents * 3) if not unfeatured and random.chance(6) else "",
        "list_price": text(cents * 5 // 4) if not unfeatured and random.chance(2) else "",
        "coupon": random.number(1, 6) * 5 if random.chance(5) else 0,
        "is_prime": random.chance(2),
        "delivery": random.date(),
    }
    stock, is_low = random.number(2, 9), random.chance(5)
    has_offers = unfeatured or random.chance(4)  # the only price of a product without a featured offer
    offer = text(cents if unfeatured else cents * 9 // 10) if has_offers else ""
    return {**product, "stock": stock if is_low else 0, "offer_price": offer, "offers": random.number(2, 9)}


def _asin(random: SeededRandom) -> str:
    return f"B0{random.number(0, 2**31 - 1):08X}"


def _title(search: ProductSearch, random: SeededRandom) -> str:
    return f"{random.choice(BRANDS)} {search.topic}, {random.choice(VARIANTS)}"


def _href(search: ProductSearch, asin: str, index: int, is_ad: bool) -> str:
    path = f"/{slug(search.topic)}/dp/{asin}/ref=sr_{search.page}_{index}"
    return f"/sspa/click?ie=UTF8&spc=sandbox&url={quote(path, safe='')}" if is_ad else f"{path}?sr=8-{index}"


def _reviews(search: ProductSearch, random: SeededRandom) -> Data:
    return {
        "stars": search.money.stars(random.number(31, 50)),
        "ratings": search.money.number(random.number(1, 90_000)),
        "bought": random.number(1, 9) * 100,
        "short": f"{random.number(1, 90)}K",
    }


def _related(search: ProductSearch, random: SeededRandom) -> Data:
    """A product of the carousel between the results, which is no result itself."""
    asin, price = _asin(random), search.money.text(random.number(500, 90_000))
    return {"asin": asin, "image": IMAGE.format(id=asin), "title": _title(search, random), "price": price}


def _challenge(name: str, cookie: str, status: int = 200, headers: Headers = HTML) -> Handler:
    """A challenge until a browser has solved it, then the results; for ever without a cookie."""

    def answer(request: SandboxRequest) -> SiteReply:
        if solved(request, cookie):
            return _handler(page)(request)
        values = {"shop": _shop(request), "url": request.url, "target": request.target, "cookie": cookie}
        return SiteReply(status, headers, render(TEMPLATE, name, challenge=challenge_id(request.url), **values))

    return answer


def _next(request: SandboxRequest) -> str:
    """The URL after the captcha's form, always on the same host."""
    path = request.first("amzn-r")
    inside = path.startswith("/") and not path.startswith(("//", "/\\"))
    return f"{request.scheme}://{request.host}{path if inside else '/'}"


def _error(request: SandboxRequest, status: HTTPStatus, _reason: str = "") -> SiteReply:
    return html(TEMPLATE, "error", status, shop=_shop(request), error=status)


def _shop(request: SandboxRequest) -> str:
    return f"Amazon.{request.host.rpartition('amazon.')[2]}"


SCENARIOS: dict[str, Handler] = {
    "captcha": _challenge("captcha", "x-amz-captcha-1"),
    "challenge": _challenge("firewall", "aws-waf-token", HTTPStatus.ACCEPTED, FIREWALL_HEADERS),
    "robot": _challenge("robot", cookie=""),
    "signin": lambda request: redirect(f"{request.scheme}://{request.host}/ap/signin"),
    "denied": lambda request: _error(request, HTTPStatus.FORBIDDEN),
    "limited": lambda request: _error(request, HTTPStatus.TOO_MANY_REQUESTS),
    "error": lambda request: _error(request, HTTPStatus.SERVICE_UNAVAILABLE),
    "empty": _handler(empty_page),
    "layout": _handler(unknown_page),
}
