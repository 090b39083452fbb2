"""Another webdata, with invented content."""

from typing import Any

from webdata.domain.query import unpack
from webdata.runtime.wire.exchange import SandboxRequest, SiteReply, plain
from webdata.sandbox.sites._searches import Data
from webdata.sandbox.sites._upstream_apis import RESULTS, answer_api, json_reply, results

HOSTS = ("webdata.example",)
LISTS = {
    "/v1/search/": "results",
    "/v1/video/": "results",
    "/v1/image/": "image_results",
    "/v1/news/": "entries",
}
"""The list of results of the paths that it answers."""
ENVELOPE = {"ts": 0.1, "device_region": "", "device_type": None}
EMPTY: Data = {
    "results": [], "ads": [], "ads_count": 0, "answers": [], "shopping_ads": [], "places": [], "related_searches": [],
    "carousel": [], "company": {},
}  # fmt: skip
"""The parts that a record of the web and one of images have."""
OF_WEB: Data = {
    "local_businesses": [], "related_questions": [], "carousel_count": 0, "image_results": [], "knowledge_graph": "",
    "total": None,
}  # fmt: skip


def answer(request: SandboxRequest) -> SiteReply:
    """The record of a search, or the reply of the scenarios in the terms."""
    path = next((path for path in LISTS if request.path.startswith(path)), None)
    if path is None:
        return plain(404, "Not found.")
    fields = dict(unpack(request.path.removeprefix(path)))
    terms, size = fields.get("q", ""), int(fields.get("num", RESULTS))

    def found(has_results: bool) -> Any:
        rows = results(terms, DESCRIBED[path], size) if has_results else []
        return {"query": terms, **ENVELOPE, **RECORDS[path](rows)}

    errors = {
        "key": json_reply({"error": {"code": "unauthorized", "message": "No such key."}}, 401),
        "spent": json_reply({"error": {"code": "out_of_credits", "message": "No credits."}}, 429),
    }
    return answer_api(request, terms, request.headers.get("x-api-key", ""), found, errors)


def _result(found: Data) -> Data:
    return {
        "title": found["title"],
        "description": found["snippet"],
        "position": found["rank"],
        "realPosition": found["rank"],
        "result_type": "organic",
        "metadata": {"display_url": found["host"]},
        "link": found["link"],
    }


def _image(found: Data) -> Data:
    picture = f"https://images.example.com/{found['rank']}.jpg"
    return {
        "image": {"src": picture, "alt": found["title"]},
        "link": {"href": found["link"], "title": found["title"], "domain": found["host"]},
        "original_image": {"src": picture, "width": "800", "height": "600", "file_format": "image/jpeg"},
        "thumbnails": {"small": picture, "medium": picture, "large": picture},
    }


def _entry(found: Data) -> Data:
    return {
        "title": found["title"],
        "link": found["link"],
        "links": [{"rel": "alternate", "type": "text/html", "href": found["link"]}],
        "sub_articles": [],
    }


DESCRIBED = {"/v1/search/": _result, "/v1/video/": _result, "/v1/image/": _image, "/v1/news/": _entry}
RECORDS = {
    "/v1/search/": lambda rows: {**EMPTY, **OF_WEB, "results": rows},
    "/v1/video/": lambda rows: {**EMPTY, **OF_WEB, "results": rows},
    "/v1/image/": lambda rows: {**EMPTY, "image_results": rows, "total": len(rows)},
    "/v1/news/": lambda rows: {"feed": {"entries": rows}, "entries": rows, "entities": []},
}
