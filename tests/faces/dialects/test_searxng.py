"""SearXNG's API in memory."""

import csv
import io
from base64 import b64encode
from dataclasses import replace
from urllib.parse import urlencode
from xml.etree import ElementTree

import pytest
from pytest_twisted import ensureDeferred

from tests.faces.dialects.conftest import ENGINES, SEARCHES
from tests.service_in_memory import ANSWER
from webdata.domain.errors import BlockedError, UpstreamTimeoutError
from webdata.faces.dialects.calls import DialectCalls
from webdata.faces.dialects.searxng import Searxng
from webdata.resources.web_search import WEB_SEARCH


@pytest.fixture
def search(speak, dialect_calls):
    return speak(Searxng(dialect_calls, ENGINES).door())


def asked(calls):
    """The resources and the fields of the calls that were made."""
    return [(call.resource.name, call.query.model_dump(exclude_defaults=True, mode="json")) for call in calls.calls]


@pytest.mark.parametrize("path", ["/searxng", "/searxng/", "/searxng/search", "/searxng/search/"])
@ensureDeferred
async def test_a_search_is_answered_in_the_form_of_searxng(search, path):
    """Every path of a search gives results, answers, suggestions and the panel in SearXNG's names."""
    response = await search(f"{path}?q=coffee&format=json")
    assert (response.status, response.headers["x-engine"]) == (200, "google_web")
    body = response.json
    first, second = body.pop("results")
    assert body == {
        "query": "coffee",
        "number_of_results": 1234,
        "answers": ["A drink."],
        "corrections": [],
        "infoboxes": [
            {
                "infobox": "Coffee",
                "id": "https://coffee.example/",
                "content": "A drink.",
                "img_src": "https://coffee.example/bean.png",
                "engine": "google_web",
                "urls": [
                    {"title": "Website", "url": "https://coffee.example/"},
                    {"title": "Forum", "url": "https://forum.example/coffee"},
                ],
                "attributes": [{"label": "Colour", "value": "brown"}],
            }
        ],
        "suggestions": ["coffee beans"],
        "unresponsive_engines": [],
    }
    assert first == {
        "url": "https://coffee.example/",
        "title": "Coffee",
        "content": "All about coffee.",
        "engine": "google_web",
        "engines": ["google_web"],
        "positions": [1],
        "score": 1.0,
        "category": "general",
        "template": "default.html",
        "parsed_url": ["https", "coffee.example", "/", "", "", ""],
        "publishedDate": "2022-12-16T00:00:00+00:00",
        "thumbnail": "https://coffee.example/small.png",
        "img_src": "",
        "iframe_src": "",
    }
    assert (second["url"], second["score"]) == ("https://tea.example/", 0.5)


@ensureDeferred
async def test_parameters_are_those_of_the_search(search, calls):
    """Language, page, time and safety become the fields of the query."""
    target = "/searxng/search?q=coffee&language=de-AT&pageno=3&time_range=week&safesearch=2&format=json"
    assert (await search(target)).status == 200
    fields = {"q": "coffee", "hl": "de", "gl": "at", "start": 20, "tbs": "qdr:w", "safe": "active"}
    assert asked(calls) == [("web_search", fields)]


@pytest.mark.parametrize("term", ["caf%C3%A9+bar", "café bar"])
@ensureDeferred
async def test_a_form_is_read_as_a_query_string(search, calls, test_secret, term):
    """POST sends the same parameters as a form, here with the key that a client takes from the user in its URL.

    Clients such as `curl -d` send its text as it is.
    """
    user = b64encode(f"any:{test_secret}".encode()).decode()
    headers = {"Authorization": f"Basic {user}", "Content-Type": "application/x-www-form-urlencoded"}
    response = await search(
        "/searxng/search", "POST", headers, f"q={term}&format=json&time_range=&categories=".encode()
    )
    assert (response.status, asked(calls)) == (200, [("web_search", {"q": "café bar"})])


@pytest.mark.parametrize(
    ("chosen", "resources"),
    [
        ("categories=general", ["web_search"]),
        ("categories=images,videos,+news+,science", ["image_search", "video_search", "news_search", "scholar_search"]),
        ("engines=google", ["web_search"]),
        ("categories=other", ["bing_search", "product_search"]),
        ("engines=google+images,openalex,bing", ["image_search", "scholar_search", "bing_search"]),
        ("engines=google_news&categories=general", ["news_search", "web_search"]),
        ("engines=google,bing,nobody&categories=images", ["web_search", "bing_search", "image_search"]),
        ("engines=nobody&categories=news", ["news_search"]),
        ("engines=google,google_web", ["web_search"]),
    ],
)
@ensureDeferred
async def test_categories_and_engines_choose_the_searches(search, calls, chosen, resources):
    """Several categories are asked side by side, and engines by the names that SearXNG gives them."""
    response = await search(f"/searxng/search?q=coffee&format=json&language=en&{chosen}")
    assert (response.status, [name for name, _ in asked(calls)]) == (200, resources)


