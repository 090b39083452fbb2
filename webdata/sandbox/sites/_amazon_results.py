"""Amazon's pages of results, which depend on the search alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote

from webdata.sandbox.invention import SeededRandom, slug
from webdata.sandbox.sites._amazon_locales import Money, money, texts
from webdata.sandbox.templates import Block, Html, blocks, joined

RESULTS_A_PAGE = 16
ADS_A_PAGE = 4
PAGES = 3
CACHED_PAGES = 64

IMAGE = "https://images.example.com/{asin}.jpg"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
TOPIC_CHARACTERS = 60
BRANDS = ("Kilnlane", "Northwind", "Quietmorn", "Tinker & Co", "Harbourline", "Bluelantern", "Fieldbook", "Openshed")
VARIANTS = ("Black", "Set of 2", "Large", "with Case", "2nd Generation", "for Home & Office", "Blue, 500 g", "Compact")
NOTHING = Html("")


@dataclass(frozen=True)
class Search:
    """The parameters of one page of Amazon's results."""

    q: str
    page: int = 1
    domain: str = "com"
    """Of the marketplace: what follows `amazon.`."""
    language: str = "en_US"

    @property
    def topic(self) -> str:
        """The terms, short enough for a title."""
        return self.q.strip()[:TOPIC_CHARACTERS]

    @property
    def host(self) -> str:
        return f"www.amazon.{self.domain}"

    @property
    def block(self) -> Mapping[str, Block]:
        return blocks("amazon_products.html")

    @property
    def texts(self) -> Mapping[str, str]:
        return texts(self.language)

    @property
    def money(self) -> Money:
        return money(self.domain)

    def random(self, *key: object) -> SeededRandom:
        return SeededRandom(self.q, self.domain, self.page, *key)


@lru_cache(maxsize=CACHED_PAGES)
def page(search: Search) -> bytes:
    """The page of results; past the last page the empty one."""
    if search.page > PAGES:
        return empty_page(search)
    cards = [_card(search, index) for index in range(1, ADS_A_PAGE + RESULTS_A_PAGE + 1)]
    middle = len(cards) // 2
    return _frame(search, _bar(search), [*cards[:middle], _carousel(search), *cards[middle:]])


def empty_page(search: Search) -> bytes:
    """The page with the message for no results."""
    return _frame(search, NOTHING, [search.block["empty"].fill(text=search.texts["nothing"].format(q=search.q))])


def unknown_page(search: Search) -> bytes:
    """A page of results in a layout that no parser knows."""
    indexes = range(1, RESULTS_A_PAGE + 1)
    cards = [search.block["layout_card"].fill(title=_title(search, search.random("card", index))) for index in indexes]
    return _frame(search, NOTHING, [search.block["layout"].fill(parts=joined(cards))])


def _frame(search: Search, bar: Html, main: list[Html]) -> bytes:
    lang = search.language.lower().replace("_", "-")
    values = {"q": search.q, "shop": f"Amazon.{search.domain}", "host": search.host, "lang": lang}
    return search.block["page"].fill(**values, bar=bar, main=joined(main)).encode("utf-8", "replace")


def _bar(search: Search) -> Html:
    total = search.money.number(search.random("total").number(60, 90_000))
    first = (search.page - 1) * RESULTS_A_PAGE + 1
    count = search.texts["count"].format(first=first, last=first + RESULTS_A_PAGE - 1, total=total)
    return search.block["bar"].fill(q=search.q, count=count)


def _card(search: Search, index: int) -> Html:
    random = search.random("card", index)
    asin, title, is_ad = _asin(random), _title(search, random), index <= ADS_A_PAGE
    href = _href(search, asin, index, is_ad)
    cents, unfeatured = random.number(500, 150_000), random.chance(6)
    return search.block["card"].fill(
        asin=asin,
        index=index,
        holder=" AdHolder" if is_ad else "",
        title=title,
        spoken=search.texts["ad"].format(title=title) if is_ad else title,
        label=search.block["label"].fill(asin=asin, sponsored=search.texts["sponsored"]) if is_ad else NOTHING,
        href=href,
        image=IMAGE.format(asin=asin),
        badge=_badge(search, random, asin),
        reviews=NOTHING if random.chance(8) else _reviews(search, random, href),
        deal=search.block["deal"].fill(asin=asin, text=search.texts["deal"]) if random.chance(5) else NOTHING,
        price=NOTHING if unfeatured else _price(search, random, href, cents),
        coupon=_coupon(search, random) if random.chance(5) else NOTHING,
        delivery=_delivery(search, random),
        see=search.texts["options"],
        offers=_offers(search, random, asin, cents, unfeatured),
    )


