"""The web: an invented page for every host that no other site serves.

The example hosts of RFC 2606 (`example.com`, `example.org`, `example.net` and their subdomains, `*.example`, `*.test`)
serve the trials, pages with which callers can test what they do about failures; http://example.com/ lists them. Any
other path or host is an article that states that it is invented. IP addresses and names without a dot have no site.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from importlib.resources import files

from webdata.runtime.wire.exchange import (
    HTML,
    Handler,
    Headers,
    SandboxRequest,
    SiteReply,
    constant,
    json_reply,
    redirect,
)
from webdata.sandbox.invention import PUBLISHERS, SeededRandom
from webdata.sandbox.templates import html, render

HOSTS = ("*.*[a-z]",)

EXAMPLES = re.compile(r"(?:.+\.)?(?:example\.(?:com|org|net)|example|test)")
INDEXES = re.compile(r"(?:www\.)?example\.(?:com|org|net)")
TEMPLATE = "sites/url"
GENERIC_NAMES = ("article", "index", "page", "html", "htm", "php")
"""File names that do not describe a page."""
HEADLINES = ("{topic}, seen from afar", "The truth about {topic}", "{topic} at a glance")

STATUSES = (
    201, 203, 206, 400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 418, 421, 429, 451, 500, 502, 503, 504, 520,
)  # fmt: skip
BODILESS = (204, 205, 304)
DELAYS = (1, 2, 3, 5, 10, 30, 60)
REDIRECTS = (301, 302, 303, 307, 308)
MAX_HOPS = 12
"""Redirects of the longest chain; clients follow ten or twenty."""
HUGE_BYTES = 25 * 1024 * 1024
PROTECTED: dict[str, tuple[str, Headers]] = {
    "cloudflare": ("Cloudflare's challenge", (("Server", "cloudflare"), ("cf-mitigated", "challenge"))),
    "cloudflare-denial": ("Cloudflare's refusal", (("Server", "cloudflare"), ("cf-ray", "5a4db0c5a4db0c5a-AMS"))),
    "datadome": ("DataDome's captcha", (("x-datadome", "protected"), ("x-dd-b", "1"))),
    "akamai": ("Akamai's refusal", (("Server", "AkamaiGHost"),)),
}
"""Firewalls' block pages: a description and the headers."""
FILES = {
    "paper.pdf": ("application/pdf", "a PDF"),
    "report.docx": ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "a document of Word"),
    "product.html": ("text/html; charset=utf-8", "a product with structured facts"),
    "picture.png": ("image/png", "a picture"),
    "archive.zip": ("application/zip", "an empty archive"),
    "drawing.svg": ("image/svg+xml", "a drawing in SVG"),
    "data.json": ("application/json", "JSON"),
    "table.csv": ("text/csv; charset=utf-8", "CSV"),
    "inventory.xml": ("application/xml", "XML"),
    "news.rss": ("application/rss+xml", "an RSS feed"),
    "notes.txt": ("text/plain; charset=utf-8", "plain text"),
    "readme.md": ("text/markdown", "Markdown"),
}
"""In the folder `url_files`: the Content-Type and a description."""


@dataclass(frozen=True)
class Trial:
    """A page that tests clients: its path on the example hosts, a description of one line, and its handler."""

    path: str
    description: str
    answer: Handler


def answer(request: SandboxRequest) -> SiteReply:
    """The trial at the path, the index, or an article."""
    if not EXAMPLES.fullmatch(request.host):
        return article(request)
    if request.path == "/" and INDEXES.fullmatch(request.host):
        return html(TEMPLATE, "index", trials=TRIALS)
    return BY_PATH.get(request.path, article)(request)


def article(request: SandboxRequest) -> SiteReply:
    """An article with headings, lists, a table, code, a picture and a footnote, amid navigation and scripts."""
    url = request.url
    random, topic = SeededRandom("article", url), next(_topics(url))
    publisher, _ = random.choice(PUBLISHERS)
    return html(
        TEMPLATE,
        "article",
        url=url,
        base=url.partition("?")[0].rpartition("/")[0] + "/files/",
        publisher=publisher,
        topic=topic,
        title=random.choice(HEADLINES).format(topic=topic),
        texts=[random.sentences(topic, count) for count in (3, 2, 3, 1)],
        visitors=[f"{random.number(1000, 90_000):,}" for _ in range(2)],
        prices=[random.price() for _ in range(2)],
    )


