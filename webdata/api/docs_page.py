"""`GET /docs`: Swagger UI for the OpenAPI document, with all its files from this service.

https://swagger.io/docs/open-source-tools/swagger-ui/usage/configuration/
"""

from collections.abc import Iterable, Sequence

import orjson
from swagger_ui_bundle import swagger_ui_path

from webdata.access.key_pages import KeyPage
from webdata.api.account import KEY_PAGES
from webdata.api.open_pages import OpenPage
from webdata.api.openapi import document
from webdata.resources import Resource
from webdata.server.replies import JSON, Reply

HTML, CSS, JAVASCRIPT = (f"text/{name}; charset=utf-8" for name in ("html", "css", "javascript"))
VERSIONED = f"/docs/{swagger_ui_path.name}"
"""The folder of Swagger UI's own files; its name has their version."""
NO_CACHE = {"cache-control": "no-cache"}
"""These pages change with the installed version, so clients must revalidate them."""
CACHED = {"cache-control": "public, max-age=31536000, immutable"}
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
    resources: Iterable[Resource], pages: Sequence[OpenPage], key_pages: Sequence[KeyPage] = KEY_PAGES
) -> list[OpenPage]:
    """`/openapi.json` and `/docs`, which describe the resources, the other pages and themselves; and their files."""
    json_page = OpenPage(
        "/openapi.json",
        "this description of the API, as OpenAPI 3.1",
        lambda _: Reply(200, json_body, {"content-type": JSON, **NO_CACHE}, cached_as="/openapi.json"),
    )
    headers = {"content-security-policy": POLICY, "referrer-policy": "no-referrer", **NO_CACHE}
    html_page = OpenPage(
        "/docs",
        "this description of the API, as a page to read and to try",
        lambda _: Reply(200, PAGE.encode(), {"content-type": HTML, **headers}),
        (HTML,),
    )
    json_body = orjson.dumps(document(resources, [*pages, json_page, html_page], key_pages))
    return [json_page, html_page, *_files()]


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
