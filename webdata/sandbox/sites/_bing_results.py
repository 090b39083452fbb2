"""A page of Bing's results: which parts it has and what is in them, decided by the query alone."""

import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote, quote_plus

from webdata.sandbox.invention import PUBLISHERS, REFINEMENTS, TITLES, SeededRandom, slug
from webdata.sandbox.templates import Block, Html, blocks, joined

RESULTS = 34
"""How many there are to any query."""
RESULTS_A_PAGE = 10
MOST_A_PAGE = 50
KEPT_PAGES = 64

BING = "https://www.bing.com"
IMAGE = "https://images.example.com/{id}.jpg"
TOPIC_CHARACTERS = 60
NOTHING = Html("")
DECOYS = (
    "{word} - dictionary entry",
    "What does “{word}” mean?",
    "{word}: meaning and use",
    "“{word}” in a sentence",
    "How “{word}” is spelt",
)
"""Titles of results that answer the first word of a query and nothing else."""


@dataclass(frozen=True)
class Search:
    """What was asked of Bing."""

    q: str
    first: int = 1
    count: int = RESULTS_A_PAGE
    mkt: str = "en-US"
    country: str = "US"
    """Where the reader is."""
    mobile: bool = False

    @property
    def topic(self) -> str:
        """The terms, short enough for a title."""
        return self.q.strip()[:TOPIC_CHARACTERS]

    @property
    def word(self) -> str:
        """The first word of the terms."""
        found = re.search(r"\w+", self.q)
        return found.group()[:TOPIC_CHARACTERS] if found else self.topic

    @property
    def start(self) -> int:
        """Where the page begins: beyond the end Bing sends the first one again."""
        return self.first if self.first <= RESULTS else 1

    @property
    def block(self) -> Mapping[str, Block]:
        return blocks("bing_web.html")

    def random(self, *key: object) -> SeededRandom:
        return SeededRandom(self.q, self.mkt, *key)

    def has(self, part: str, one_in: int) -> bool:
        """Whether this query's first page shows a part."""
        return self.start == 1 and self.random("has", part).chance(one_in)


@lru_cache(maxsize=KEPT_PAGES)
def page(search: Search) -> bytes:
    """The page of results. The same search always gives the same bytes."""
    results = _results(search)
    column = [_top(search), *results[:3], _videos(search), *results[3:], _bottom(search), _related(search)]
    aside = search.block["aside"].fill(q=search.topic, text=search.random("aside").sentences(search.topic, 2))
    return _frame(
        search,
        stats=_stats(search),
        column=joined([*column, _pages(search)]),
        aside=aside if search.has("aside", 3) and not search.mobile else NOTHING,
    )


def empty_page(search: Search) -> bytes:
    """The page that says that nothing was found, whether that is true or not."""
    return _frame(search, column=search.block["nothing"].fill(q=search.q))


def degraded_page(search: Search) -> bytes:
    """Results in the right shape that answer the first word alone."""
    results = [search.block["result"].fill(**_decoy(search, rank)) for rank in range(1, RESULTS_A_PAGE + 1)]
    return _frame(search, stats=search.block["stats"].fill(text="About 89 results"), column=joined(results))


def unknown_page(search: Search) -> bytes:
    """Results in a shape that no parser knows."""
    cards = [search.block["unknown_result"].fill(**_organic(search, rank)) for rank in _ranks(search)]
    return _frame(search, column=search.block["unknown"].fill(parts=joined(cards)))


def _frame(search: Search, **parts: Html) -> bytes:
    """The page around its parts; those that are not given are left empty."""
    empty = dict.fromkeys(("stats", "column", "aside"), NOTHING)
    region, lang = search.mkt.rpartition("-")[2], search.mkt.partition("-")[0]
    markup = search.block["page"].fill(
        q=search.q, lang=lang, region=region, mkt=search.mkt, country=search.country.lower(), **empty | parts
    )
    return markup.encode("utf-8", "replace")


def _ranks(search: Search) -> range:
    return range(search.start, min(search.start + search.count, RESULTS + 1))


def _results(search: Search) -> list[Html]:
    block = search.block["mobile_result" if search.mobile else "result"]
    return [block.fill(**_organic(search, rank)) for rank in _ranks(search)]


