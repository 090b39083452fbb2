"""Serper's API in memory."""

import orjson
import pytest
from pytest_twisted import ensureDeferred

from tests.faces.dialects.conftest import COFFEE, WEB, page_answer
from tests.service_in_memory import TIMINGS
from webdata.crawling.warm_crawlers import Answer
from webdata.domain.errors import BlockedError
from webdata.domain.outcome import Outcome
from webdata.faces.dialects.serper import Serper


@pytest.fixture
def send(speak, dialect_calls):
    return speak(Serper(dialect_calls).door())


@pytest.fixture
def post(send):
    def posted(path, body, **more):
        return send(f"/serper/{path}", "POST", body=orjson.dumps({**body, **more}))

    return posted


@ensureDeferred
async def test_empty_texts_ask_for_nothing(post, calls):
    """Forms send the fields that are not filled in."""
    empty = dict.fromkeys(("gl", "hl", "tbs", "safe", "location", "type"), "")
    assert (await post("search", {"q": "coffee"}, **empty)).status == 200
    assert (await post("news", {"q": "coffee"}, **empty)).status == 200
    assert [call.query.q for call in calls.calls] == ["coffee", "coffee"]


@ensureDeferred
async def test_several_searches_are_an_array(send, calls):
    """Their answers are one in the same order; the place of one that failed has its error."""
    calls.pages = {}
    body = [{"q": "coffee", "num": 1}, {"q": "tea", "gl": "gb"}]
    response = await send("/serper/search", "POST", body=orjson.dumps(body))
    assert (response.status, [call.query.q for call in calls.calls]) == (200, ["coffee", "tea"])
    first, second = response.json
    assert (first["searchParameters"]["q"], len(first["organic"]), len(second["organic"])) == ("coffee", 1, 2)
    assert second["searchParameters"]["gl"] == "gb"


@ensureDeferred
async def test_a_search_that_failed_says_so_in_its_place(send, calls, monkeypatch):
    """It has no results, and the others have theirs; if all failed it is the error of the first."""
    blocked, answer = BlockedError("no", "captcha"), calls.answer

    async def only_coffee(call):
        if call.query.q != "coffee":
            raise blocked
        return await answer(call)

    monkeypatch.setattr(calls, "answer", only_coffee)
    response = await send("/serper/search", "POST", body=b'[{"q": "tea"}, {"q": "coffee"}]')
    failed, found = response.json
    assert (failed["statusCode"], failed["code"], "organic" in failed) == (502, "blocked", False)
    assert (failed["searchParameters"]["q"], len(found["organic"])) == ("tea", 2)
    assert (await send("/serper/search", "POST", body=b'[{"q": "tea"}]')).status == 502


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ([], "the array has 0 searches"),
        ([{"q": "a"}] * 21, "the array has 21 searches: send 1 to 20"),
        ([{"q": "a"}, {"gl": "us"}], "q is missing"),
        ([{"q": "a"}, "tea"], "the body is no JSON object"),
        ([{"q": "a"}, {"q": "b", "location": "Porto"}], "location is not honoured here"),
    ],
)
@ensureDeferred
async def test_a_wrong_array_is_refused(send, calls, body, named):
    """As a whole, and nothing is fetched."""
    response = await send("/serper/search", "POST", body=orjson.dumps(body))
    assert (response.status, named in response.json["message"], calls.calls) == (400, True, [])


@ensureDeferred
async def test_a_deep_array_is_refused(send, calls):
    """What can be read and not be written again is a mistake of the caller."""
    response = await send("/serper/search", "POST", body=b"[" * 300 + b"]" * 300)
    assert (response.status, "255 deep" in response.json["message"], calls.calls) == (400, True, [])


