"""A page of Google's results: which parts it has and what is in them, decided by the query alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote_plus

from webdata.sandbox.invention import PLACES, PUBLISHERS, QUESTIONS, REFINEMENTS, STREETS, TITLES, SeededRandom, slug
from webdata.sandbox.templates import Block, Html, blocks, joined

RESULTS = 30
"""How many there are to any query."""
RESULTS_A_PAGE = 10
KEPT_PAGES = 64

IMAGE = "https://images.example.com/{id}.jpg"
TOPIC_CHARACTERS = 60
NOTHING = Html("")


@dataclass(frozen=True)
class Search:
    """What was asked of Google."""

    q: str
    start: int = 0
    count: int = RESULTS_A_PAGE
    hl: str = "en"
    gl: str = "us"
    mobile: bool = False
    known: bool = True
    """Whether the layout is one that exists."""

    @property
    def topic(self) -> str:
        """The terms, short enough for a title."""
        return self.q.strip()[:TOPIC_CHARACTERS]

    @property
    def block(self) -> Mapping[str, Block]:
        return blocks("google_web_mobile.html" if self.mobile else "google_web_desktop.html")

    def random(self, *key: object) -> SeededRandom:
        return SeededRandom(self.q, self.gl, self.hl, *key)

    def has(self, part: str, one_in: int) -> bool:
        """Whether this query's first page shows a part."""
        return self.start == 0 and self.random("has", part).chance(one_in)


@lru_cache(maxsize=KEPT_PAGES)
def page(search: Search) -> bytes:
    """The whole page. The same search always gives the same bytes."""
    return whole(search, _mobile_page if search.mobile else _desktop_page)


def whole(search: Search, results: Callable[[Search], Html]) -> bytes:
    """The page that `results` makes; past their end, or for a layout that nobody knows, another."""
    make = _empty_page if search.start >= RESULTS else results if search.known else _unknown_page
    return make(search).encode("utf-8", "replace")


def _desktop_page(search: Search) -> Html:
    main = search.block["main"].fill(parts=joined(_column(search)))
    top = joined([_shopping(search), _ads(search, "tads")])
    below = _related(search, _pages(search))
    bottom = _ads(search, "tadsb")
    return frame(search, stats=_stats(search), top=top, main=main, bottom=bottom, below=below, aside=_panel(search))


def _mobile_page(search: Search) -> Html:
    results = _results(search)
    main = joined([*results[:3], _questions(search), *results[3:]])
    return frame(search, top=_ads(search, "tads"), main=main, bottom=_ads(search, "tadsb"), below=_related(search))


def _empty_page(search: Search) -> Html:
    place = "notice" if search.mobile else "below"
    return frame(search, **{place: search.block["empty"].fill(q=search.q)})


def _unknown_page(search: Search) -> Html:
    cards = [search.block["layout_result"].fill(**_organic(search, rank)) for rank in ranks(search)]
    return frame(search, main=search.block["layout"].fill(parts=joined(cards)))


def frame(search: Search, **parts: Html) -> Html:
    """The page around its parts; those that are not given are left empty."""
    empty = dict.fromkeys(("stats", "top", "notice", "main", "bottom", "below", "aside"), NOTHING)
    return search.block["page"].fill(q=search.q, hl=search.hl, **empty | parts)


def _column(search: Search) -> list[Html]:
    """The main column: results, with other things between them."""
    results = _results(search)
    return [_places(search), *results[:3], _questions(search), *results[3:6], _stories(search), *results[6:]]


def ranks(search: Search) -> range:
    """The ranks of the results on the page that was asked for."""
    return range(search.start + 1, min(search.start + search.count, RESULTS) + 1)


def _results(search: Search) -> list[Html]:
    return [search.block["result"].fill(**_organic(search, rank), **_extras(search, rank)) for rank in ranks(search)]


def _organic(search: Search, rank: int) -> dict[str, str | int]:
    random = search.random("result", rank)
    source, host = random.choice(PUBLISHERS)
    return {
        "rank": rank,
        "id": f"ih6Jnb_{random.number(10**8, 10**9)}",
        "hl": search.hl,
        "link": f"https://{host}/{slug(search.q)}/{rank}",
        "title": f"{random.choice(TITLES).format(topic=search.topic)} - {source}",
        "source": source,
        "host": host,
        "crumb": "guides",
        "snippet": random.sentences(search.topic, 2),
    }


def _extras(search: Search, rank: int) -> dict[str, Html]:
    random = search.random("extras", rank)
    date = search.block["date"].fill(date=random.date()) if random.chance(3) else NOTHING
    rating = _rating(search, random) if random.chance(4) else NOTHING
    sitelinks = _sitelinks(search, rank) if rank == 1 and random.chance(2) else NOTHING
    return {"date": date, "more": joined([rating, sitelinks])}


def _rating(search: Search, random: SeededRandom) -> Html:
    return search.block["rating"].fill(rating=random.rating(), reviews=random.number(2, 900))


def _sitelinks(search: Search, rank: int) -> Html:
    link = _organic(search, rank)["link"]
    return search.block["sitelinks"].fill(links=_links(search, str(link), ("Prices", "Opening hours", "Contact")))


def _links(search: Search, link: str, titles: tuple[str, ...]) -> Html:
    link_block = search.block["sitelink"]
    links = [link_block.fill(link=f"{link}/{slug(title)}", title=title) for title in titles]
    return Html(" · ".join(links))


