"""The two kinds of HTML page of the sandbox's web: invented articles and small pages."""

from collections.abc import Iterator
from dataclasses import dataclass

from webdata.sandbox.exchange import HTML, Handler, Headers, Reply, SandboxRequest
from webdata.sandbox.invention import PUBLISHERS, SeededRandom, slug
from webdata.sandbox.templates import Html, blocks

TEMPLATE = "url.html"
GENERIC_NAMES = ("article", "index", "page", "html", "htm", "php")
"""File names that do not describe a page."""


@dataclass(frozen=True)
class Trial:
    """A page that tests clients: its path on the example hosts, a description of one line, and its handler."""

    path: str
    description: str
    answer: Handler


def article(request: SandboxRequest) -> Reply:
    """An article with headings, lists, a table, code, a picture and a footnote, amid navigation and scripts."""
    return Reply(200, HTML, article_markup(request.url).encode())


def article_markup(url: str) -> str:
    """The HTML of the article at a URL."""
    random = SeededRandom("article", url)
    publisher, _ = random.choice(PUBLISHERS)
    topic = next(_topics(url))
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


def constant(reply: Reply) -> Handler:
    """A handler with the same reply for every request."""
    return lambda _: reply


def _topics(url: str) -> Iterator[str]:
    """Possible topics of a page: the readable segments of its path from the last to the first, then its host."""
    host, _, path = url.partition("://")[2].partition("?")[0].partition("/")
    for segment in reversed(path.split("/")):
        name = segment.rpartition(".")[0] or segment
        text = " ".join(name.replace("-", " ").replace("_", " ").split())
        if text.isascii() and text.replace(" ", "").isalnum() and text.lower() not in GENERIC_NAMES:
            yield text
    yield host