def _topics(url: str) -> Iterator[str]:
    """Possible topics of a page: the readable segments of its path from the last to the first, then its host."""
    host, _, path = url.partition("://")[2].partition("?")[0].partition("/")
    for segment in reversed(path.split("/")):
        name = segment.rpartition(".")[0] or segment
        text = " ".join(name.replace("-", " ").replace("_", " ").split())
        if text.isascii() and text.replace(" ", "").isalnum() and text.lower() not in GENERIC_NAMES:
            yield text
    yield host


def small_page(title: str, text: str) -> bytes:
    """A page with a heading and a line of text, in UTF-8."""
    return render(TEMPLATE, "small", title=title, text=text)


def _status(code: int) -> SiteReply:
    name = next((status.phrase for status in HTTPStatus if status == code), "Unknown")
    return SiteReply(code, HTML, small_page(f"{code} {name}", "The page is what the status says."))


def _late(seconds: int, request: SandboxRequest) -> SiteReply:
    return SiteReply(200, HTML, article(request).body, delay=seconds)


def _halved(request: SandboxRequest) -> SiteReply:
    """Half of the body that Content-Length announces."""
    body = article(request).body
    return SiteReply(200, HTML, body, cut=len(body) // 2)


def echo(request: SandboxRequest) -> SiteReply:
    """What was sent, as JSON."""
    sent = {"method": request.method, "headers": dict(request.headers), "body": request.body.decode("utf-8", "replace")}
    return json_reply(sent)


def _huge(_request: SandboxRequest) -> SiteReply:
    """A page most of which is white space."""
    return SiteReply(200, HTML, small_page("Large", "A large page.").ljust(HUGE_BYTES))


def _chain(status: int, hops: int, _request: SandboxRequest) -> SiteReply:
    """The redirect with so many hops to the article."""
    return redirect(f"/redirect/{status}/{hops - 1}" if hops > 1 else "/article", status)


def _protected(name: str, request: SandboxRequest) -> SiteReply:
    """A firewall's block page."""
    return html(TEMPLATE, name.replace("-", "_"), 403, (*HTML, *PROTECTED[name][1]), host=request.host)


def file(name: str, _request: SandboxRequest) -> SiteReply:
    """A file with its Content-Type."""
    return SiteReply(
        200, (("Content-Type", FILES[name][0]),), files(__package__).joinpath("url_files", name).read_bytes()
    )


TRIALS = (
    Trial("/article", "an article with headings, lists, a table, code, a picture, a note, and all around it", article),
    *(Trial(f"/status/{code}", f"a page with status {code}", constant(_status(code))) for code in STATUSES),
    *(
        Trial(f"/status/{code}", f"status {code}, which has no body", constant(SiteReply(code, ())))
        for code in BODILESS
    ),
    *(
        Trial(f"/redirect/{status}/{hops}", f"{status}, {hops} hops", partial(_chain, status, hops))
        for status in REDIRECTS
        for hops in range(1, MAX_HOPS + 1)
    ),
    Trial("/redirect/loop/a", "two addresses that lead to each other", constant(redirect("/redirect/loop/b"))),
    Trial("/redirect/loop/b", "the other one of the two", constant(redirect("/redirect/loop/a"))),
    *(Trial(f"/slow/{seconds}", f"the article, after {seconds} s", partial(_late, seconds)) for seconds in DELAYS),
    Trial("/reset", "the connection breaks before the first byte", constant(SiteReply(reset=True))),
    Trial("/echo", "the method, the headers and the body that were sent, as JSON", echo),
    Trial("/truncated", "half of what Content-Length says", _halved),
    Trial("/empty", "200 without a body", constant(SiteReply())),
    Trial("/huge", "a page of 25 MB", _huge),
    *(Trial(f"/file/{name}", text, partial(file, name)) for name, (_, text) in FILES.items()),
    *(Trial(f"/challenge/{name}", text, partial(_protected, name)) for name, (text, _) in PROTECTED.items()),
)
BY_PATH = {trial.path: trial.answer for trial in TRIALS}