def _stats(search: Search) -> Html:
    random = search.random("stats")
    return search.block["stats"].fill(
        total=f"{random.number(1_000, 900_000) * 1000:,}", hundredths=random.number(11, 89)
    )


def _ads(search: Search, area: str) -> Html:
    if not search.has(area, 2):
        return NOTHING
    ads = [_ad(search, area, rank) for rank in range(1, search.random(area).number(1, 3) + 1)]
    return search.block["ads"].fill(id=area, parts=joined(ads))


def _ad(search: Search, area: str, rank: int) -> Html:
    random = search.random(area, rank)
    source, host = random.choice(PUBLISHERS)
    link = f"https://{host}/offers/{slug(search.q)}-{area}-{rank}"
    title = f"{source} | {search.topic} from {random.price()}"
    links = _links(search, link, ("Today's Offers", "All Shops")) if random.chance(2) else NOTHING
    snippet = random.sentences(search.topic, 2)
    return search.block["ad"].fill(
        rank=rank, link=link, title=title, source=source, host=host, snippet=snippet, links=links
    )


def _shopping(search: Search) -> Html:
    if not search.has("shopping", 3):
        return NOTHING
    units = [_product(search, rank) for rank in range(1, search.random("shopping").number(4, 8) + 1)]
    return search.block["shopping"].fill(parts=joined(units))


def _product(search: Search, rank: int) -> Html:
    random = search.random("product", rank)
    source, host = random.choice(PUBLISHERS)
    return search.block["product"].fill(
        title=f"{search.topic}, model {random.number(100, 999)}",
        link=f"https://{host}/shop/{slug(search.q)}-{rank}",
        price=random.price(),
        source=source,
        image=IMAGE.format(id=f"product-{random.number(1, 9999)}"),
        rating=random.rating(),
        reviews=random.number(2, 900),
    )


def _questions(search: Search) -> Html:
    if not search.has("questions", 2):
        return NOTHING
    asked = [text.format(topic=search.topic) for text in search.random("questions").sample(QUESTIONS, 4)]
    parts = joined(search.block["question"].fill(question=question) for question in asked)
    return search.block["questions"].fill(parts=parts)


def _stories(search: Search) -> Html:
    if not search.has("stories", 3):
        return NOTHING
    return search.block["stories"].fill(parts=joined(_story(search, rank) for rank in range(1, 4)))


def _story(search: Search, rank: int) -> Html:
    random = search.random("story", rank)
    source, host = random.choice(PUBLISHERS)
    return search.block["story"].fill(
        link=f"https://{host}/news/{slug(search.q)}-{rank}",
        title=f"{search.topic}: {random.sentences(search.topic, 1)}",
        source=source,
        date=f"{random.number(2, 23)} hours ago",
        image=IMAGE.format(id=f"story-{random.number(1, 9999)}"),
    )


def _places(search: Search) -> Html:
    if not search.has("places", 3):
        return NOTHING
    names = search.random("places").sample(PLACES, 3)
    return search.block["pack"].fill(parts=joined(_place(search, name) for name in names))


def _place(search: Search, name: str) -> Html:
    random = search.random("place", name)
    return search.block["place"].fill(
        name=f"{name} {search.topic}",
        cid=random.number(10**8, 10**9),
        slug=quote_plus(search.q),
        rating=random.rating(),
        reviews=f"{random.number(3, 4000):,}",
        price_level="$" * random.number(1, 3),
        category="Shop",
        address=f"{random.number(1, 180)} {random.choice(STREETS)}",
        phone=f"(555) 555-01{random.number(0, 99):02}",
        status=f"Open · Closes {random.number(5, 11)} PM",
        website=f"https://{slug(name)}.example/",
    )


def _panel(search: Search) -> Html:
    if not search.has("panel", 3):
        return NOTHING
    random = search.random("panel")
    source, host = random.choice(PUBLISHERS)
    return search.block["panel"].fill(
        title=search.topic,
        kind="Invented thing",
        description=random.sentences(search.topic, 2),
        source=source,
        source_link=f"https://{host}/about/{slug(search.q)}",
        facts=joined(_facts(search, random)),
        profiles=joined(_profiles(search)),
    )


def _facts(search: Search, random: SeededRandom) -> list[Html]:
    facts = {
        "founded": ("Founded", random.date()),
        "founder": ("Founder", "Ada Example"),
        "seat": ("Headquarters", f"{random.choice(STREETS)}, Exampleton"),
    }
    return [search.block["fact"].fill(key=key, label=label, text=text) for key, (label, text) in facts.items()]


def _profiles(search: Search) -> list[Html]:
    hosts = {"Example Social": "social.example.com", "Example Video": "video.example.net"}
    return [
        search.block["profile"].fill(link=f"https://{host}/{slug(search.q)}", name=name) for name, host in hosts.items()
    ]


def _related(search: Search, pages: Html = NOTHING) -> Html:
    words = search.random("related").sample(REFINEMENTS, 8)
    refinement = search.block["refinement"]
    parts = joined(
        refinement.fill(q=search.topic, word=word, link=quote_plus(f"{search.topic} {word}")) for word in words
    )
    return search.block["related"].fill(parts=parts, pages=pages)


def _pages(search: Search) -> Html:
    cells = []
    for number, start in enumerate(range(0, RESULTS, RESULTS_A_PAGE), 1):
        here = start <= search.start < start + RESULTS_A_PAGE
        block = search.block["page_here" if here else "page_link"]
        cells.append(block.fill(number=number, start=start, link=quote_plus(search.q)))
    return search.block["pages"].fill(parts=joined(cells))
