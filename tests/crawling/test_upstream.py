"""What upstream APIs are asked for, with which key, and where."""

import json

import pytest
from scrapy.http import Headers, Response
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from webdata.crawling.upstream import SANDBOX_KEY, without_query
from webdata.crawling.warm_crawlers import known_spiders, load_spiders, scrapy_settings
from webdata.domain.errors import ConfigError, TargetError, UpstreamError
from webdata.domain.upstreams import Upstream
from webdata.fetching.egress.rule import Rule
from webdata.resources.maps_search import MAPS_SEARCH
from webdata.resources.news_search import NEWS_SEARCH
from webdata.resources.scholar_search import SCHOLAR_SEARCH
from webdata.resources.video_search import VideoQuery
from webdata.resources.web_search import WEB_SEARCH, WebQuery

KINDS = {spider.name: spider for spider in known_spiders()}
KEY = "key-of-the-operator"


def upstream(name, **values):
    return Upstream.model_validate({"name": name, "kind": name, "key": KEY, **values})


def engines(*upstreams):
    settings = scrapy_settings()
    settings.set("UPSTREAMS", upstreams, priority="cmdline")
    return {spider.name: spider for spider in load_spiders(settings)}


@pytest.mark.parametrize(
    ("kind", "fields", "refused"),
    [
        ("searxng", {"num": 10, "start": 20, "hl": "de", "gl": "at", "tbs": "qdr:w"}, []),
        ("searxng", {"num": 11, "start": 5, "region": "DE", "tbs": "qdr:h"}, ["region", "num", "start", "tbs"]),
        ("searxng", {"gl": "de"}, ["gl"]),
        ("searxng", {"hl": "de-AT", "gl": "at"}, []),
        ("searxng", {"hl": "de-AT", "gl": "ch"}, ["gl"]),
        ("brave", {"num": 20, "start": 180, "region": "DE", "hl": "ja", "safe": "active"}, []),
        ("brave", {"num": 20, "start": 200}, ["start"]),
        ("brave", {"num": 21, "region": "EU", "hl": "xx", "lr": "lang_de"}, ["lr", "num", "hl", "region"]),
        ("brave", {"region": "IE"}, ["region"]),
        ("brave", {"region": "IE", "gl": "gb"}, []),
        ("serper", {"num": 100, "start": 100, "tbs": "qdr:h", "region": "SG"}, []),
        ("serper", {"safe": "active", "device": "mobile", "start": 3}, ["device", "safe", "start"]),
        ("serpapi", {"device": "mobile", "filter": "0", "domain": "google.de", "lr": "lang_de", "start": 7}, []),
        ("serpapi", {"session": "mine"}, ["session"]),
        ("dataforseo", {"num": 100, "region": "IE", "device": "mobile"}, []),
        ("dataforseo", {"start": 10, "region": "EU", "tbs": "qdr:d"}, ["region", "start", "tbs"]),
        ("webdata", {"session": "mine", "tbs": "qdr:h", "start": 7, "region": "EU", "device": "mobile"}, []),
    ],
)
def test_what_an_api_cannot_honour_is_refused_by_name(kind, fields, refused):
    """A query with a parameter, or a value of it, that an API does not know is for another engine."""
    assert sorted(KINDS[kind].refused(WebQuery.check({"q": "tea", **fields}))) == sorted(refused)


def test_what_has_no_effect_is_not_refused():
    """A header that the endpoint accepts without effect is no reason to pass an API over, and is not sent."""
    query = SCHOLAR_SEARCH.query.check({"q": "tea", "region": "EU", "device": "mobile"})
    for kind in ("serper", "serpapi"):
        sent = KINDS[kind]().request(query)
        assert (KINDS[kind].refused(query), "gl=" in sent.url, b'"gl"' in sent.body) == ([], False, False)


def test_works_begin_where_a_page_of_them_begins():
    """A page of ten works has no beginning after five, however few are asked for."""
    asked = {start: SCHOLAR_SEARCH.query.check({"q": "tea", "num": 5, "start": start}) for start in (5, 10)}
    assert [KINDS["serper"].refused(query) for query in asked.values()] == [["start"], []]
    assert json.loads(KINDS["serper"]().request(asked[10]).body)["page"] == 2


def test_another_webdata_is_sent_no_parameter_without_a_value():
    """A null in a body stands for the default; flags are written as JSON has them, and terms as they are."""
    query = MAPS_SEARCH.query.check({"q": "True", "hl": None, "gl": "at"})
    assert KINDS["webdata"]().request(query).url.endswith("/v1/maps/search/True?gl=at")
    query = NEWS_SEARCH.query.check({"q": "tea", "resolve_links": True})
    assert KINDS["webdata"]().request(query).url.endswith("/q=tea&resolve_links=true")


def test_the_operator_allows_regions():
    """A region that the operator does not list is refused; a query without one is not."""
    engine = engines(upstream("brave", regions=("DE",)))["brave"]
    asked = [engine.refused(WebQuery.check({"q": "tea", "region": region})) for region in (None, "DE", "FR")]
    assert asked == [[], [], ["region"]]


