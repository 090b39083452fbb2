"""The Brave Search API as it is documented in 2025, with invented content."""

from functools import partial
from typing import Any

from webdata.runtime.wire.exchange import SandboxRequest, SiteReply, json_reply, plain
from webdata.sandbox.sites._searches import Data, whole_number
from webdata.sandbox.sites._upstream_apis import answer_api, results

HOSTS = ("api.search.brave.com",)
KINDS = {"web": "search", "images": "images", "videos": "videos", "news": "news"}
"""The `type` of the answer of each path."""


def answer(request: SandboxRequest) -> SiteReply:
    """The results of a search, or the reply of the scenarios in the terms."""
    name, terms = request.path.removeprefix("/res/v1/").removesuffix("/search"), request.first("q")
    if name not in KINDS:
        return plain(404, "Not found.")
    size, page = whole_number(request.first("count"), 10), whole_number(request.first("offset"))

    def found(has_results: bool) -> Any:
        rows = results(terms, partial(_described, name), size, page * size) if has_results else []
        head = {"type": KINDS[name], "query": {"original": terms, "more_results_available": has_results}}
        if name == "web":
            return {**head, "web": {"type": "search", "results": rows}} if rows else head
        return {**head, "results": rows}

    errors = {
        "key": _error(422, "SUBSCRIPTION_TOKEN_INVALID"),
        "spent": _error(429, "QUOTA_LIMITED"),
    }
    return answer_api(request, terms, request.headers.get("x-subscription-token", ""), found, errors)


def _error(status: int, code: str) -> SiteReply:
    error = {"id": "00000000-0000-0000-0000-000000000000", "status": status, "code": code, "detail": "Refused."}
    return json_reply({"type": "ErrorResponse", "error": error}, status)


def _described(name: str, found: Data) -> Data:
    preview = {"src": f"https://images.example.com/{found['rank']}.jpg"}
    row = {
        "title": found["title"],
        "url": found["link"],
        "description": found["snippet"],
        "age": "3 days ago" if found["date"] else None,
        "meta_url": {"hostname": found["host"]},
        "profile": {"name": found["source"]},
    }
    if name == "images":
        row |= {"thumbnail": preview, "properties": {"url": preview["src"], "width": 800, "height": 600}}
    if name == "videos":
        row |= {"thumbnail": preview, "video": {"duration": "04:05", "creator": found["source"]}}
    return row
