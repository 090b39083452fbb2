"""A page of eBay's results: its cards and what is on them, decided by the query alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from urllib.parse import quote_plus

from webdata.sandbox.invention import SeededRandom
from webdata.sandbox.sites._ebay_locales import Words, money, words
from webdata.sandbox.templates import Block, Html, blocks, joined

RESULTS = 137
"""How many listings match any query."""
LOOSE_RESULTS = 9
MATCHES_BEFORE_LOOSE = 3
KEPT_PAGES = 64
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

Found = Literal["all", "few", "none", "nothing"]
"""What matches: the listings asked for; a few, and others that match fewer words; only such; not even such."""


@dataclass(frozen=True)
class Search:
    """What was asked of eBay."""

    q: str
    host: str = "www.ebay.com"
    page: int = 1
    size: int = 60
    gallery: bool = False
    evo: bool = False
    """Whether the page comes in the layout that is new in 2026."""
    found: Found = "all"

    @property
    def domain(self) -> str:
        return self.host.removeprefix("www.")

    @property
    def words(self) -> Words:
        return words(self.domain)

    @property
    def topic(self) -> str:
        """The terms, short enough for a title."""
        return self.q.strip()[:TOPIC_CHARACTERS]

    def random(self, *key: object) -> SeededRandom:
        return SeededRandom(self.q, self.domain, *key)

    def money(self, cents: int) -> str:
        return money(self.domain, cents)


@lru_cache(maxsize=KEPT_PAGES)
def page(search: Search) -> bytes:
    """The page of results. The same search always gives the same bytes."""
    block = blocks("ebay_listings.html")
    counts = {"all": f"{RESULTS:,}", "few": f"{MATCHES_BEFORE_LOOSE}", "none": "0", "nothing": "0"}
    fewer = {"text": search.words.fewer}
    above = {
        "none": joined([block["none"].fill(text=search.words.none), block["fewer_above"].fill(**fewer)]),
        "nothing": block["none"].fill(text=search.words.none),
    }
    markup = block["page"].fill(
        q=search.q,
        nkw=quote_plus(search.q, errors="replace"),
        host=search.host,
        domain=search.domain,
        lang=search.words.lang,
        signin=search.words.sign_in,
        found=search.words.found,
        count=counts[search.found],
        above=above.get(search.found, NOTHING),
        view="srp-grid" if search.gallery else "srp-list",
        placeholder=joined([block["placeholder"].fill(domain=search.domain)] * 2),
        cards=joined(_cards(search, block)),
    )
    return markup.encode("utf-8", "replace")


@lru_cache(maxsize=KEPT_PAGES)
def unknown_page(search: Search) -> bytes:
    """The results in a shape that no parser knows."""
    block = blocks("ebay_listings.html")
    tiles = (block["layout_tile"].fill(title=_title(search, index), price=search.money(100)) for index in range(5))
    return block["layout"].fill(q=search.q, lang=search.words.lang, parts=joined(tiles)).encode("utf-8", "replace")


def _cards(search: Search, block: Mapping[str, Block]) -> list[Html]:
    """What stands in the list: cards, a carousel between them, the heading before those that match fewer words."""
    if search.found == "nothing":
        return []
    start = (search.page - 1) * search.size
    shown = {"all": range(start, min(start + search.size, RESULTS)), "few": range(MATCHES_BEFORE_LOOSE)}
    matching = [_card(search, block, index) for index in shown.get(search.found, ())]
    if search.found == "all":
        carousel = block["carousel"].fill(heading=search.topic, cards=joined([_card(search, block, RESULTS)]))
        return [*matching[:40], carousel, *matching[40:]]
    loose = [_card(search, block, RESULTS + 1 + index) for index in range(LOOSE_RESULTS)]
    return [*matching, block["fewer"].fill(text=search.words.fewer), *loose] if matching else loose


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
        label=block["label"].fill(text=search.words.new) if is_new else NOTHING,
        window=search.words.window,
        image=f"https://images.example.com/{_item_id(search, index)}/s-l500.webp",
        condition=random.choice(search.words.conditions),
        price=_price(search, block, random, prefix),
        rows=joined(block[f"{prefix}row"].fill(text=text) for text in _rows(search, random)),
        secondary=NOTHING if search.gallery else block[f"{prefix}seller"].fill(**_seller(search, random)),
        decoy=random.choice(LEADS) + search.words.sponsored,
    )


def _price(search: Search, block: Mapping[str, Block], random: SeededRandom, prefix: str) -> Html:
    """A price; now and then a range, or with a higher one struck through behind it."""
    cents = random.number(99, 90_000)
    text, more = search.money(cents), search.money(cents + random.number(100, 9000))
    is_range, is_less = random.chance(5), random.chance(4)
    if prefix:
        whole = f"{text} {search.words.to} {more}" if is_range else text
        return block["evo_price"].fill(text=whole)
    parts = [block["price"].fill(text=text)]
    if is_range:
        parts += [block["to"].fill(text=search.words.to), block["price"].fill(text=more)]
    elif is_less:
        parts.append(block["was"].fill(text=more))
    return joined(parts)


def _rows(search: Search, random: SeededRandom) -> list[str]:
    """Way to buy, delivery, location, and now and then returns."""
    said = search.words
    ways = (said.buy_now, said.best_offer, said.bids.format(random.number(2, 40)))
    cost = said.delivery.format(search.money(random.number(199, 4000)))
    rows = [
        random.choice(ways),
        said.free_delivery if random.chance(3) else cost,
        said.located.format(random.choice(said.places)),
    ]
    return [*rows, said.returns] if random.chance(4) else rows


def _seller(search: Search, random: SeededRandom) -> dict[str, str]:
    percent = f"{random.number(901, 999) / 10}"
    count = f"{random.number(1, 99)}.{random.number(1, 9)}K"
    if search.words.lang != "en":
        percent, count = percent.replace(".", ","), count.replace(".", ",")
    return {"name": random.choice(SELLERS), "feedback": search.words.feedback.format(percent, count)}


def _item_id(search: Search, index: int) -> str:
    return f"{search.random('item', index).number(10**8, 10**9 - 1)}{index:03}"


def _title(search: Search, index: int) -> str:
    """A title with the terms in it; those that match fewer words have only the first."""
    topic = search.topic if index <= RESULTS else search.topic.split()[0]
    return f"{search.random('title', index).choice(TITLES).format(topic=topic)} #{index + 1}"