@ensureDeferred
async def test_a_web_search_has_serpers_parts(post, calls):
    """Results, panel, answer, questions and related searches have Serper's names, without nulls."""
    response = await post("search", {"q": "coffee", "gl": "US", "hl": "en", "num": 10, "page": 2})
    assert response.status == 200
    assert response.json == {
        "searchParameters": {
            "q": "coffee",
            "gl": "us",
            "hl": "en",
            "num": 10,
            "page": 2,
            "type": "search",
            "engine": "google_web",
        },
        "knowledgeGraph": {
            "title": "Coffee",
            "type": "Drink",
            "website": "https://coffee.example/",
            "imageUrl": "https://coffee.example/bean.png",
            "description": "A drink.",
            "rating": 4.5,
            "ratingCount": 12,
            "attributes": {"Colour": "brown"},
        },
        "answerBox": {
            "title": "Coffee",
            "link": "https://coffee.example/",
            "answer": "A drink.",
            "snippet": "A drink.",
        },
        "peopleAlsoAsk": [
            {
                "question": "What is it?",
                "snippet": "A drink.",
                "title": "Coffee",
                "link": "https://coffee.example/",
            }
        ],
        "relatedSearches": [{"query": "coffee beans"}],
        "organic": [
            {
                "title": "Coffee",
                "link": "https://coffee.example/",
                "snippet": "All about coffee.",
                "date": "Dec 16, 2022",
                "imageUrl": "https://coffee.example/small.png",
                "position": 1,
            },
            {"title": "Tea", "link": "https://tea.example/", "snippet": "All about tea.", "position": 2},
        ],
        "credits": 0,
    }
    query = calls.calls[0].query.model_dump(exclude_defaults=True)
    assert query == {"q": "coffee", "gl": "us", "hl": "en", "num": 10, "start": 10}


@pytest.mark.parametrize(
    ("path", "rows", "expected"),
    [
        (
            "images",
            "images",
            {
                "title": "Beans",
                "imageUrl": "https://coffee.example/beans.png",
                "imageWidth": 640,
                "imageHeight": 480,
                "thumbnailUrl": "https://images.example/medium",
                "source": "coffee.example",
                "domain": "coffee.example",
                "link": "https://coffee.example/beans",
            },
        ),
        (
            "news",
            "news",
            {
                "title": "Harvest - Daily Bean",
                "link": "https://news.example/1",
                "snippet": "Harvest & frost Daily Bean",
                "date": "Fri, 16 Dec 2022 10:00:00 GMT",
                "source": "Daily Bean",
            },
        ),
        (
            "videos",
            "videos",
            {
                "title": "Coffee",
                "link": "https://coffee.example/",
                "snippet": "All about coffee.",
                "duration": "4:05",
                "source": "Video Example",
                "channel": "Baristas",
            },
        ),
        (
            "places",
            "places",
            {
                "title": "Café Fixture",
                "address": "1 Bean Row",
                "latitude": 41.1,
                "longitude": -8.6,
                "rating": 4.5,
                "ratingCount": 12,
                "category": "Café",
                "phoneNumber": "+351 000",
                "cid": "42",
            },
        ),
        (
            "scholar",
            "organic",
            {
                "title": "On coffee",
                "link": "https://doi.org/10.5555/1",
                "publicationInfo": "A. Bean - Drinks, 2021",
                "snippet": "We drank it.",
                "year": 2021,
                "citedBy": 7,
                "pdfUrl": "https://coffee.example/1.pdf",
            },
        ),
    ],
)
@ensureDeferred
async def test_each_kind_has_its_rows(post, path, rows, expected):
    """Images, news, videos, places and papers have the names that Serper gives them."""
    response = await post(path, {"q": "coffee"})
    assert (response.status, response.json[rows]) == (200, [{**expected, "position": 1}])


@ensureDeferred
async def test_parameters_may_be_in_the_url(send, calls):
    """A GET, and a POST without a body, have them there."""
    for method in ("GET", "POST"):
        assert (await send("/serper/search?q=coffee&num=5", method)).status == 200
    assert {(call.query.q, call.query.num) for call in calls.calls} == {("coffee", 5)}


@ensureDeferred
async def test_a_country_may_be_a_region(post, calls):
    """Images have no countries: `gl` is their region; a language that they do not have is named in a header."""
    response = await post("images", {"q": "coffee", "gl": "us", "hl": "en"})
    assert (response.status, response.headers["x-ignored-params"]) == (200, "hl")
    assert calls.calls[0].query.region == "US"


