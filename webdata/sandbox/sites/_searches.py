"""What the sites with a search share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from webdata.runtime.wire.exchange import Handler, SandboxRequest, SiteReply, redirect
from webdata.sandbox.invention import PUBLISHERS, SeededRandom, slug
from webdata.sandbox.scenarios import apply_scenarios

CACHED_PAGES = 64
"""How many pages of a site are cached."""
TOPIC_CHARACTERS = 60
WRONG_METHOD = "The request method is inappropriate for this address."
IMAGE = "https://images.example.com/{id}.jpg"

Data = dict[str, Any]


@dataclass(frozen=True)
class Search:
    """The parameters of one page of results, which is invented from them alone."""

    q: str

    @property
    def topic(self) -> str:
        """The terms, short enough for a title."""
        return self.q.strip()[:TOPIC_CHARACTERS]

    @property
    def market(self) -> tuple[object, ...]:
        """The parameters besides the terms that results depend on."""
        return ()

    def random(self, *key: object) -> SeededRandom:
        return SeededRandom(self.q, *self.market, *key)


@dataclass(frozen=True)
class WebSearch(Search):
    """The parameters of one page of a search engine, and what such a page may have."""

    mobile: bool = False

    @property
    def is_first_page(self) -> bool:
        return True

    def has(self, part: str, one_in: int) -> bool:
        """Whether the page is the first one of a query and has a part; one query in `one_in` has it."""
        return self.is_first_page and self.random("has", part).chance(one_in)

    def result(self, rank: int) -> Data:
        random = self.random("result", rank)
        source, host = random.choice(PUBLISHERS)
        return {
            "rank": rank,
            "link": f"https://{host}/{slug(self.q)}/{rank}",
            "title": f"{random.title(self.topic)} - {source}",
            "source": source,
            "host": host,
            "snippet": random.sentences(self.topic, 2),
            "date": random.date() if random.chance(3) else "",
        }

    def ads(self, area: str) -> list[Data]:
        """The ads of an area of the page, which every other first page has."""
        count = self.random(area).number(1, 3) if self.has(area, 2) else 0
        return [self._ad(area, rank) for rank in range(1, count + 1)]

    def _ad(self, area: str, rank: int) -> Data:
        random = self.random(area, rank)
        source, host = random.choice(PUBLISHERS)
        return {
            "link": f"https://{host}/offers/{slug(self.q)}-{area}-{rank}",
            "title": f"{source} | {self.topic} from {random.price()}",
            "source": source,
            "host": host,
            "has_links": random.chance(2),
            "snippet": random.sentences(self.topic, 2),
        }

    def products(self) -> list[Data]:
        """The products of the shopping ads, which one first page in three has."""
        count = self.random("shopping").number(4, 8) if self.has("shopping", 3) else 0
        return [self._product(rank) for rank in range(1, count + 1)]

    def _product(self, rank: int) -> Data:
        random = self.random("product", rank)
        source, host = random.choice(PUBLISHERS)
        return {
            "name": self.topic,
            "model": f"model {random.number(100, 999)}",
            "link": f"https://{host}/shop/{slug(self.q)}-{rank}",
            "price": random.price(),
            "source": source,
            "image": IMAGE.format(id=f"product-{random.number(1, 9999)}"),
            "rating": random.rating(),
            "reviews": random.number(2, 900),
        }


def answer_search(
    request: SandboxRequest,
    terms: str,
    page: Handler,
    pages: Mapping[str, Handler],
    error: Callable[[HTTPStatus, str], SiteReply],
) -> SiteReply:
    """The reply of `page` under the scenarios in the terms; the home page without terms, an error for other methods."""
    if request.method not in ("GET", "HEAD"):
        return error(HTTPStatus.METHOD_NOT_ALLOWED, WRONG_METHOD)
    if not terms.strip():
        return redirect(f"{request.scheme}://{request.host}/")
    return apply_scenarios(request, terms, page, pages)


def whole_number(text: str, default: int = 0) -> int:
    """A whole number in a query; the default for any other text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default


def is_mobile(request: SandboxRequest) -> bool:
    """Whether the client is a browser of a phone."""
    return "Mobi" in request.headers.get("user-agent", "")
