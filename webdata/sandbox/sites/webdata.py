"""Another webdata, with invented content."""

from typing import Any
from urllib.parse import unquote

from webdata.domain.query import unpack
from webdata.runtime.wire.exchange import SandboxRequest, SiteReply, json_reply, plain
from webdata.sandbox.sites._searches import Data
from webdata.sandbox.sites._upstream_apis import RESULTS, answer_api, results

HOSTS = ("webdata.example",)
PLACES = "/v1/maps/search/"
"""The path behind which the terms of a search for places are."""
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
    path = next((path for path in DESCRIBED if request.path.startswith(path)), None)
    if path is None:
        return plain(404, "Not found.")
    fields = _fields(request, path)
    terms, size = fields.get("q", ""), int(fields.get("num", RESULTS))

    def found(has_results: bool) -> Any:
        rows = results(terms, DESCRIBED[path], size) if has_results else []
        return {"query": terms, **ENVELOPE, **RECORDS[path](rows)}

    errors = {
        "key": json_reply({"error": {"code": "unauthorized", "message": "No such key."}}, 401),
        "spent": json_reply({"error": {"code": "out_of_credits", "message": "No credits."}}, 429),
    }
    return answer_api(request, terms, request.headers.get("x-api-key", ""), found, errors)


def _fields(request: SandboxRequest, path: str) -> dict[str, str]:
    packed = request.path.removeprefix(path)
    return {"q": unquote(packed)} if path == PLACES else dict(unpack(packed))


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


def _place(found: Data) -> Data:
    unknown = (
        "place_id", "google_maps_url", "domain", "district", "rating", "review_count", "review_url", "phone",
        "phone_e164", "timezone", "thumbnail", "opening_hours",
    )  # fmt: skip
    return {
        "position": found["rank"],
        "name": found["source"],
        "data_id": f"0x{found['rank']:x}:0x1",
        "latitude": 52.5,
        "longitude": 13.4 + found["rank"] / 100,
        "website": found["link"],
        "address": f"{found['rank']} Example Street",
        "address_lines": [f"{found['rank']} Example Street"],
        "categories": [],
        "category_ids": [],
        **dict.fromkeys(unknown),
    }


def _article(found: Data) -> Data:
    return {
        "title": found["title"],
        "link": found["link"],
        "id": found["link"],
        "description": found["snippet"],
        "author": {"names": f"A Harbour - {found['source']}, 2020", "authors": []},
        "extras": {},
        "cite": "",
        "year": 2020,
        "venue": found["source"],
        "abstract": found["snippet"],
        "ids": {"openalex": None, "doi": None, "pmid": None},
    }


def _job(found: Data) -> Data:
    return {
        "position": found["title"],
        "employer": found["source"],
        "employer_link": None,
        "location": "Austin, TX",
        "link": f"https://www.linkedin.com/jobs/view/{found['rank']}",
        "posted_at": None,
        "is_remote": False,
        "is_hybrid": False,
        "highlights": [],
        "logo": None,
    }


def _places(rows: list[Data]) -> Data:
    about = {"schema": "maps.v1", "transport": "http", "requested_count": RESULTS, "language": "en", "country": "us"}
    return {"search_engine": "google_maps", "result_count": len(rows), "places": rows, "metadata": about}


def _jobs(rows: list[Data]) -> Data:
    about = {"data_query_location": "", "data_num_results_in_fetch": len(rows), "data_is_nearby_query": False}
    error = {} if rows else {"error": "No postings were found: try other words."}
    return {"jobs": rows, "metadata": about, **error}


DESCRIBED = {
    "/v1/search/": _result,
    "/v1/video/": _result,
    "/v1/image/": _image,
    "/v1/news/": _entry,
    PLACES: _place,
    "/v1/scholar/": _article,
    "/v1/job/search/": _job,
}
"""What a result is, by the path of its search."""
RECORDS = {
    "/v1/search/": lambda rows: {**EMPTY, **OF_WEB, "results": rows},
    "/v1/video/": lambda rows: {**EMPTY, **OF_WEB, "results": rows},
    "/v1/image/": lambda rows: {**EMPTY, "image_results": rows, "total": len(rows)},
    "/v1/news/": lambda rows: {"feed": {"entries": rows}, "entries": rows, "entities": []},
    PLACES: _places,
    "/v1/scholar/": lambda rows: {"articles": rows, "total": len(rows)},
    "/v1/job/search/": _jobs,
}
