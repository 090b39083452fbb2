"""`GET /docs` and `/docs/doors`: Swagger UI for the two OpenAPI documents, with all its files from this service.

https://swagger.io/docs/open-source-tools/swagger-ui/usage/configuration/
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import orjson
from jinja2 import Environment, PackageLoader
from swagger_ui_bundle import swagger_ui_path

from webdata.accounts.access.api_keys import Header
from webdata.faces.api.account import KEY_PAGES
from webdata.faces.api.doors import Door
from webdata.faces.api.key_pages import KeyPage
from webdata.faces.api.machine_pages import machine_pages
from webdata.faces.api.open_pages import OpenPage
from webdata.faces.api.openapi import document
from webdata.faces.api.openapi_doors import doors_document
from webdata.resources import Resource
from webdata.runtime.server.replies import JSON, Reply

HTML, CSS, JAVASCRIPT = (f"text/{name}; charset=utf-8" for name in ("html", "css", "javascript"))
VERSIONED = f"/docs/{swagger_ui_path.name}"
"""The folder of Swagger UI's own files; its name has their version."""
NO_CACHE = {"cache-control": "no-cache"}
"""These pages change with the installed version, so clients must revalidate them."""
CACHED = {"cache-control": "public, max-age=31536000, immutable"}
HASH_DIGITS = 16
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PAGE = Environment(loader=PackageLoader("webdata", "faces/api/templates"), autoescape=True, trim_blocks=True)
"""The templates of this page."""
START = """\
const dark = matchMedia("(prefers-color-scheme: dark)");
const paint = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", paint);
paint();
SwaggerUIBundle({
  url: "%s",
  dom_id: "#swagger-ui",
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  validatorUrl: null
});
"""


@dataclass(frozen=True)
class DocsTopic:
    """What an OpenAPI document and its page are about, and where they are."""

    about: str
    document: str
    page: str
    script: str


MAIN = DocsTopic("this description of the API", "/openapi.json", "/docs", "/docs/start.js")
OF_DOORS = DocsTopic(
    "the APIs of other services that this one speaks", "/openapi/doors.json", "/docs/doors", "/docs/doors.js"
)


def documentation(
    resources: Iterable[Resource],
    pages: Sequence[OpenPage],
    key_pages: Sequence[KeyPage] = KEY_PAGES,
    doors: Sequence[Door] = (),
) -> list[OpenPage]:
    """`/openapi.json`, `/docs` and `/llms.txt`, which describe the resources, the other pages and themselves.

    With them are the same two of the doors, all their files, and `/robots.txt`.
    """

    @cache
    def documents() -> Mapping[str, Reply]:
        """All documents and their pages, made when the first is asked for: it takes longer than a call."""
        main = document(resources, [*pages, *described], key_pages)
        return {**_document(MAIN, main), **_document(OF_DOORS, doors_document(doors))}

    described = [
        *_described(MAIN, documents),
        *(_described(OF_DOORS, documents) if doors else ()),
        *machine_pages(resources, doors),
    ]
    return [*described, *_files()]


def _described(topic: DocsTopic, documents: Callable[[], Mapping[str, Reply]]) -> list[OpenPage]:
    """The document of a topic and its page."""
    return [
        OpenPage(
            topic.document,
            f"{topic.about}, as OpenAPI 3.1",
            lambda header: _unless_known(documents()[topic.document], header),
        ),
        OpenPage(
            topic.page, f"{topic.about}, as a page to read and to try", lambda _: documents()[topic.page], (HTML,)
        ),
    ]


def _document(topic: DocsTopic, content: Mapping[str, Any]) -> dict[str, Reply]:
    """The document of a topic, and its page, which without scripts lists the operations."""
    page = PAGE.get_template("docs.html.j2").render(
        document=content, files=VERSIONED, script=topic.script, address=topic.document
    )
    headers = {"content-type": HTML, "content-security-policy": POLICY, "referrer-policy": "no-referrer", **NO_CACHE}
    return {topic.document: _json(topic, content), topic.page: Reply(200, page.encode(), headers)}


def _json(topic: DocsTopic, content: Mapping[str, Any]) -> Reply:
    body = orjson.dumps(content)
    tag = f'W/"{hashlib.sha256(body).hexdigest()[:HASH_DIGITS]}"'
    return Reply(200, body, {"content-type": JSON, "etag": tag, **NO_CACHE}, cached_as=topic.document)


def _unless_known(reply: Reply, header: Header) -> Reply:
    """The reply; 304 without its body for a client that has it (RFC 9110 13.1.2)."""
    tag = reply.headers["etag"]
    known = [sent.strip() for sent in (header("if-none-match") or "").split(",")]
    if "*" in known or tag in known or tag.removeprefix("W/") in known:
        return Reply(304, b"", {"etag": tag, **NO_CACHE})
    return reply


def _files() -> list[OpenPage]:
    style = PAGE.get_template("docs.css").render()
    return [
        *(_script(topic) for topic in (MAIN, OF_DOORS)),
        OpenPage("/docs/page.css", "", lambda _: Reply(200, style.encode(), {"content-type": CSS, **NO_CACHE})),
        _file("swagger-ui.css", CSS),
        _file("swagger-ui-bundle.js", JAVASCRIPT),
    ]


def _script(topic: DocsTopic) -> OpenPage:
    """What opens a document in Swagger UI."""
    reply = Reply(200, (START % topic.document).encode(), {"content-type": JAVASCRIPT, **NO_CACHE})
    return OpenPage(topic.script, "", lambda _: reply)


def _file(name: str, content_type: str) -> OpenPage:
    """One of Swagger UI's own files; its script has 1.5 MB, compressed 0.4 MB."""
    path = f"{VERSIONED}/{name}"
    headers = {"content-type": content_type, **CACHED}
    reply = Reply(200, (swagger_ui_path / name).read_bytes(), headers, cached_as=path)
    return OpenPage(path, "", lambda _: reply)
