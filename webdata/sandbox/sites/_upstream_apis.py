"""What the stand-ins of upstream APIs share: invented results, and the failures of an API.

Their scenarios, beside those of `webdata.sandbox.scenarios`: `sandbox:key` refuses the key, `sandbox:spent` says that
its plan is used up, `sandbox:html` is a page instead of JSON, `sandbox:garbage` is no JSON, `sandbox:type` is the
answer with the type of a picture. A key that is not the sandbox's is refused: none of an operator's may come here.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from webdata.runtime.wire.exchange import HTML, JSON, Handler, Headers, SandboxRequest, SiteReply, constant, json_reply
from webdata.sandbox.scenarios import apply_scenarios
from webdata.sandbox.sites._searches import Data, WebSearch

KEY = "sandbox"
WAIT: Headers = (("Retry-After", "2"),)
PICTURE: Headers = (("Content-Type", "image/png"),)
PAGE = b"<!doctype html>\n<html lang=en>\n<title>Welcome</title>\n<p>An invented page.</p>\n"
RESULTS = 10

Describe = Callable[[Data], Data]


def results(terms: str, describe: Describe, number: int = RESULTS, skipped: int = 0) -> list[Data]:
    """So many results of terms, each as `describe` renders it."""
    search = WebSearch(terms)
    return [describe(search.result(rank)) for rank in range(skipped + 1, skipped + number + 1)]


def answer_api(
    request: SandboxRequest, terms: str, key: str, page: Callable[[bool], Any], errors: Mapping[str, SiteReply]
) -> SiteReply:
    """The reply of an API under the scenarios in the terms.

    `page` gives its answer, with results or without. `errors` are its replies: `key` to a wrong key, and `spent` where
    nothing is left of its plan.
    """
    if key != KEY:
        return errors["key"]

    def found(_request: SandboxRequest) -> SiteReply:
        return json_reply(page(True))

    pages: dict[str, Handler] = {
        **{name: constant(reply) for name, reply in errors.items()},
        "limited": constant(json_reply({"message": "Too many requests"}, 429, WAIT)),
        "denied": constant(json_reply({"message": "Forbidden"}, 403)),
        "error": constant(json_reply({"message": "Internal error"}, 500)),
        "empty": lambda _: json_reply(page(False)),
        "layout": constant(json_reply({"version": 3, "hits": [{}]})),
        "html": constant(SiteReply(200, HTML, PAGE)),
        "garbage": constant(SiteReply(200, JSON, b'{"results": [{"title": "An invented')),
        "type": lambda one: replace(found(one), headers=PICTURE),
    }
    return apply_scenarios(request, terms, found, pages)
