"""Pages of the sandbox's web: invented articles, and small pages that say what they are."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from webdata.sandbox.exchange import HTML, Headers, Reply, SandboxRequest
from webdata.sandbox.invention import PUBLISHERS, SeededRandom, slug
from webdata.sandbox.templates import Html, blocks

TEMPLATE = "url.html"
TITLE = ("article", "index", "page", "html", "htm", "php")
"""Words of an address that say nothing of a page."""

Answer = Callable[[SandboxRequest], Reply]


@dataclass(frozen=True)
class Trial:
    """A test page: its path on the example hosts, a description of one line, and its handler."""

    path: str
    description: str
    answer: Answer


def article(request: SandboxRequest) -> Reply:
    """A whole page with a title, headings, a table, code and a note, and with all that stands around."""
    return Reply(200, HTML, article_markup(request.url).encode())


def article_markup(url: str) -> str:
    """The invented page of an address."""
    random = SeededRandom("article", url)
    publisher, _ = random.choice(PUBLISHERS)
    topic = _topic(url)
    return blocks(TEMPLATE)["article"].fill(
        url=url,
        base=url.partition("?")[0].rpartition("/")[0] + "/files/",
        publisher=publisher,
        topic=topic,
        title=random.choice(("{topic}, seen from afar", "The truth about {topic}", "{topic} at a glance")).format(
            topic=topic
        ),
        opening=random.sentences(topic, 3),
        first=random.sentences(topic, 2),
        second=random.sentences(topic, 3),
        quoted=random.sentences(topic, 1),
        visitors=f"{random.number(1000, 90_000):,}",
        more_visitors=f"{random.number(1000, 90_000):,}",
        price=random.price(),
        other_price=random.price(),
        picture=slug(topic),
    )


def small_page(title: str, text: str, *, head: Html = Html(""), more: Html = Html("")) -> bytes:  # noqa: B008 - immutable
    """A page with a heading and a line of text, in UTF-8."""
    return blocks(TEMPLATE)["line"].fill(title=title, text=text, head=head, more=more).encode()


def small_reply(status: int, title: str, text: str, headers: Headers = HTML) -> Reply:
    """A reply with a small page as its body."""
    return Reply(status, headers, small_page(title, text))


def constant(reply: Reply) -> Answer:
    """A handler with the same reply for every request."""
    return lambda _: reply


def _topic(url: str) -> str:
    """What a page may be about, from its address."""
    return next(_words(url.partition("://")[2].partition("?")[0]), "an example")


def _words(address: str) -> Iterator[str]:
    host, _, path = address.partition("/")
    for part in reversed(path.split("/")):
        words = part.rpartition(".")[0] or part
        text = " ".join(words.replace("-", " ").replace("_", " ").split())
        if text.isascii() and text.replace(" ", "").isalnum() and text.lower() not in TITLE:
            yield text
    yield host
