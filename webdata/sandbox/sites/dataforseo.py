"""DataForSEO's live API as it is documented in 2025, with invented content."""

from base64 import b64decode
from contextlib import suppress
from functools import partial
from typing import Any

import orjson

from webdata.runtime.wire.exchange import SandboxRequest, SiteReply, json_reply, plain
from webdata.sandbox.sites._searches import Data
from webdata.sandbox.sites._upstream_apis import RESULTS, answer_api, results

HOSTS = ("api.dataforseo.com",)
START, END = "/v3/serp/google/", "/live/advanced"
TYPES = {"organic": "organic", "images": "images_search", "news": "news_search", "maps": "maps_search"}
"""The `type` of the items of each path."""
OK, NOTHING_FOUND = 20_000, 40_102


def answer(request: SandboxRequest) -> SiteReply:
    """The results of a search, or the reply of the scenarios in the terms."""
    name = request.path.removeprefix(START).removesuffix(END)
    if name not in TYPES:
        return plain(404, "Not found.")
    [asked] = orjson.loads(request.body) if request.body else [{}]
    terms, depth = str(asked.get("keyword", "")), int(asked.get("depth", RESULTS))

    def found(has_results: bool) -> Any:
        if not has_results:
            return _answer({"status_code": NOTHING_FOUND, "status_message": "No Search Results.", "result": None})
        items = results(terms, partial(_described, name), depth)
        own = {"keyword": terms, "se_results_count": 1_240, "items_count": len(items), "items": items}
        return _answer({"status_code": OK, "status_message": "Ok.", "result": [own]})

    errors = {
        "key": json_reply({"status_code": 40_100, "status_message": "You are not Authorized."}, 401),
        "spent": json_reply({"status_code": 40_200, "status_message": "Payment Required."}, 402),
    }
    return answer_api(request, terms, _login(request), found, errors)


def _login(request: SandboxRequest) -> str:
    scheme, _, login = request.headers.get("authorization", "").partition(" ")
    with suppress(ValueError):
        return b64decode(login).decode() if scheme == "Basic" else ""
    return ""


def _answer(task: Data) -> Data:
    head = {"version": "0.1.20250101", "status_code": OK, "status_message": "Ok.", "tasks_count": 1}
    return {**head, "tasks": [{"id": "invented", "cost": 0.002, **task}]}


def _described(name: str, found: Data) -> Data:
    rank, picture = found["rank"], f"https://images.example.com/{found['rank']}.jpg"
    row: Data = {"type": TYPES[name], "rank_group": rank, "title": found["title"], "url": found["link"]}
    if name == "organic":
        row |= {"domain": found["host"], "description": found["snippet"], "website_name": found["source"]}
    if name == "images":
        row["source_url"] = picture
    if name == "news":
        row |= {"source": found["source"], "snippet": found["snippet"], "timestamp": "2026-03-01 08:00:00 +00:00"}
    if name == "maps":
        place = {"latitude": 41.0 + rank / 100, "longitude": -8.6, "feature_id": f"0x{rank:x}:0x{rank:x}"}
        row |= {**place, "category": "Cafe", "rating": {"value": 4.5, "votes_count": 100 + rank}}
    return row