@pytest.mark.parametrize("kind", ["searxng", "brave", "serper", "serpapi", "dataforseo", "webdata"])
def test_every_parameter_that_is_honoured_is_sent(kind):
    """A parameter that a kind claims to honour changes its request."""
    values = {
        "num": "5", "start": "10", "hl": "de", "gl": "fr", "region": "DE", "lr": "lang_de", "cr": "countryDE",
        "safe": "active", "tbs": "qdr:w", "filter": "0", "domain": "google.de", "device": "mobile", "session": "s",
        "ceid": "US:en", "resolve_links": "true",
    }  # fmt: skip
    spider = KINDS[kind]()
    for resource in spider.resources:
        needed = {name: field.examples[0] for name, field in resource.query.model_fields.items() if field.is_required()}
        for name in spider.honours[resource.name]:
            more = {"hl": "de"} if name == "gl" else {"num": "5"} if name == "start" else {}
            plain, asked = (
                spider.request(resource.query.check({**needed, **more, **fields}))
                for fields in ({}, {name: values[name]})
            )
            sent = [(one.url, one.body, one.headers) for one in (plain, asked)]
            is_cut_here = name == "num" and (kind == "searxng" or resource.name in ("maps_search", "scholar_search"))
            assert sent[0] != sent[1] or is_cut_here, (resource.name, name)


def test_the_first_upstream_follows_the_sites():
    """Upstreams follow the engines of sites in the operator's order, each with its own name."""
    found = engines(upstream("brave"), upstream("home", kind="searxng", url="http://127.0.0.1:1"))
    ranked = sorted((one for one in found.values() if WEB_SEARCH in one.resources), key=lambda one: one.rank)
    assert [one.name for one in ranked] == ["google_web", "bing_web", "brave", "home"]
    assert "serper" not in found


def test_nothing_is_asked_that_is_not_set_up():
    """Without upstreams the engines are those of the sites."""
    assert not {"searxng", "brave", "serper", "serpapi", "dataforseo", "webdata"} & set(engines())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (Upstream(name="home", kind="nothing"), "nothing of home is no kind: give one of brave, dataforseo, searxng"),
        (Upstream(name="brave", kind="brave"), "brave needs key"),
        (Upstream(name="home", kind="webdata"), "home needs url and key"),
        (upstream("google_web", kind="brave"), "google_web is the name of another engine"),
        (
            upstream("brave", resources=("job_search",)),
            "brave does not answer job_search: give resources of web_search",
        ),
    ],
)
def test_an_upstream_that_cannot_be_asked_ends_the_start(wrong, message):
    """The message names it and says what would be right."""
    with pytest.raises(ConfigError, match=message):
        engines(wrong)


def test_an_upstream_answers_the_resources_that_the_operator_names():
    """It is no engine of the others."""
    engine = engines(upstream("serper", resources=("news_search", "scholar_search")))["serper"]
    assert set(engine.resources) == {NEWS_SEARCH, SCHOLAR_SEARCH}


class FakeCrawler:
    """As much of a crawler as a spider's settings."""

    def __init__(self, **values):
        self.settings = Settings({"ON_DEMAND": True, **values})


def online(engine, *, sandbox):
    spider = engine()
    spider.crawler, spider.settings = FakeCrawler(), Settings({"SANDBOX": sandbox})
    return spider


@pytest.mark.parametrize("kind", ["searxng", "brave", "serper", "serpapi", "dataforseo", "webdata"])
def test_no_key_of_the_operator_reaches_the_sandbox(kind):
    """A test key's call has the sandbox's address and key; a live key's has the operator's."""
    engine = engines(upstream(kind, url="http://10.0.0.9:8888/api"))[kind]
    query = WebQuery(q="tea")
    sent = [online(engine, sandbox=sandbox).request(query) for sandbox in (True, False)]
    texts = [f"{one.url} {one.headers.to_unicode_dict()}" for one in sent]
    assert "10.0.0.9" not in texts[0]
    assert KEY not in texts[0]
    assert sent[1].url.startswith("http://10.0.0.9:8888/api/")
    if kind != "dataforseo":  # its key is in base64
        assert SANDBOX_KEY in texts[0] or kind == "searxng"
        assert KEY in texts[1]


@pytest.mark.parametrize("kind", ["searxng", "brave", "serper", "serpapi", "dataforseo", "webdata"])
def test_a_request_shows_no_key(kind):
    """The representation of a request, which is logged, has neither key nor terms."""
    engine = engines(upstream(kind, url="http://10.0.0.9:8888"))[kind]
    request = online(engine, sandbox=False).request(WebQuery(q="private words"))
    assert KEY not in repr(request)
    assert KEY not in str(request)
    assert "private" not in without_query("http://a.example/search?q=private")


