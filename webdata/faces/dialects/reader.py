"""The API of Jina Reader, https://github.com/jina-ai/reader: a page for a language model, its URL in the path."""

import re
from base64 import b64decode
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Annotated, Any
from urllib.parse import unquote

from pydantic import Field

from webdata.domain.errors import QueryError
from webdata.domain.query import Query, unpack
from webdata.faces.api.doors import Door, DoorRoute, RouteContract
from webdata.faces.api.params import URL_ENCODED, check_encoding, media_type, members
from webdata.faces.api.problems import ProblemDetails
from webdata.faces.dialects.calls import CallOf, DialectCalls, MadeCall, answered, form_text, refused, wrong
from webdata.faces.dialects.pages import PAGES, data_url, facts_of, not_honoured, page_call
from webdata.resources import Resource
from webdata.runtime.server.incoming import Incoming
from webdata.runtime.server.replies import JSON, Reply

PREFIX = "reader"
CONTENT: Mapping[str, Any] = {"formats": ["markdown", "metadata"], "content": "main"}
OF_FORMAT = ("X-Respond-With", "X-Return-Format")
"""The headers for the form of a page; the first that is there counts."""
FORMATS: Mapping[str, Mapping[str, Any]] = {
    "": CONTENT,
    "content": CONTENT,
    "default": CONTENT,
    "markdown": {"formats": ["markdown", "metadata"], "content": "page"},
    "text": {"formats": ["text", "metadata"], "content": "page"},
    "html": {"formats": ["html", "metadata"]},
    "screenshot": {"formats": ["screenshot", "metadata"]},
    "pageshot": {"formats": ["screenshot", "metadata"], "screenshot_full_page": True},
}
"""The forms of a page by the value of a header of OF_FORMAT, and what they are in `/v1/request`."""
TEXTS = ("markdown", "text", "html")
FIELDS = {
    "X-Target-Selector": "include",
    "X-Remove-Selector": "exclude",
    "X-Wait-For-Selector": "wait_for",
    "X-Timeout": "timeout",
    "X-Proxy": "region",
    "X-Set-Cookie": "cookies",
}
"""Headers that set a field of the query of `/v1/request`, where it has the field."""
LISTS = ("include", "exclude")
ENGINES = {"browser": "always", "direct": "never", "curl": "never"}
"""The values of X-Engine, and those of the field `render` that they are."""
SUMMARIES = {"X-With-Links-Summary": "links", "X-With-Images-Summary": "images"}
"""Headers that ask for a list beside the content, and the format of `/v1/request` that has it."""
HEADINGS = {"images": "Images:", "links": "Links/Buttons:"}
"""The headings of the lists in a text, in their order."""
ALL = "all"
"""The value of X-With-Links-Summary for every link, also one of the same text."""
IMAGES = "X-Retain-Images"
PICTURES = ("img", "picture", "svg")
"""The elements without which a page has no images."""
UNCHANGED = ("", "auto", "default", "false", "0", "all", "atx", "inlined")
"""Values of REFUSED that ask for nothing."""
REFUSED = (
    "X-Base",
    "X-Instruction",
    "X-Json-Schema",
    "X-Keep-Img-Data-Url",
    "X-Locale",
    "X-Max-Output-Tokens",
    "X-Md-Bullet-List-Marker",
    "X-Md-Em-Delimiter",
    "X-Md-Heading-Style",
    "X-Md-Hr",
    "X-Md-Link-Reference-Style",
    "X-Md-Link-Style",
    "X-Md-Strong-Delimiter",
    "X-No-Gfm",
    "X-Proxy-Url",
    "X-Referer",
    "X-Respond-Timing",
    "X-Retain-Links",
    "X-Robots-Txt",
    "X-Token-Budget",
    "X-User-Agent",
    "X-With-Generated-Alt",
    "X-With-Iframe",
    "X-With-Shadow-Dom",
)
"""Headers of Jina Reader that change an answer, and that nothing here honours."""
SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):/+", re.IGNORECASE)
ENCODED = re.compile(r"[a-z][a-z0-9+.-]*%3A(?:/|%2F)", re.IGNORECASE)
EVENTS = "text/event-stream"
PLAIN = "text/plain; charset=utf-8"
GIVES = (PLAIN, JSON, "image/png")
ABOUT_URL = "the absolute URL of a page, such as https://example.com/"
NAMES = {field: header for header, field in FIELDS.items()} | {
    "url": "url",
    "render": "X-Engine",
    "formats": "X-Respond-With",
    "max_age": "X-Cache-Tolerance",
    "screenshot_full_page": "X-Respond-With",
}


