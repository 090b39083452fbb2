"""Serper as its playground answers in 2025, with invented content."""

from functools import partial
from typing import Any

import orjson

from webdata.runtime.wire.exchange import SandboxRequest, SiteReply, json_reply, plain
from webdata.sandbox.sites._searches import Data
from webdata.sandbox.sites._upstream_apis import RESULTS, answer_api, results

HOSTS = ("google.serper.dev",)
LISTS = {"/search": "organic", "/images": "images", "/videos": "videos", "/news": "news", "/scholar": "organic"}
"""The list of results of each path."""


def answer(request: SandboxRequest) -> SiteReply:
    """The results of a search, or the reply of the scenarios in the terms."""
    if request.path not in LISTS:
        return plain(404, "Not found.")
    asked: Data = orjson.loads(request.body) if request.body else {}
    terms, size, page = str(asked.get("q", "")), int(asked.get("num", RESULTS)), int(asked.get("page", 1))

    def found(has_results: bool) -> Any:
        rows = results(terms, partial(_described, request.path), size, (page - 1) * size) if has_results else []
        return {"searchParameters": {**asked, "engine": "google"}, LISTS[request.path]: rows, "credits": 1}

    errors = {
        "key": json_reply({"message": "Unauthorized.", "statusCode": 403}, 403),
        "spent": json_reply({"message": "Not enough credits", "statusCode": 400}, 400),
    }
    return answer_api(request, terms, request.headers.get("x-api-key", ""), found, errors)


def _described(path: str, found: Data) -> Data:
    picture = f"https://images.example.com/{found['rank']}.jpg"
    row = {"title": found["title"], "link": found["link"], "snippet": found["snippet"], "position": found["rank"]}
    if found["date"]:
        row["date"] = found["date"]
    if path == "/images":
        row |= {"imageUrl": picture, "thumbnailUrl": picture, "imageWidth": 800, "imageHeight": 600}
    if path == "/videos":
        row |= {"imageUrl": picture, "duration": "4:05", "source": "Example Video", "channel": found["source"]}
    if path == "/news":
        row["source"] = found["source"]
    if path == "/scholar":
        row |= {"publicationInfo": f"A Harbour, B Lantern - {found['source']}, 2020", "year": 2020, "citedBy": 7}
    return row
