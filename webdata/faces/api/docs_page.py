"""`GET /docs`: Swagger UI for the OpenAPI document, with all its files from this service.

https://swagger.io/docs/open-source-tools/swagger-ui/usage/configuration/
"""

import hashlib
from collections.abc import Iterable, Sequence

import orjson
from swagger_ui_bundle import swagger_ui_path

from webdata.accounts.access.api_keys import Header
from webdata.faces.api.account import KEY_PAGES
from webdata.faces.api.doors import Door
from webdata.faces.api.key_pages import KeyPage
from webdata.faces.api.machine_pages import machine_pages
from webdata.faces.api.open_pages import OpenPage
from webdata.faces.api.openapi import document
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
PAGE = f"""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>webdata API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{VERSIONED}/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="{VERSIONED}/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
"""
START = """\
SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  validatorUrl: null
});
"""


def documentation(
    resources: Iterable[Resource],
    pages: Sequence[OpenPage],
    key_pages: Sequence[KeyPage] = KEY_PAGES,
    doors: Sequence[Door] = (),
) -> list[OpenPage]:
    """`/openapi.json`, `/docs` and `/llms.txt`, which describe the resources, the other pages and themselves.

    With them are their files, and `/robots.txt`.
    """
    json_page = OpenPage(
        "/openapi.json",
        "this description of the API, as OpenAPI 3.1",
        lambda header: _unless_known(json_reply, header),
    )
    headers = {"content-security-policy": POLICY, "referrer-policy": "no-referrer", **NO_CACHE}
    html_page = OpenPage(
        "/docs",
        "this description of the API, as a page to read and to try",
        lambda _: Reply(200, PAGE.encode(), {"content-type": HTML, **headers}),
        (HTML,),
    )
    described = [json_page, html_page, *machine_pages(resources, doors)]
    json_body = orjson.dumps(document(resources, [*pages, *described], key_pages))
    tag = f'W/"{hashlib.sha256(json_body).hexdigest()[:HASH_DIGITS]}"'
    json_reply = Reply(200, json_body, {"content-type": JSON, "etag": tag, **NO_CACHE}, cached_as="/openapi.json")
    return [*described, *_files()]


def _unless_known(reply: Reply, header: Header) -> Reply:
    """The reply; 304 without its body for a client that has it (RFC 9110 13.1.2)."""
    tag = reply.headers["etag"]
    known = [sent.strip() for sent in (header("if-none-match") or "").split(",")]
    if "*" in known or tag in known or tag.removeprefix("W/") in known:
        return Reply(304, b"", {"etag": tag, **NO_CACHE})
    return reply


def _files() -> list[OpenPage]:
    start = Reply(200, START.encode(), {"content-type": JAVASCRIPT, **NO_CACHE})
    return [
        OpenPage("/docs/start.js", "", lambda _: start),
        _file("swagger-ui.css", CSS),
        _file("swagger-ui-bundle.js", JAVASCRIPT),
    ]


def _file(name: str, content_type: str) -> OpenPage:
    """One of Swagger UI's own files; its script has 1.5 MB, compressed 0.4 MB."""
    path = f"{VERSIONED}/{name}"
    headers = {"content-type": content_type, **CACHED}
    reply = Reply(200, (swagger_ui_path / name).read_bytes(), headers, cached_as=path)
    return OpenPage(path, "", lambda _: reply)