@pytest.mark.parametrize(
    ("path", "body", "named"),
    [
        ("search", {}, "q is missing"),
        ("search", {"q": "a", "num": 1000}, "num"),
        ("search", {"q": "a", "gl": "usa"}, "gl"),
        ("search", {"q": "a", "hl": "<b>"}, "hl"),
        ("search", {"q": "a", "autocorrect": False}, "autocorrect"),
        ("search", {"q": "a", "location": "Porto"}, "location is not honoured here"),
        ("search", {"q": "a", "type": "news"}, "type"),
        ("images", {"q": "a", "page": 2}, "page"),
        ("images", {"q": "a", "tbs": "qdr:d"}, "tbs"),
    ],
)
@ensureDeferred
async def test_what_is_not_honoured_is_named(post, calls, path, body, named):
    """It is a 400 in Serper's shape; nothing is fetched."""
    response = await post(path, body)
    assert (response.status, response.json["statusCode"]) == (400, 400)
    assert named in response.json["message"]
    assert not calls.calls


@ensureDeferred
async def test_errors_have_serpers_shape(post, send, calls):
    """A block is a 502, a missing key a 401."""
    calls.ends["web_search"] = BlockedError("no", "captcha")
    response = await post("search", {"q": "coffee"})
    assert (response.status, response.json["statusCode"], response.json["code"]) == (502, 502, "blocked")
    missing = await send("/serper/search", "POST", {}, b'{"q": "a"}')
    assert (missing.status, missing.json["statusCode"]) == (401, 401)


@ensureDeferred
async def test_a_result_without_a_text_has_an_empty_one(post, calls):
    """Clients read the snippet of each without asking whether there is one."""
    row = {**COFFEE, "description": ""}
    calls.ends["web_search"] = Answer({**WEB, "results": [row]}, Outcome.OK, "http", TIMINGS, engine="google_web")
    response = await post("search", {"q": "coffee"})
    assert response.json["organic"][0]["snippet"] == ""


@pytest.mark.parametrize(("safe", "sent"), [("off", "off"), ("moderate", "medium"), ("active", "active")])
@ensureDeferred
async def test_a_safe_search_has_the_words_of_clients(post, calls, safe, sent):
    """They are those of the search, or stand for them."""
    response = await post("search", {"q": "coffee", "safe": safe})
    assert (response.status, calls.calls[0].query.safe) == (200, sent)


@pytest.mark.parametrize(("safe", "status"), [("moderate", 200), ("active", 400)])
@ensureDeferred
async def test_a_search_without_a_safe_mode(post, safe, status):
    """The strict one is refused there, as a caller relies on it; another is said to be ignored."""
    response = await post("places", {"q": "coffee", "safe": safe})
    assert response.status == status
    assert (response.headers.get("x-ignored-params") == "safe") == (status == 200)


@ensureDeferred
async def test_a_page_is_scraped(post, calls):
    """As text, and as Markdown for those who ask."""
    calls.pages = {"https://a.example/": page_answer("https://a.example/", "# A", "A")}
    response = await post("scrape", {"url": "https://a.example/", "includeMarkdown": True})
    metadata = {"title": "A", "language": "en"}
    assert response.json == {"text": "# A", "markdown": "# A", "metadata": metadata, "credits": 0}
    assert "markdown" not in (await post("scrape", {"url": "https://a.example/"})).json


@ensureDeferred
async def test_a_page_has_no_preferences_of_searches(post, calls):
    """Clients send those of their user with every request: they are said to be ignored."""
    response = await post("scrape", {"url": "https://a.example/", "includeMarkdown": "false", "gl": "us", "hl": "en"})
    assert (response.status, response.headers["x-ignored-params"]) == (200, "gl, hl")
    assert "markdown" not in response.json


@pytest.mark.parametrize(("body", "named"), [({}, "url is missing"), ({"url": "https://a.example/", "x": 1}, "'x'")])
@ensureDeferred
async def test_a_wrong_scrape_is_refused(post, calls, body, named):
    """In the shape of other errors."""
    response = await post("scrape", body)
    assert (response.status, named in response.json["message"], calls.calls) == (400, True, [])


@ensureDeferred
async def test_products_have_their_prices(post, calls):
    """A rating is a number, as far as there is one."""
    product = {"title": "Mill", "link": "https://shop.example/dp/1", "asin": "1", "price_text": "$20", "img_url": None}
    rows = [{**product, "rating_stars": stars, "review_count": 7} for stars in ("4.3 out of 5 stars", None)]
    calls.ends["product_search"] = Answer({"products": rows}, Outcome.OK, "http", TIMINGS, engine="amazon_products")
    rated, unrated = (await post("shopping", {"q": "mill"})).json["shopping"]
    assert (rated["price"], rated["rating"], rated["source"]) == ("$20", 4.3, "shop.example")
    assert "rating" not in unrated
