"""A page of Amazon's results: which products it lists and what is said of them, decided by the query alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote

from webdata.sandbox.invention import Dice, slug
from webdata.sandbox.sites._amazon_locales import Money, money, words
from webdata.sandbox.templates import Block, Html, blocks, joined

RESULTS_A_PAGE = 16
ADS_A_PAGE = 4
PAGES = 3
KEPT_PAGES = 64

IMAGE = "https://images.example.com/{asin}.jpg"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
TOPIC_CHARACTERS = 60
BRANDS = ("Kilnlane", "Northwind", "Quietmorn", "Tinker & Co", "Harbourline", "Bluelantern", "Fieldbook", "Openshed")
VARIANTS = ("Black", "Set of 2", "Large", "with Case", "2nd Generation", "for Home & Office", "Blue, 500 g", "Compact")
NOTHING = Html("")


@dataclass(frozen=True)
class Search:
    """What was asked of an Amazon."""

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
    def words(self) -> Mapping[str, str]:
        return words(self.language)

    @property
    def money(self) -> Money:
        return money(self.domain)

    def dice(self, *key: object) -> Dice:
        return Dice(self.q, self.domain, self.page, *key)


@lru_cache(maxsize=KEPT_PAGES)
def page(search: Search) -> bytes:
    """The page of results. The same search always gives the same bytes; past the last page nothing is found."""
    if search.page > PAGES:
        return empty_page(search)
    cards = [_card(search, index) for index in range(1, ADS_A_PAGE + RESULTS_A_PAGE + 1)]
    middle = len(cards) // 2
    return _frame(search, _bar(search), [*cards[:middle], _carousel(search), *cards[middle:]])


def empty_page(search: Search) -> bytes:
    """The page that says that nothing was found."""
    return _frame(search, NOTHING, [search.block["empty"].fill(text=search.words["nothing"].format(q=search.q))])


def unknown_page(search: Search) -> bytes:
    """A page of results of a shape that no parser knows."""
    indexes = range(1, RESULTS_A_PAGE + 1)
    cards = [search.block["layout_card"].fill(title=_title(search, search.dice("card", index))) for index in indexes]
    return _frame(search, NOTHING, [search.block["layout"].fill(parts=joined(cards))])


def _frame(search: Search, bar: Html, main: list[Html]) -> bytes:
    lang = search.language.lower().replace("_", "-")
    named = {"q": search.q, "shop": f"Amazon.{search.domain}", "host": search.host, "lang": lang}
    return search.block["page"].fill(**named, bar=bar, main=joined(main)).encode("utf-8", "replace")


def _bar(search: Search) -> Html:
    total = search.money.number(search.dice("total").number(60, 90_000))
    first = (search.page - 1) * RESULTS_A_PAGE + 1
    count = search.words["count"].format(first=first, last=first + RESULTS_A_PAGE - 1, total=total)
    return search.block["bar"].fill(q=search.q, count=count)


def _card(search: Search, index: int) -> Html:
    dice = search.dice("card", index)
    asin, title, is_ad = _asin(dice), _title(search, dice), index <= ADS_A_PAGE
    href = _href(search, asin, index, is_ad)
    cents, listed = dice.number(500, 150_000), dice.chance(6)
    return search.block["card"].fill(
        asin=asin,
        index=index,
        holder=" AdHolder" if is_ad else "",
        title=title,
        spoken=search.words["ad"].format(title=title) if is_ad else title,
        label=search.block["label"].fill(asin=asin, sponsored=search.words["sponsored"]) if is_ad else NOTHING,
        href=href,
        image=IMAGE.format(asin=asin),
        badge=_badge(search, dice, asin),
        reviews=NOTHING if dice.chance(8) else _reviews(search, dice, href),
        deal=search.block["deal"].fill(asin=asin, text=search.words["deal"]) if dice.chance(5) else NOTHING,
        price=NOTHING if listed else _price(search, dice, href, cents),
        coupon=_coupon(search, dice) if dice.chance(5) else NOTHING,
        delivery=_delivery(search, dice),
        see=search.words["options"],
        offers=_offers(search, dice, asin, cents, listed),
    )


def _asin(dice: Dice) -> str:
    return "B0" + "".join(dice.one(LETTERS) for _ in range(8))


def _title(search: Search, dice: Dice) -> str:
    return f"{dice.one(BRANDS)} {search.topic}, {dice.one(VARIANTS)}"


def _href(search: Search, asin: str, index: int, is_ad: bool) -> str:
    path = f"/{slug(search.topic)}/dp/{asin}/ref=sr_{search.page}_{index}"
    return f"/sspa/click?ie=UTF8&spc=sandbox&url={quote(path, safe='')}" if is_ad else f"{path}?sr=8-{index}"


def _badge(search: Search, dice: Dice, asin: str) -> Html:
    if dice.chance(8):
        return search.block["bestseller"].fill(text=search.words["bestseller"])
    return search.block["choice"].fill(asin=asin, text=search.words["choice"]) if dice.chance(8) else NOTHING


def _reviews(search: Search, dice: Dice, href: str) -> Html:
    stars, count = search.money.stars(dice.number(31, 50)), search.money.number(dice.number(1, 90_000))
    bought = search.words["bought"].format(count=dice.number(1, 9) * 100)
    told = {"rating": search.words["stars"].format(stars=stars), "count": search.words["ratings"].format(count=count)}
    shown = {"stars": stars, "short": f"{dice.number(1, 90)}K", "details": search.words["details"], "bought": bought}
    return search.block["reviews"].fill(href=href, **told, **shown)


def _price(search: Search, dice: Dice, href: str, cents: int) -> Html:
    text, block = search.money.text, search.block
    unit = block["unit"].fill(price=text(cents * 3)) if dice.chance(6) else NOTHING
    struck = block["list"].fill(name=search.words["list"], price=text(cents * 5 // 4)) if dice.chance(2) else NOTHING
    return block["price"].fill(name=search.words["price"], href=href, price=text(cents), unit=unit, list=struck)


def _coupon(search: Search, dice: Dice) -> Html:
    percent = dice.number(1, 6) * 5
    return search.block["coupon"].fill(percent=percent, text=search.words["coupon"].format(percent=percent))


def _delivery(search: Search, dice: Dice) -> Html:
    prime = search.block["prime"].fill() if dice.chance(2) else NOTHING
    told = search.block["delivery"].fill(prime=prime, text=search.words["delivery"], date=dice.date())
    stock = search.words["stock"].format(count=dice.number(2, 9))
    return joined([told, search.block["stock"].fill(text=stock) if dice.chance(5) else NOTHING])


def _offers(search: Search, dice: Dice, asin: str, cents: int, listed: bool) -> Html:
    """The line of other offers; where it is all there is, it holds the price."""
    if not listed and not dice.chance(4):
        return NOTHING
    text = search.words["none" if listed else "more"]
    price = search.money.text(cents if listed else cents * 9 // 10)
    number = search.words["offers"].format(count=dice.number(2, 9))
    return search.block["offers"].fill(asin=asin, text=text, price=price, number=number)


def _carousel(search: Search) -> Html:
    """Products between the results that are none of them."""
    items = [_carousel_item(search, search.dice("carousel", index)) for index in range(4)]
    return search.block["carousel"].fill(index=0, title=search.words["related"], items=joined(items))


def _carousel_item(search: Search, dice: Dice) -> Html:
    asin, price = _asin(dice), search.money.text(dice.number(500, 90_000))
    return search.block["carousel_item"].fill(
        asin=asin, image=IMAGE.format(asin=asin), title=_title(search, dice), price=price
    )
