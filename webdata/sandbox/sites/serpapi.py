"""SerpApi as it is documented in 2025, with invented content."""

from functools import partial
from typing import Any

from webdata.runtime.wire.exchange import SandboxRequest, SiteReply, json_reply, plain
from webdata.sandbox.sites._searches import Data, whole_number
from webdata.sandbox.sites._upstream_apis import RESULTS, answer_api, results

HOSTS = ("serpapi.com",)
LISTS = {
    "google": "organic_results",
    "google_images": "images_results",
    "google_videos": "video_results",
    "google_news": "news_results",
    "google_maps": "local_results",
    "google_scholar": "organic_results",
    "google_jobs": "jobs_results",
}
"""The list of results of each of its engines."""
NOTHING = "Google hasn't returned any results for this query."


def answer(request: SandboxRequest) -> SiteReply:
    """The results of a search, or the reply of the scenarios in the terms."""
    engine, terms = request.first("engine"), request.first("q")
    if request.path != "/search.json" or engine not in LISTS:
        return plain(404, "Not found.")
    size, start = whole_number(request.first("num"), RESULTS), whole_number(request.first("start"))

    def found(has_results: bool) -> Any:
        head: Data = {"search_metadata": {"status": "Success"}, "search_parameters": {"engine": engine, "q": terms}}
        if not has_results:
            return {**head, "search_information": {"organic_results_state": "Fully empty"}, "error": NOTHING}
        rows = results(terms, partial(_described, engine), size, start)
        return {**head, "search_information": {"total_results": 1_240}, LISTS[engine]: rows}

    errors = {
        "key": json_reply({"error": "Invalid API key. Your API key should be here: https://serpapi.com"}, 401),
        "spent": json_reply({"error": "Your account has run out of searches."}, 429),
    }
    return answer_api(request, terms, request.first("api_key"), found, errors)


def _described(engine: str, found: Data) -> Data:
    rank, picture = found["rank"], f"https://images.example.com/{found['rank']}.jpg"
    row: Data = {"position": rank, "title": found["title"], "link": found["link"], "snippet": found["snippet"]}
    if engine == "google_images":
        row |= {"original": picture, "thumbnail": picture, "original_width": 800, "original_height": 600}
    if engine == "google_videos":
        row |= {"thumbnail": picture, "duration": "4:05"}
    if engine == "google_news":
        row |= {"source": {"name": found["source"]}, "date": "03/01/2026, 08:00 AM, +0000 UTC"}
    if engine == "google_maps":
        row |= _place(rank)
    if engine == "google_scholar":
        summary = f"A Harbour, B Lantern - {found['source']}, 2020 - {found['host']}"
        row |= {"publication_info": {"summary": summary}, "inline_links": {"cited_by": {"total": 7}}}
    if engine == "google_jobs":
        row |= _posting(found)
    return row


def _place(rank: int) -> Data:
    return {
        "data_id": f"0x{rank:x}:0x{rank:x}",
        "place_id": f"ChIJinvented{rank}",
        "gps_coordinates": {"latitude": 41.0 + rank / 100, "longitude": -8.6},
        "rating": 4.5,
        "reviews": 100 + rank,
        "type": "Cafe",
        "address": f"{rank} Mill Lane, Harbourton",
    }


def _posting(found: Data) -> Data:
    return {
        "company_name": found["source"],
        "location": "Austin, TX",
        "extensions": ["3 days ago", "Full-time"],
        "apply_options": [{"title": found["source"], "link": found["link"]}],
    }