def _organic(search: Search, rank: int) -> dict[str, str | int]:
    random = search.random("result", rank)
    source, host = random.choice(PUBLISHERS)
    return {
        "rank": 5100 + rank,
        "link": _tracked(f"https://{host}/{slug(search.q)}/{rank}"),
        "title": f"{random.choice(TITLES).format(topic=search.topic)} - {source}",
        "source": source,
        "host": host,
        "crumb": "guides",
        "snippet": random.sentences(search.topic, 2),
        "date": search.block["date"].fill(date=random.date()) if random.chance(3) else NOTHING,
    }


def _decoy(search: Search, rank: int) -> dict[str, str | int]:
    random = search.random("decoy", rank)
    return {
        **_organic(search, rank),
        "link": _tracked(f"https://words.example.net/{slug(search.word)}/{rank}"),
        "title": random.choice(DECOYS).format(word=search.word),
        "source": "Word List",
        "host": "words.example.net",
        "crumb": "entry",
        "snippet": f"“{search.word}” is a word with {len(search.word)} letters, and this is all there is to say.",
        "date": NOTHING,
    }


def _tracked(link: str) -> str:
    """The link over Bing's redirect."""
    encoded = urlsafe_b64encode(link.encode()).decode().rstrip("=")
    return f"{BING}/ck/a?!&&p=inventedJmltdHM9MTc2NzIyNTYwMA&ptn=3&ver=2&hsh=4&u=a1{encoded}&ntb=1"


def _paid(link: str) -> str:
    """The link over the tracker of ads."""
    return f"{BING}/aclk?ld=e8invented&u={quote_plus(b64encode(quote(link, safe='').encode()).decode())}"


def _stats(search: Search) -> Html:
    last = _ranks(search)[-1]
    text = f"About {RESULTS} results" if search.start == 1 else f"{search.start}-{last} of {RESULTS} results"
    return search.block["stats"].fill(text=text)


def _top(search: Search) -> Html:
    parts = joined([_shopping(search), _ads(search, "top")])
    return search.block["ads"].fill(area="", parts=parts) if parts else NOTHING


def _bottom(search: Search) -> Html:
    parts = _ads(search, "bottom")
    return search.block["ads"].fill(area=" b_adBottom", parts=parts) if parts else NOTHING


def _ads(search: Search, area: str) -> Html:
    if not search.has(area, 2):
        return NOTHING
    return joined(_ad(search, area, rank) for rank in range(1, search.random(area).number(1, 3) + 1))


def _ad(search: Search, area: str, rank: int) -> Html:
    random = search.random(area, rank)
    source, host = random.choice(PUBLISHERS)
    return search.block["ad"].fill(
        rank=5500 + rank,
        link=_paid(f"https://{host}/offers/{slug(search.q)}-{area}-{rank}"),
        title=f"{source} | {search.topic} from {random.price()}",
        host=host,
        snippet=random.sentences(search.topic, 2),
    )


def _shopping(search: Search) -> Html:
    if search.mobile or not search.has("shopping", 3):
        return NOTHING
    units = [_product(search, rank) for rank in range(1, search.random("shopping").number(4, 8) + 1)]
    return search.block["shopping"].fill(q=search.topic, search=quote_plus(search.q), parts=joined(units))


def _product(search: Search, rank: int) -> Html:
    random = search.random("product", rank)
    source, host = random.choice(PUBLISHERS)
    start, rest = f"{search.topic}, ", f"model {random.number(100, 999)}"
    return search.block["product"].fill(
        title=f"{start}{rest}",
        start=start,
        rest=rest,
        link=_paid(f"https://{host}/shop/{slug(search.q)}-{rank}"),
        price=random.price(),
        source=source,
        image=IMAGE.format(id=f"product-{random.number(1, 9999)}"),
    )


def _videos(search: Search) -> Html:
    if not search.has("videos", 2):
        return NOTHING
    return search.block["videos"].fill(q=search.topic, search=quote_plus(search.q))


def _related(search: Search) -> Html:
    words = search.random("related").sample(REFINEMENTS, 6)
    texts = [f"{search.topic} {word}" for word in words]
    parts = joined(search.block["refinement"].fill(text=text, search=quote_plus(text)) for text in texts)
    return search.block["related"].fill(q=search.topic, parts=parts)


def _pages(search: Search) -> Html:
    cells = []
    for number, first in enumerate(range(1, RESULTS + 1, RESULTS_A_PAGE), 1):
        here = first <= search.start < first + RESULTS_A_PAGE
        block = search.block["page_here" if here else "page_link"]
        cells.append(block.fill(number=number, first=first, search=quote_plus(search.q)))
    return search.block["pages"].fill(q=search.topic, parts=joined(cells))