HEADERS = {
    "X-Respond-With": f"one of {', '.join(filter(None, FORMATS))}",
    "X-No-Cache": "true to fetch the page anew",
    "X-Cache-Tolerance": "how many seconds old a cached page may be",
    **{name: f"{field} of /v1/request" for name, field in FIELDS.items()},
    "X-Engine": f"one of {', '.join(ENGINES)}: whether a browser renders the page",
    IMAGES: "none for a page without images",
    **{name: f"true for the {form} of the page, too" for name, form in SUMMARIES.items()},
}
"""Headers that choose what is answered, with what they are."""


class ReaderBody(Query):
    """The body of a request without a URL in its path."""

    url: Annotated[str, Field(description=ABOUT_URL)]


class Reader:
    """`/reader`."""

    def __init__(self, calls: DialectCalls) -> None:
        self._calls = calls

    def door(self) -> Door:
        """Its routes."""
        of_path = RouteContract(
            "a page for a language model", parameters={"url": ABOUT_URL}, headers=HEADERS, gives=GIVES
        )
        of_body = RouteContract(
            "the same, with its URL in the body",
            ReaderBody,
            {"url": "https://example.com/"},
            headers=HEADERS,
            gives=GIVES,
        )
        routes = [
            DoorRoute(f"/{PREFIX}", self._of_body),
            DoorRoute(f"/{PREFIX}/", self._of_body, contract=of_body),
            DoorRoute(f"/{PREFIX}/<path:url>", self._of_path, ("GET",), contract=of_path),
        ]
        return Door((PREFIX,), "Jina Reader", routes, refusal)

    async def _of_path(self, incoming: Incoming, url: str) -> Reply:
        query = f"?{incoming.query}" if incoming.query else ""
        return await self._page(incoming, lambda: _url_of_path(url) + query)

    async def _of_body(self, incoming: Incoming) -> Reply:
        return await self._page(incoming, lambda: _url_of(incoming))

    async def _page(self, incoming: Incoming, url: Callable[[], str]) -> Reply:
        resource = self._calls.resources[PAGES]
        try:
            call = _call(resource, incoming, url())
        except QueryError as error:
            return await self._calls.refuse(incoming, resource, error, refusal)
        made = await self._calls.one(incoming, call)
        if made.failed:
            return refused([made], refusal)
        return _json(incoming, made) if JSON in _given(incoming, "Accept").lower() else _text(incoming, made)


def _call(resource: Resource, incoming: Incoming, url: str) -> CallOf:
    """The call that the headers of a request ask for; raises QueryError for what it does not honour."""
    if EVENTS in _given(incoming, "Accept").lower():
        raise wrong("Accept", f"Accept cannot be {EVENTS}: a page comes at once, as text or {JSON}")
    for name in REFUSED:
        if _given(incoming, name).lower() not in UNCHANGED:
            raise not_honoured(name)
    values: dict[str, Any] = {"url": url, **_format(incoming), "render": _render(incoming)}
    values["formats"] = [*values["formats"], *_summaries(incoming, values["formats"])]
    for name, field in FIELDS.items():
        if value := _given(incoming, name):
            values[field] = [value] if field in LISTS else value
    if _without_images(incoming):
        values["exclude"] = [*values.get("exclude", ()), *PICTURES]
    return page_call(resource, {**values, "max_age": _most_age(resource, incoming)}, NAMES)


def _format(incoming: Incoming) -> Mapping[str, Any]:
    """The form of a page, by either of two headers."""
    sent_in = next((name for name in OF_FORMAT if _given(incoming, name)), OF_FORMAT[0])
    given = _given(incoming, sent_in)
    if given.lower() not in FORMATS:
        known = ", ".join(filter(None, FORMATS))
        raise wrong(sent_in, f"{sent_in} cannot be {given[:60]!r}: give one of {known}")
    return FORMATS[given.lower()]


def _render(incoming: Incoming) -> str | None:
    """Whether a browser renders the page; None for where it has no text without one."""
    engine = _given(incoming, "X-Engine").lower()
    if engine in UNCHANGED:
        return None
    if engine not in ENGINES:
        raise wrong("X-Engine", f"X-Engine cannot be {engine[:60]!r}: give one of {', '.join(ENGINES)}")
    return ENGINES[engine]


def _summaries(incoming: Incoming, formats: Collection[str]) -> list[str]:
    """The formats for the lists that are asked for beside Markdown."""
    asked = {name: form for name, form in SUMMARIES.items() if _given(incoming, name).lower() not in ("", "false", "0")}
    if asked and "markdown" not in formats:
        raise wrong(next(iter(asked)), f"{next(iter(asked))} is of Markdown: leave it out, or X-Respond-With")
    return list(asked.values())


def _without_images(incoming: Incoming) -> bool:
    asked = _given(incoming, IMAGES).lower()
    if asked not in ("none", *UNCHANGED):
        raise wrong(IMAGES, f"{IMAGES} cannot be {asked[:60]!r}: give all or none")
    return asked == "none"


