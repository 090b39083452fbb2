"""A SearXNG as its search API answers in 2025, with invented content."""

from functools import partial
from typing import Any

from webdata.runtime.wire.exchange import SandboxRequest, SiteReply, json_reply
from webdata.sandbox.sites._searches import Data, whole_number
from webdata.sandbox.sites._upstream_apis import RESULTS, answer_api, results

HOSTS = ("searxng.example",)


def answer(request: SandboxRequest) -> SiteReply:
    """The results of a category, or the reply of the scenarios in the terms."""
    terms, page = request.first("q"), whole_number(request.first("pageno"), 1)
    category = request.first("categories") or "general"

    def found(has_results: bool) -> Any:
        rows = results(terms, partial(_described, category), RESULTS, (page - 1) * RESULTS) if has_results else []
        return {
            "query": terms,
            "number_of_results": 0,
            "results": rows,
            "answers": [],
            "corrections": [],
            "infoboxes": [],
            "suggestions": [f"{terms} for beginners"] if has_results else [],
            "unresponsive_engines": [],
        }

    if request.first("format") != "json":
        return json_reply({"message": "Forbidden"}, 403)
    key = request.headers.get("authorization", "").removeprefix("Bearer ")
    refused = json_reply({"message": "Forbidden"}, 403)
    return answer_api(request, terms, key, found, {"key": refused, "spent": json_reply({}, 402)})


def _described(category: str, found: Data) -> Data:
    row = {
        "url": found["link"],
        "title": found["title"],
        "content": found["snippet"],
        "engine": "invented",
        "engines": ["invented"],
        "score": 1.0 / found["rank"],
        "category": category,
        "publishedDate": "2026-03-01T08:00:00" if found["date"] else None,
        "thumbnail": "",
    }
    if category == "images":
        picture = f"https://images.example.com/{found['rank']}.jpg"
        row |= {"img_src": picture, "thumbnail_src": picture, "resolution": "800 x 600", "img_format": "jpeg"}
    if category == "videos":
        row |= {"length": "4:05", "author": found["source"], "iframe_src": None}
    return row
