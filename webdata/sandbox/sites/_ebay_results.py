"""eBay's pages of results, which depend on the search alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from urllib.parse import quote_plus

from webdata.sandbox.invention import SeededRandom
from webdata.sandbox.sites._ebay_locales import Texts, money, texts
from webdata.sandbox.templates import Block, Html, blocks, joined

RESULTS = 137
"""How many listings match any query."""
LOOSE_RESULTS = 9
MATCHES_BEFORE_LOOSE = 3
CACHED_PAGES = 64
TOPIC_CHARACTERS = 60
NOTHING = Html("")

TITLES = (
    "{topic} - tested, works",
    "Vintage {topic}, one owner",
    "{topic} with box & papers",
    "Lot of 3: {topic}",
    "{topic} <spare part>",
    'Rare {topic} 12"',
    "{topic}, never used",
)
SELLERS = ("copper_lane", "orchard.goods", "lantern-alley", "millbridge88", "open*shed", "tinkers_attic")
LEADS = "ABCDEFGHJK"

Matches = Literal["all", "few", "none", "nothing"]
"""Which listings match: 137; three, and nine more with fewer of the words; only those nine; not even those."""


@dataclass(frozen=True)
class Search:
    """The parameters of one page of eBay's results."""

    q: str
    host: str = "www.ebay.com"
    page: int = 1
    size: int = 60
    gallery: bool = False
    evo: bool = False
    """Whether the page has the layout search-evo, which is new in 2026."""
    matches: Matches = "all"

    @property
    def domain(self) -> str:
        return self.host.removeprefix("www.")

    @property
    def texts(self) -> Texts:
        return texts(self.domain)

    @property
    def topic(self) -> str:
        """The terms, short enough for a title."""
        return self.q.strip()[:TOPIC_CHARACTERS]

    def random(self, *key: object) -> SeededRandom:
        return SeededRandom(self.q, self.domain, *key)

    def money(self, cents: int) -> str:
        return money(self.domain, cents)


@lru_cache(maxsize=CACHED_PAGES)
def page(search: Search) -> bytes:
    """The page of results."""
    block = blocks("ebay_listings.html")
    counts = {"all": f"{RESULTS:,}", "few": f"{MATCHES_BEFORE_LOOSE}", "none": "0", "nothing": "0"}
    fewer = {"text": search.texts.fewer}
    above = {
        "none": joined([block["none"].fill(text=search.texts.none), block["fewer_above"].fill(**fewer)]),
        "nothing": block["none"].fill(text=search.texts.none),
    }
    markup = block["page"].fill(
        q=search.q,
        nkw=quote_plus(search.q, errors="replace"),
        host=search.host,
        domain=search.domain,
        lang=search.texts.lang,
        signin=search.texts.sign_in,
        found=search.texts.results_for,
        count=counts[search.matches],
        above=above.get(search.matches, NOTHING),
        view="srp-grid" if search.gallery else "srp-list",
        placeholder=joined([block["placeholder"].fill(domain=search.domain)] * 2),
        cards=joined(_cards(search, block)),
    )
    return markup.encode("utf-8", "replace")


@lru_cache(maxsize=CACHED_PAGES)
def unknown_page(search: Search) -> bytes:
    """The results in a layout that no parser knows."""
    block = blocks("ebay_listings.html")
    tiles = (block["layout_tile"].fill(title=_title(search, index), price=search.money(100)) for index in range(5))
    return block["layout"].fill(q=search.q, lang=search.texts.lang, parts=joined(tiles)).encode("utf-8", "replace")


def _cards(search: Search, block: Mapping[str, Block]) -> list[Html]:
    """The list: cards, a carousel between them, and the heading above those that match fewer words."""
    if search.matches == "nothing":
        return []
    start = (search.page - 1) * search.size
    indexes = {"all": range(start, min(start + search.size, RESULTS)), "few": range(MATCHES_BEFORE_LOOSE)}
    matching = [_card(search, block, index) for index in indexes.get(search.matches, ())]
    if search.matches == "all":
        carousel = block["carousel"].fill(heading=search.topic, cards=joined([_card(search, block, RESULTS)]))
        return [*matching[:40], carousel, *matching[40:]]
    loose = [_card(search, block, RESULTS + 1 + index) for index in range(LOOSE_RESULTS)]
    return [*matching, block["fewer"].fill(text=search.texts.fewer), *loose] if matching else loose


def _card(search: Search, block: Mapping[str, Block], index: int) -> Html:
    random = search.random("card", index)
    prefix = "evo_" if search.evo else ""
    is_new = random.chance(9) and not search.evo
    return block["evo" if search.evo else "card"].fill(
        item=_item_id(search, index),
        host=search.host,
        nkw=quote_plus(search.q, errors="replace"),
        shape="vertical" if search.gallery else "horizontal",
        title=_title(search, index),
        label=block["label"].fill(text=search.texts.new) if is_new else NOTHING,
        window=search.texts.window,
        image=f"https://images.example.com/{_item_id(search, index)}/s-l500.webp",
        condition=random.choice(search.texts.conditions),
        price=_price(search, block, random, prefix),
        rows=joined(block[f"{prefix}row"].fill(text=text) for text in _rows(search, random)),
        secondary=NOTHING if search.gallery else block[f"{prefix}seller"].fill(**_seller(search, random)),
        decoy=random.choice(LEADS) + search.texts.sponsored,
    )


def _price(search: Search, block: Mapping[str, Block], random: SeededRandom, prefix: str) -> Html:
    """A price; for some a range, for others with a higher price struck through."""
    cents = random.number(99, 90_000)
    text, more = search.money(cents), search.money(cents + random.number(100, 9000))
    is_range, is_less = random.chance(5), random.chance(4)
    if prefix:
        whole = f"{text} {search.texts.to} {more}" if is_range else text
        return block["evo_price"].fill(text=whole)
    parts = [block["price"].fill(text=text)]
    if is_range:
        parts += [block["to"].fill(text=search.texts.to), block["price"].fill(text=more)]
    elif is_less:
        parts.append(block["was"].fill(text=more))
    return joined(parts)


def _rows(search: Search, random: SeededRandom) -> list[str]:
    """Buying format, delivery, location, and for some returns."""
    texts = search.texts
    formats = (texts.buy_now, texts.best_offer, texts.bids.format(random.number(2, 40)))
    cost = texts.delivery.format(search.money(random.number(199, 4000)))
    rows = [
        random.choice(formats),
        texts.free_delivery if random.chance(3) else cost,
        texts.located.format(random.choice(texts.places)),
    ]
    return [*rows, texts.returns] if random.chance(4) else rows


def _seller(search: Search, random: SeededRandom) -> dict[str, str]:
    percent = f"{random.number(901, 999) / 10}"
    count = f"{random.number(1, 99)}.{random.number(1, 9)}K"
    if search.texts.lang != "en":
        percent, count = percent.replace(".", ","), count.replace(".", ",")
    return {"name": random.choice(SELLERS), "feedback": search.texts.feedback.format(percent, count)}


def _item_id(search: Search, index: int) -> str:
    return f"{search.random('item', index).number(10**8, 10**9 - 1)}{index:03}"


def _title(search: Search, index: int) -> str:
    """A title with the terms; one that matches fewer words has only the first."""
    topic = search.topic if index <= RESULTS else search.topic.split()[0]
    return f"{search.random('title', index).choice(TITLES).format(topic=topic)} #{index + 1}"