def _most_age(resource: Resource, incoming: Incoming) -> int | None:
    """How old a cached page may be, in seconds; None for as old as any is."""
    if _given(incoming, "X-No-Cache").lower() not in ("", "false"):
        return 0
    tolerance = _given(incoming, "X-Cache-Tolerance")
    if tolerance and not tolerance.isdecimal():
        raise wrong("X-Cache-Tolerance", "X-Cache-Tolerance is a whole number of seconds, such as 60")
    return int(tolerance) if tolerance and int(tolerance) < resource.fresh_seconds else None


def _given(incoming: Incoming, name: str) -> str:
    return (incoming.header(name.lower()) or "").strip()


def _url_of_path(path: str) -> str:
    """The URL in a path: also encoded as a whole, with one slash where a server has merged two, or without a scheme."""
    url = unquote(path) if ENCODED.match(path) else path
    scheme = SCHEME.match(url)
    return f"{scheme[1]}://{url[scheme.end() :]}" if scheme else f"https://{url}"


def _url_of(incoming: Incoming) -> str:
    """The member `url` of a body, which is JSON or a form."""
    if media_type(incoming.header) == URL_ENCODED:
        form = form_text(incoming.body)
        check_encoding(form)
        given: list[tuple[str, Any]] = unpack(form)
    else:
        given = members(incoming.body, 'send a JSON object such as {"url": "https://example.com/"}')
    for name, _ in given:
        if name != "url":
            raise wrong(name[:60], f"{name[:60]} is not known here: the body has the url alone, all else is in headers")
    return str(dict(given).get("url", ""))


def _text_of(made: MadeCall) -> str:
    """The page in the form that was asked for."""
    return next(str(made.record[name]) for name in TEXTS if name in made.record)


def _lists(incoming: Incoming, made: MadeCall) -> dict[str, list[tuple[str, str]]]:
    """The lists that were asked for, as pairs of a name and an address."""
    record = made.record
    links = [(one["text"] or one["url"], one["url"]) for one in record.get("links", ())]
    pictures = enumerate(record.get("images", ()), 1)
    images = [(f"Image {number}: {one['alt']}".removesuffix(": "), one["url"]) for number, one in pictures]
    lists = {"images": images, "links": links if _every_link(incoming) else _by_name(links)}
    return {form: lists[form] for form in HEADINGS if form in record}


def _every_link(incoming: Incoming) -> bool:
    return _given(incoming, "X-With-Links-Summary").lower() == ALL


def _by_name(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Each pair once, with a name that no other has: a second address of the same name is its own name."""
    named: dict[str, str] = {}
    for name, url in pairs:
        named[name if named.get(name, url) == url else url] = url
    return list(named.items())


def _json(incoming: Incoming, made: MadeCall) -> Reply:
    published = {"publishedTime": day} if (day := _published(made)) else {}
    data = {"title": "", "description": "", **facts_of(made.record), "url": made.record["url"], **published}
    picture = made.record.get("screenshot")
    content = {"screenshotUrl": data_url(picture)} if picture else {"content": _text_of(made)}
    lists = {
        form: pairs if form == "links" and _every_link(incoming) else dict(pairs)
        for form, pairs in _lists(incoming, made).items()
    }
    return answered([made], {"code": 200, "status": 20000, "data": {**data, **content, **lists}})


def _text(incoming: Incoming, made: MadeCall) -> Reply:
    """Markdown between lines about the page and the lists that were asked for, as Jina Reader writes it.

    Plain text, HTML and pictures are alone.
    """
    if picture := made.record.get("screenshot"):
        return answered([made], b64decode(picture["data"]), picture["content_type"])
    text = _text_of(made)
    if "markdown" in made.record:
        title = facts_of(made.record).get("title", "")
        published = f"Published Time: {day}\n\n" if (day := _published(made)) else ""
        text = f"Title: {title}\n\nURL Source: {made.record['url']}\n\n{published}Markdown Content:\n{text}"
        text += "".join(_list(form, pairs) for form, pairs in _lists(incoming, made).items())
    return answered([made], text.encode("utf-8", "replace"), PLAIN)


def _published(made: MadeCall) -> str | None:
    """When a page says that it was published."""
    day: str | None = made.record["metadata"].get("published")
    return day


def _list(form: str, pairs: Iterable[tuple[str, str]]) -> str:
    mark = "!" if form == "images" else ""
    lines = [f"- {mark}[{name}]({url})" for name, url in pairs]
    return "\n".join([f"\n\n{HEADINGS[form]}", *(lines or [f"This page has no {form}."])])


def refusal(problem: ProblemDetails, request_id: str) -> Reply:
    """An error in Jina Reader's shape, with the request's id."""
    status = 400 if problem.code == "validation_error" else problem.status
    body = {
        "data": None,
        "code": status,
        "name": problem.code,
        "status": status * 100,
        "message": problem.message,
        "readableMessage": f"{problem.code}: {problem.message}",
        "request_id": request_id,
    }
    return problem.reply_as(status, body, request_id)