@pytest.mark.parametrize(
    ("terms", "q", "resources"),
    [
        ("!images coffee", "coffee", ["image_search"]),
        ("coffee !news !images", "coffee", ["image_search", "news_search"]),
        ("!bing coffee shops", "coffee shops", ["bing_search"]),
        ("!google-images  coffee", "coffee", ["image_search"]),
        ("!gh wow! !important", "!gh wow! !important", ["web_search"]),
    ],
)
@ensureDeferred
async def test_terms_choose_the_searches(search, calls, terms, q, resources):
    """By SearXNG's syntax, in the place of the parameters; what names nothing here is searched for."""
    response = await search(f"/searxng/search?{urlencode({'q': terms, 'categories': 'general'})}")
    assert response.status == 200
    assert sorted((name, fields["q"]) for name, fields in asked(calls)) == [(name, q) for name in resources]


@ensureDeferred
async def test_terms_that_choose_alone_are_no_search(search, calls):
    """There is nothing to search for."""
    response = await search("/searxng/search?q=!images")
    assert (response.status, response.json["error"]) == (400, "q has nothing to search for beside !images")


@pytest.mark.parametrize("form", ["json", "csv"])
@pytest.mark.parametrize(
    ("chosen", "parameter", "name", "said"),
    [
        ("engines=google,duckduckgo", "engines", "duckduckgo", "There is no such engine here"),
        ("categories=general,it", "categories", "it", "There is no such category here"),
        ("engines=google&categories=social+media", "categories", "social media", "There is no such category here"),
    ],
)
@ensureDeferred
async def test_what_is_elsewhere_is_named_beside_others(search, form, chosen, parameter, name, said):
    """Clients send the same to every SearXNG: what is not here has not answered, and is ignored by name."""
    response = await search(f"/searxng/search?q=coffee&format={form}&{chosen}")
    assert (response.status, response.headers["x-ignored-params"]) == (200, parameter)
    if form == "json":
        ((engine, reason),) = response.json["unresponsive_engines"]
        assert (engine, reason.startswith(said)) == (name, True)


@ensureDeferred
async def test_results_of_several_engines_are_one_list(search):
    """A page that two engines have stands once, before others, with both."""
    response = await search("/searxng/search?q=coffee&format=json&engines=google,bing")
    first, second = response.json["results"]
    assert (first["engines"], first["positions"], first["score"]) == (["google_web", "bing_web"], [1, 1], 4.0)
    assert second["url"] == "https://tea.example/"


@ensureDeferred
async def test_images_have_their_pictures(search):
    """An image has its own address beside that of its page, and its thumbnail."""
    (image,) = (await search("/searxng/search?q=beans&format=json&categories=images")).json["results"]
    assert (image["url"], image["img_src"]) == ("https://coffee.example/beans", "https://coffee.example/beans.png")
    assert (image["thumbnail"], image["template"]) == ("https://images.example/medium", "images.html")


@ensureDeferred
async def test_a_failed_engine_is_named_beside_the_others(search, calls):
    """It stands among the unresponsive engines, and the results of the others are answered."""
    calls.ends["image_search"] = BlockedError("no", "captcha")
    response = await search("/searxng/search?q=coffee&format=json&categories=general,images")
    assert (response.status, len(response.json["results"])) == (200, 2)
    ((engine, reason),) = response.json["unresponsive_engines"]
    assert (engine, "captcha" in reason) == ("google_image", True)


@pytest.mark.parametrize("form", ["json", "csv", "rss"])
@ensureDeferred
async def test_no_answer_is_an_error(search, calls, form):
    """Where no engine answers it is a 502, never an empty list."""
    calls.ends = {"web_search": BlockedError("no", "captcha"), "news_search": UpstreamTimeoutError("late", "timeout")}
    response = await search(f"/searxng/search?q=coffee&format={form}&categories=general,news")
    assert (response.status, response.json["code"]) == (502, "blocked")
    assert response.json["request_id"] == response.headers["x-request-id"]