def test_exactly_the_address_of_the_operator_is_reached():
    """Its scheme, host and port are allowed for that engine alone, though private; nothing else is."""
    engine = engines(upstream("home", kind="searxng", url="http://127.0.0.1:8888/searx"))["home"]
    settings = Settings({"EGRESS_PORTS": (80, 443), "EGRESS_ALLOW": (), "ON_DEMAND": True})
    engine.update_settings(settings)
    rule = Rule.of_spider(settings, engine)
    assert rule.check_url("http://127.0.0.1:8888/searx/search?q=tea").port == 8888
    for other in (
        "http://127.0.0.1:9999/",
        "https://127.0.0.1:8888/",
        "http://127.0.0.2:8888/",
        "http://localhost:8888/",
        "http://searxng.example:8888/",
        "http://169.254.169.254/",
    ):
        with pytest.raises(TargetError):
            rule.check_url(other)


def test_in_the_sandbox_no_private_address_is_reached():
    """The operator's address is not allowed to the calls of test keys."""
    engine = engines(upstream("home", kind="searxng", url="http://127.0.0.1:8888"))["home"]
    settings = Settings({"EGRESS_PORTS": (80, 443), "EGRESS_ALLOW": (), "ON_DEMAND": True, "SANDBOX": True})
    engine.update_settings(settings)
    with pytest.raises(TargetError):
        Rule.of_spider(settings, engine).check_url("http://127.0.0.1:8888/")


@pytest.mark.parametrize(
    ("status", "headers", "kind", "wait"),
    [
        (302, {"Location": "http://169.254.169.254/"}, "http_302", 0),
        (401, {}, "key", 300),
        (402, {}, "plan", 3600),
        (403, {}, "key", 300),
        (404, {}, "http_404", 0),
        (429, {}, "limited", 60),
        (429, {"Retry-After": "7"}, "limited", 7),
        (429, {"Retry-After": "999999"}, "limited", 86_400),
        (500, {}, "http_500", 0),
        (503, {"Retry-After": "9"}, "http_503", 9),
        (200, {}, "empty_body", 0),
    ],
)
def test_a_status_has_its_outcome(status, headers, kind, wait):
    """A refusal is the operator's to mend, and leaves the API alone for a while."""
    spider = KINDS["serpapi"]()
    response = Response("https://serpapi.com/search.json?api_key=k", status=status, headers=Headers(headers), body=b"")
    with pytest.raises(UpstreamError) as caught:
        spider.check(response)
    assert (caught.value.kind, caught.value.retry_after) == (kind, wait)
    assert caught.value.rate_limited == (status == 429)


def test_only_the_operator_is_told_of_a_refused_key(caplog):
    """The log names the upstream and what to do; calls of test keys are silent."""
    engine = engines(upstream("serper"))["serper"]
    response = Response("https://google.serper.dev/search", status=403, body=json.dumps({"message": "no"}).encode())
    for sandbox in (True, False):
        with pytest.raises(UpstreamError):
            online(engine, sandbox=sandbox).check(response)
    assert [one.getMessage() for one in caplog.records] == [
        "serper: its key is refused: set another in WEBDATA_UPSTREAMS (the API answered 403)"
    ]


def test_a_number_of_requests_a_day_is_the_service_s_to_count():
    """`scrapy crawl` has no database to count them in."""
    engine = engines(upstream("brave", requests_a_day=5))["brave"]
    with pytest.raises(ConfigError, match="which the service counts"):
        engine.from_crawler(FakeCrawler(ON_DEMAND=False))


def test_a_video_search_is_no_web_search():
    """Each has a type of query of its own, so that an engine may answer both."""
    assert KINDS["brave"]().resource_of(VideoQuery(q="tea")).name == "video_search"


@pytest.mark.parametrize(
    ("told", "parts"), [("ads, places", ("ads", "places")), ("", ()), ("ads\r\nX-Injected: 1", ()), ("<b>", ())]
)
def test_another_webdata_says_which_parts_are_missing(told, parts):
    """Its header is passed on, where it is one."""
    response = Response("https://webdata.example/", headers=Headers({"X-Missing-Parts": told.encode()}))
    assert KINDS["webdata"]().missing(response, WEB_SEARCH) == parts


def test_the_operators_key_is_in_no_archive():
    """Archives have a mask in its place; the sandbox's is no secret, and a word of its pages."""
    spider = engines(upstream("serper"))["serper"]
    online = spider.from_crawler(get_crawler(spider, {"ON_DEMAND": True, "SANDBOX": False}))
    invented = spider.from_crawler(get_crawler(spider, {"ON_DEMAND": True, "SANDBOX": True}))
    assert (online.keys, invented.keys) == ((KEY,), ())


def test_a_key_that_an_api_repeats_is_masked_in_each_of_its_forms():
    """In the body and the headers of what is parsed and stored, as it is, as URLs have it, and in base64."""
    engine = online(engines(upstream("brave", key="login:se+cret/1"))["brave"], sandbox=False)
    body = b"login:se+cret/1 login%3Ase%2Bcret%2F1 bG9naW46c2UrY3JldC8x"
    plain = engine._without_key(Response("https://api.search.brave.com/", headers={"X-Debug": body}, body=body))
    for text in (plain.body, plain.headers["X-Debug"]):
        assert text.decode() == "… … …"
