"""`GET /llms.txt` and `GET /robots.txt`: what programs look for before they know a service.

https://llmstxt.org, RFC 9309
"""

from collections.abc import Iterable

from webdata.domain.api_key import AUTHORIZATION, HEADERS
from webdata.faces.api.doors import Door
from webdata.faces.api.index import call_of
from webdata.faces.api.open_pages import OpenPage
from webdata.resources import Resource
from webdata.runtime.server.replies import Reply

TEXT = "text/plain; charset=utf-8"
CACHED = {"cache-control": "public, max-age=3600"}
ROBOTS = """\
User-agent: *
Allow: /$
Allow: /docs
Allow: /llms.txt
Allow: /openapi
Disallow: /
"""
HEAD = """\
# webdata

> Public web data as clean JSON: search results, news, papers, jobs, products, places, forum threads, any URL.
"""
"""How an `llms.txt` begins, of a service or of the site of the docs."""
LLMS = f"""\
{HEAD}
Every call needs an API key: send it in the header `{{header}}`, or as `{{authorization}}: Bearer KEY`, never in the
URL. Whoever runs this service gives one out. Errors are JSON that says what was wrong and what would be right; an empty
answer is true. An answer costs a credit, errors and cached answers cost none.

## Documentation

- [OpenAPI](/openapi.json): every parameter, answer and error
- [Documentation to try](/docs)
- [Index](/): every endpoint with an example, as JSON
{{doors}}
## Endpoints

{{endpoints}}
"""


def machine_pages(resources: Iterable[Resource], doors: Iterable[Door] = ()) -> list[OpenPage]:
    """The two pages; that for language models names every resource with a call of it."""
    ordered = sorted(set(resources), key=lambda resource: resource.path)
    endpoints = "\n".join(f"- `{call_of(resource)}`: {resource.summary}" for resource in ordered)
    others = "".join(f"- `/{door.prefixes[0]}`: {door.summary}\n" for door in doors)
    others += "- [OpenAPI of these](/openapi/doors.json)\n" if others else ""
    llms = LLMS.format(header=HEADERS[0], authorization=AUTHORIZATION, doors=others, endpoints=endpoints)
    return [
        _page("/llms.txt", "what this service offers, for language models", llms),
        _page("/robots.txt", "what crawlers may read", ROBOTS),
    ]


def _page(path: str, summary: str, text: str) -> OpenPage:
    reply = Reply(200, text.encode(), {"content-type": TEXT, **CACHED})
    return OpenPage(path, summary, lambda _: reply, (TEXT,))