def _asin(random: SeededRandom) -> str:
    return "B0" + "".join(random.choice(LETTERS) for _ in range(8))


def _title(search: Search, random: SeededRandom) -> str:
    return f"{random.choice(BRANDS)} {search.topic}, {random.choice(VARIANTS)}"


def _href(search: Search, asin: str, index: int, is_ad: bool) -> str:
    path = f"/{slug(search.topic)}/dp/{asin}/ref=sr_{search.page}_{index}"
    return f"/sspa/click?ie=UTF8&spc=sandbox&url={quote(path, safe='')}" if is_ad else f"{path}?sr=8-{index}"


def _badge(search: Search, random: SeededRandom, asin: str) -> Html:
    if random.chance(8):
        return search.block["bestseller"].fill(text=search.texts["bestseller"])
    return search.block["choice"].fill(asin=asin, text=search.texts["choice"]) if random.chance(8) else NOTHING


def _reviews(search: Search, random: SeededRandom, href: str) -> Html:
    texts = search.texts
    stars, count = search.money.stars(random.number(31, 50)), search.money.number(random.number(1, 90_000))
    bought = texts["bought"].format(count=random.number(1, 9) * 100)
    rating = {"rating": texts["stars"].format(stars=stars), "count": texts["ratings"].format(count=count)}
    numbers = {"stars": stars, "short": f"{random.number(1, 90)}K", "details": texts["details"], "bought": bought}
    return search.block["reviews"].fill(href=href, **rating, **numbers)


def _price(search: Search, random: SeededRandom, href: str, cents: int) -> Html:
    text, block = search.money.text, search.block
    unit = block["unit"].fill(price=text(cents * 3)) if random.chance(6) else NOTHING
    struck = block["list"].fill(name=search.texts["list"], price=text(cents * 5 // 4)) if random.chance(2) else NOTHING
    return block["price"].fill(name=search.texts["price"], href=href, price=text(cents), unit=unit, list=struck)


def _coupon(search: Search, random: SeededRandom) -> Html:
    percent = random.number(1, 6) * 5
    return search.block["coupon"].fill(percent=percent, text=search.texts["coupon"].format(percent=percent))


def _delivery(search: Search, random: SeededRandom) -> Html:
    prime = search.block["prime"].fill() if random.chance(2) else NOTHING
    delivery = search.block["delivery"].fill(prime=prime, text=search.texts["delivery"], date=random.date())
    stock = search.texts["stock"].format(count=random.number(2, 9))
    return joined([delivery, search.block["stock"].fill(text=stock) if random.chance(5) else NOTHING])


def _offers(search: Search, random: SeededRandom, asin: str, cents: int, unfeatured: bool) -> Html:
    """The line of other offers; it has the only price of a product without a featured offer."""
    if not unfeatured and not random.chance(4):
        return NOTHING
    text = search.texts["none" if unfeatured else "more"]
    price = search.money.text(cents if unfeatured else cents * 9 // 10)
    number = search.texts["offers"].format(count=random.number(2, 9))
    return search.block["offers"].fill(asin=asin, text=text, price=price, number=number)


def _carousel(search: Search) -> Html:
    """Related products between the results, which are no results themselves."""
    items = [_carousel_item(search, search.random("carousel", index)) for index in range(4)]
    return search.block["carousel"].fill(index=0, title=search.texts["related"], items=joined(items))


def _carousel_item(search: Search, random: SeededRandom) -> Html:
    asin, price = _asin(random), search.money.text(random.number(500, 90_000))
    return search.block["carousel_item"].fill(
        asin=asin, image=IMAGE.format(asin=asin), title=_title(search, random), price=price
    )