@ensureDeferred
async def test_an_empty_answer_is_true(search, calls):
    """A search without results is a 200 with none."""
    calls.ends["web_search"] = replace(ANSWER, record={"results": []}, outcome="empty")
    response = await search("/searxng/search?q=coffee&format=json")
    assert (response.status, response.json["results"]) == (200, [])


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("format=json", "q is missing"),
        ("q=+&format=json", "q is blank"),
        ("q=a&format=html", "format"),
        ("q=a&pageno=0", "pageno"),
        ("q=a&language=%3Cb%3E", "language"),
        ("q=a&time_range=hour", "time_range"),
        ("q=a&safesearch=3", "safesearch"),
        ("q=a&categories=files", "files: There is no such category here: the categories are general, images"),
        ("q=a&engines=qwant", "qwant: There is no such engine here: the engines are google_web"),
        ("q=a&categories=images&pageno=2", "pageno"),
        ("q=a&categories=images&time_range=day", "time_range"),
        ("q=a&categories=images&safesearch=2", "safesearch"),
        ("q=a&disabled_engines=bing", "disabled_engines"),
        ("q=a&timeout_limit=3", "timeout_limit"),
        ("q=%FF", "q is not UTF-8"),
        ("q=a&engines=google&pageno=1001", "pageno"),
    ],
)
@ensureDeferred
async def test_what_is_not_honoured_is_named(search, calls, query, named):
    """A wrong or missing parameter, and one that a search would ignore, is a 400 that names it; nothing is fetched."""
    response = await search(f"/searxng/search?{query}")
    assert (response.status, named in response.json["error"]) == (400, True), response.json
    assert not calls.calls


@ensureDeferred
async def test_preferences_without_effect_are_named(search):
    """A parameter of SearXNG's own pages, and a language that a search does not have, are in a header."""
    response = await search("/searxng/search?q=a&format=json&categories=images&language=en&safesearch=1&theme=simple")
    assert (response.status, response.headers["x-ignored-params"]) == (200, "theme, language, safesearch")


@pytest.mark.parametrize(("method", "body"), [("GET", None), ("POST", b"q=coffee")])
@ensureDeferred
async def test_a_missing_key_is_refused(search, method, body):
    """Without a key there is a 401 in SearXNG's form, with wrong parameters too."""
    for target in ("/searxng/search?q=coffee", "/searxng/search?pageno=no"):
        response = await search(target, method, {}, body)
        assert (response.status, response.json["code"]) == (401, "unauthorized")


@ensureDeferred
async def test_csv_and_rss_have_the_results(search):
    """The other formats have the same results."""
    table = await search("/searxng/search?q=coffee&format=csv")
    rows = list(csv.DictReader(io.StringIO(table.body.decode())))
    assert table.headers["content-type"] == "text/csv; charset=utf-8"
    assert [(row["title"], row["url"], row["host"]) for row in rows] == [
        ("Coffee", "https://coffee.example/", "coffee.example"),
        ("Tea", "https://tea.example/", "tea.example"),
    ]
    feed = await search("/searxng/search?q=coffee+%3C%01&format=rss")
    channel = ElementTree.fromstring(feed.body)[0]
    items = [{one.tag: one.text for one in item} for item in channel.iter("item")]
    assert channel[0].text == "webdata: coffee <"
    assert items[0] == {
        "title": "Coffee",
        "link": "https://coffee.example/",
        "description": "All about coffee.",
        "pubDate": "Fri, 16 Dec 2022 00:00:00 +0000",
    }


@ensureDeferred
async def test_the_configuration_names_every_engine(search):
    """`/config` and `/healthz` need no key; each search's engine is listed with its category."""
    config = (await search("/searxng/config", headers={})).json
    assert config["categories"] == ["general", "images", "news", "videos", "science", "map", "other"]
    engines = {one["name"]: (one["categories"], one["enabled"], one["paging"]) for one in config["engines"]}
    assert engines["google_web"] == (["general"], True, True)
    assert engines["bing_web"] == (["other"], False, True)
    assert engines["google_image"] == (["images"], True, False)
    assert (await search("/searxng/healthz", headers={})).body == b"OK"


@ensureDeferred
async def test_a_new_engine_needs_no_edit(speak, dialect_calls, calls):
    """A search that nobody has seen is found by its category and its engine's name."""
    music = replace(WEB_SEARCH, name="music_search", path="/v1/music", category="music")
    calls.ends["music_search"] = ANSWER
    own = DialectCalls(dialect_calls._calls, [*SEARCHES, music])
    send = speak(Searxng(own, {**ENGINES, "music_search": ["tunes_web"]}).door())
    for chosen in ("categories=music", "engines=tunes"):
        assert (await send(f"/searxng/search?q=song&format=json&{chosen}")).status == 200
    assert [call.resource.name for call in calls.calls] == ["music_search", "music_search"]


@ensureDeferred
async def test_several_calls_cost_their_sum(search, live_secret, ledger):
    """Each call of a request costs its credit, and the header has their sum."""
    response = await search(
        "/searxng/search?q=coffee&format=json&categories=general,images", headers={"X-Api-Key": live_secret}
    )
    assert (response.status, response.headers["x-credits-cost"]) == (200, "2")
    assert response.headers["x-credits-remaining"] == "998"
