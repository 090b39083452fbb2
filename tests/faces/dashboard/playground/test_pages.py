"""The pages of the playground, in memory."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter

import lxml.html
import orjson
import pytest

from webdata.accounts.access.api_keys import new_key
from webdata.crawling.warm_crawlers import Answer
from webdata.domain.attempts import Attempt
from webdata.domain.errors import BlockedError, UnsupportedContentError
from webdata.domain.outcome import Outcome
from webdata.stores.accounts.model import DEFAULT_ACCOUNT, DEFAULT_PLAN, Account, Plan
from webdata.stores.calls.model import LoggedCall

pytestmark = pytest.mark.task
RESULT = {"title": "Coffee & tea", "link": "https://a.example/1", "description": "A text.", "metadata": {}}
RECORD = {"query": "coffee", "results": [RESULT], "total": 1234}
ATTEMPTS = [
    Attempt(engine="google_web", transport="http", proxy="de-1", outcome="blocked", kind="captcha", seconds=0.04),
    Attempt(engine="google_web", transport="browser", proxy="de-2", outcome="ok", kind=None, seconds=1.2),
]
ANSWER = Answer(RECORD, Outcome.OK, "browser", {"queue": 0.001, "fetch": 0.04, "render": 1.2}, ATTEMPTS, "google_web")
HOSTILE = "<script>alert(1)</script>\u202e\"' onmouseover=alert(1) {{ 7*7 }}"


def tree(response):
    return lxml.html.fromstring(response.body.decode())


def text(element):
    return " ".join(element.text_content().split())


@pytest.fixture
def key(stores):
    """Adds a key of the account; returns it."""

    async def add(name="ours", *, test=True, **further):
        added, _ = new_key(name, test=test, **further)
        await stores.keys.add(added)
        return added

    return add


async def run(person, key, resource="web_search", **fields):
    """The response to the form of a resource, whose parameters are fields without their prefix."""
    form = {f"q.{name}": value for name, value in fields.items()}
    await person.get(f"/playground/{resource}")
    return await person.post(f"/playground/{resource}", key=key.id, **form)


async def test_the_first_view(visitor, key):
    """The playground begins with the web search, whose form holds an example, with a test key chosen, and its code."""
    ada = await visitor().sign_up()
    await key("live one", test=False)
    test = await key("test one")
    response = await ada.get("/playground")
    assert (response.status, response.headers["location"]) == (303, "/dashboard/playground/web_search")
    page = tree(await ada.get("/playground/web_search"))
    assert page.get_element_by_id("f-q.q").value == "coffee shops"
    assert page.xpath("//select[@name='key']/option[@selected]/@value") == [test.id]
    assert "--data-urlencode 'q=coffee shops'" in page.get_element_by_id("code-1").text_content()
    assert "No calls yet" in text(page.get_element_by_id("answer"))


async def test_an_answer(visitor, key, calls):
    """An answer is shown as cards, with timings, attempts (admins see their proxies), headers, JSON and cost."""
    ada = await visitor().sign_up(role="admin")
    calls.end = ANSWER
    response = await run(ada, await key(), q="coffee", num="5", region="DE")
    page = tree(response)
    [link] = page.xpath("//li[@class='item']//a[contains(@href, 'a.example')]")
    assert (response.status, link.text, link.get("rel")) == (200, "Coffee & tea", "noopener noreferrer nofollow")
    assert re.findall("queue 1.0 ms|fetch 40.0 ms|render 1.2 s", text(page.get_element_by_id("answer"))) == [
        *("queue 1.0 ms", "fetch 40.0 ms", "render 1.2 s")
    ]
    rows = [[text(cell) for cell in row] for row in page.xpath("//table[contains(@class, 'attempts')]/tbody/tr")]
    assert rows == [
        ["google_web", "http", "de-1", "blocked/captcha", "40.0 ms"],
        ["google_web", "browser", "de-2", "ok", "1.2 s"],
    ]
    assert "x-credits-cost: 0" in page.xpath("//pre[@class='headers']")[0].text
    assert '"Coffee & tea"' in text(page.xpath("//div[@class='json']")[0])
    [call] = calls.calls
    assert (call.query.num, call.query.region, call.sandbox) == (5, "DE", True)
    assert page.get_element_by_id("f-q.num").value == "5"


async def test_everything_of_the_api_applies(visitor, key, calls, stores):
    """A live key pays, the limits of its plan count, and the log has the call with its query, as by HTTP."""
    ada = await visitor().sign_up()
    await stores.accounts.put_plan(Plan(DEFAULT_PLAN.name, requests=2, seconds=60, in_flight=5))
    live = await key(test=False)
    await stores.ledger.credit(DEFAULT_ACCOUNT, 5 - await stores.ledger.balance(DEFAULT_ACCOUNT))
    calls.end = ANSWER
    for _ in range(2):
        response = await run(ada, live, q="coffee")
    assert "from the cache" in text(tree(response))
    assert await stores.ledger.balance(DEFAULT_ACCOUNT) == 4
    refused = await run(ada, live, q="coffee")
    assert "This key has made the 2 requests in 60 seconds that its plan allows" in text(tree(refused))
    assert len(calls.calls) == 1


async def test_a_call_that_failed(visitor, key, calls):
    """What went wrong is said in the words of the API, with its code and the attempts."""
    ada = await visitor().sign_up()
    error = BlockedError("captcha", "captcha")
    error.attempts = ATTEMPTS[:1]
    calls.end = error
    page = tree(await run(ada, await key(), q="coffee"))
    shown = text(page.get_element_by_id("answer"))
    assert "502 blocked" in shown
    assert "de-1" not in shown
    assert "The upstream showed a blocking page (captcha) instead of the requested page." in shown
    assert page.xpath("//*[@role='alert']")


async def test_wrong_values_stand_where_they_were_written(visitor, key, calls):
    """Each wrong parameter keeps its value, with what would be right beside it; nothing is fetched."""
    ada = await visitor().sign_up()
    response = await run(ada, await key(), q="", hl="not a language", region="XX")
    page = tree(response)
    assert (response.status, calls.calls) == (422, [])
    errors = {one.get("id"): one.text for one in page.xpath("//p[@class='error']")}
    assert errors["e-q.q"] == "q is missing: give the search terms, such as q=coffee+shops"
    assert errors["e-q.hl"].startswith("hl cannot be 'not a language': give")
    assert page.get_element_by_id("f-q.hl").get("aria-invalid") == "true"
    assert page.xpath("//details[@class='further']/@open")


async def test_a_value_that_only_the_page_shows_to_be_wrong(visitor, key, calls):
    """An error that the fetch finds stands in the answer, beside nothing it is not about."""
    ada = await visitor().sign_up()
    calls.end = UnsupportedContentError("application/pdf")
    page = tree(await run(ada, await key(), "url_request", url="https://a.example/", response_type="markdown"))
    assert "the page is application/pdf, which cannot be given as Markdown" in text(page).replace("The", "the")


async def test_a_cursor_of_another_text_is_said_beside_it(visitor, key, calls):
    """Only the text of the answer shows that a cursor is wrong."""
    ada = await visitor().sign_up()
    page = {"url": "https://a.example/", "status": 200, "content_type": "text/html", "truncated": False}
    calls.end = Answer({**page, "markdown": "Short."}, Outcome.OK, "http", {"fetch": 0.1})
    given = {"url": "https://a.example/", "formats": "markdown", "max_chars": "1000", "cursor": "5000-01234567"}
    response = await run(ada, await key(), "url_request", **given)
    assert response.status == 422
    assert tree(response).get_element_by_id("e-q.cursor").text.startswith("cursor is")


async def test_only_keys_that_may_be_used(visitor, key, calls, stores):
    """Keys of other accounts, revoked ones and those of other endpoints are not shown, and run nothing."""
    ada = await visitor().sign_up()
    await stores.accounts.add(Account("acc_other", "other", DEFAULT_PLAN, datetime.now(UTC)))
    revoked = await key("revoked")
    await stores.keys.revoke(revoked.id, datetime.now(UTC))
    keys = [revoked, await key("news", scopes=["news_search"]), await key("foreign", account_id="acc_other")]
    mine = await key("mine")
    page = tree(await ada.get("/playground/web_search"))
    assert page.xpath("//select[@name='key']/option/@value") == [mine.id]
    for one in keys:
        response = await run(ada, one, q="coffee")
        assert response.status == 422
        assert "Choose a key that is neither revoked nor expired" in text(tree(response))
    assert calls.calls == []


async def test_very_many_keys(visitor, key, calls):
    """Of very many keys those that were used last can be chosen, and the one that was chosen before stays so."""
    ada = await visitor().sign_up()
    first, *_ = [await key(f"key {number}") for number in range(60)]
    page = tree(await run(ada, first, q="coffee"))
    assert page.xpath("//select[@name='key']/option[@selected]/@value") == [first.id]
    assert len(page.xpath("//select[@name='key']/option")) == 50
    assert "10 more, which were used less lately, are not listed." in text(page.get_element_by_id("h-key"))


async def test_without_a_key(visitor, stores):
    """A person whose account has no key is led to make one."""
    ada = await visitor().sign_up()
    page = tree(await ada.get("/playground/web_search"))
    assert page.xpath("//a[text()='Make a key']/@href") == ["/dashboard/keys"]


async def test_places_markdown_and_threads(visitor, key, calls):
    """Places are on a map, Markdown is rendered, comments are within those that they answer."""
    ada = await visitor().sign_up()
    mine = await key()
    place = {"name": "Café", "latitude": 41.1, "longitude": -8.6, "position": 1}
    calls.end = replace(ANSWER, record={"places": [place, {**place, "latitude": 41.2}]})
    page = tree(await run(ada, mine, "maps_search", q="cafés"))
    assert page.xpath("//figure[@class='map']//a/@href") == ["#item-1-2", "#item-1-1"]
    calls.end = replace(
        ANSWER,
        record={"data": "# Head\n\n*text*", "status": 200, "config": {"response_type": "markdown", "truncated": False}},
    )
    page = tree(await run(ada, mine, "url_request", url="https://a.example/", response_type="markdown"))
    assert page.xpath("//div[@class='markdown']/h3/text()") == ["Head"]
    reply = {"kind": "t1", "data": {"author": "b", "body": "second", "replies": ""}}
    comment = {"author": "a", "body": "first", "replies": {"kind": "Listing", "data": {"children": [reply]}}}
    listing = {"kind": "Listing", "data": {"children": [{"kind": "t1", "data": comment}]}}
    calls.end = replace(ANSWER, record={"cached": False, "data": [listing]})
    page = tree(await run(ada, mine, "forum_comments", id="abc"))
    assert page.xpath("//ul[@class='replies']//p[@class='text']/text()") == ["second"]


async def test_pictures_of_other_sites_are_loaded_for_live_answers_only(visitor, key, calls):
    """A live answer shows pictures of their own sites, without telling these where; the sandbox's are drawn here."""
    ada = await visitor().sign_up()
    results = [{"title": "a", "link": "https://a.example/", "thumbnail": "https://a.example/1.jpg"}] * 2
    calls.end = replace(ANSWER, record={"results": results})
    sandbox = await run(ada, await key(), q="coffee")
    live = await run(ada, await key("live", test=False), q="coffee")
    assert "https:" not in sandbox.headers["content-security-policy"]
    assert "img-src 'self' data: https:" in live.headers["content-security-policy"]
    assert "script-src 'self';" in live.headers["content-security-policy"]
    [image, _] = tree(live).xpath("//li//img")
    assert dict(image.attrib) == {
        "src": "https://a.example/1.jpg",
        "alt": "",
        "loading": "lazy",
        "decoding": "async",
        "referrerpolicy": "no-referrer",
    }
    assert tree(sandbox).xpath("//li//img") == []


async def test_what_comes_from_outside_is_text(visitor, key, calls):
    """Markup, handlers, template code and scripts as links of an answer or a query become nothing but text."""
    ada = await visitor().sign_up()
    result = {
        "title": HOSTILE,
        "link": "javascript:alert(1)",
        "description": HOSTILE,
        "thumbnail": "javascript:alert(1)",
    }
    calls.end = replace(ANSWER, record={"results": [result, {HOSTILE: HOSTILE}], HOSTILE: HOSTILE, "query": HOSTILE})
    response = await run(ada, await key(HOSTILE.replace("\u202e", "")), q=HOSTILE, session=HOSTILE)
    response = await run(ada, await key("x"), q=HOSTILE)
    page = tree(response)
    assert all(script.get("src", "").startswith("/dashboard/static/") for script in page.iter("script"))
    names = {name for one in page.iter() for name in one.attrib}
    assert not [name for name in names if name.startswith("on")]
    assert "style" not in names
    assert not [link for link in page.xpath("//@href | //@src") if not link.startswith(("/", "#", "https://"))]
    assert "{{ 7*7 }}" in text(page)


@pytest.mark.timed
async def test_large_answers_make_small_pages(visitor, key, calls):
    """However large an answer is, its page is small and quickly made; all of it is in the download."""
    ada = await visitor().sign_up()
    megabyte = "x" * 1_000_000
    results = [
        {"title": megabyte, "link": f"https://a.example/{number}", "description": f"<b>{megabyte}"}
        for number in range(3)
    ]
    calls.end = replace(ANSWER, record={"results": results, "query": megabyte, megabyte: [[megabyte]]})
    mine = await key()
    began = perf_counter()
    response = await run(ada, mine, q="coffee")
    assert len(response.body) < 100_000
    assert "Download the answer gives all" in text(tree(response))
    calls.end = replace(ANSWER, record={"results": [RESULT] * 10_000})
    response = await run(ada, mine, q="tea")
    assert len(response.body) < 100_000
    assert "24 of 10,000" in text(tree(response))
    assert perf_counter() - began < 3


async def test_the_download_is_the_whole_answer(visitor, key, calls):
    """The same call gives the answer as a file, from the cache while it has it."""
    ada = await visitor().sign_up()
    calls.end = ANSWER
    mine = await key()
    await run(ada, mine, q="coffee")
    response = await ada.post("/playground/web_search/download", key=mine.id, **{"q.q": "coffee"})
    assert response.json == RECORD
    assert response.headers["content-disposition"] == 'attachment; filename="web_search.json"'
    assert len(calls.calls) == 1


async def test_calls_of_the_history_are_made_again(visitor, key, stores):
    """A call of the log, also by a program, leads to its form; one of another account does not."""
    ada = await visitor().sign_up()
    mine = await key()
    now = datetime.now(UTC)
    logged = LoggedCall(
        *(
            "req_01A",
            now,
            DEFAULT_ACCOUNT,
            mine.id,
            True,
            "web_search",
            "google_web",
            "ok",
            "",
            "",
            "http",
            0,
            False,
            0.1,
        ),
        query={"q": HOSTILE, "num": 7, "region": "DE"},
    )
    await stores.accounts.add(Account("acc_other", "other", DEFAULT_PLAN, now))
    await stores.calls.add([logged, logged._replace(id="req_01B", account_id="acc_other")])
    page = tree(await ada.get("/playground/maps_search"))
    [link] = page.xpath("//section[contains(@class, 'history')]//a")
    assert text(link).startswith("Web results q=<script>alert(1)</script>")
    form = tree(await ada.get(link.get("href").removeprefix("/dashboard")))
    assert form.get_element_by_id("f-q.q").value == HOSTILE
    assert (form.get_element_by_id("f-q.num").value, form.get_element_by_id("f-q.region").value) == ("7", "DE")
    assert (await ada.get("/playground/again/req_01B")).status == 404
    assert (await ada.get("/playground/no_such")).status == 404


async def test_an_object_of_a_past_call_is_json_again(visitor, key, stores):
    """So its form can be sent as it is."""
    ada = await visitor().sign_up()
    mine = await key()
    query = {"url": "https://a.example/", "extract": {"title": {"selector": "h1"}}}
    told = (True, "url_request", "url", "ok", "", "", "http", 0, False, 0.1)
    await stores.calls.add([LoggedCall("req_01A", datetime.now(UTC), DEFAULT_ACCOUNT, mine.id, *told, query=query)])
    form = tree(await ada.get("/playground/again/req_01A"))
    assert orjson.loads(form.get_element_by_id("f-q.extract").value) == query["extract"]


async def test_a_form_can_be_linked_to(visitor, key):
    """The fields of a form may be in the URL, which fills it and runs nothing."""
    ada = await visitor().sign_up()
    await key()
    page = tree(await ada.get("/playground/web_search?q.q=tea+%26+more&q.num=3"))
    assert page.get_element_by_id("f-q.q").value == "tea & more"
    assert "q=tea & more" in page.get_element_by_id("code-1").text_content()


async def test_a_screenshot_is_shown(visitor, key, calls):
    """As a picture; its bytes are not shown as text."""
    ada = await visitor().sign_up()
    picture = {"content_type": "image/png", "width": 1280, "height": 720, "cut": False, "data": "iVBORw0KGgo="}
    page = {"url": "https://example.com/", "status": 200, "content_type": "text/html", "truncated": False}
    calls.end = Answer({**page, "screenshot": picture}, Outcome.OK, "browser", {"render": 1.2})
    response = await run(ada, await key(), "url_request", url="https://example.com/", formats="screenshot")
    shown = tree(response)
    assert shown.xpath("//img[@class='screenshot']/@src") == ["data:image/png;base64,iVBORw0KGgo="]
    assert "img-src 'self' data:" in response.headers["content-security-policy"]
    assert "1280" in text(shown.get_element_by_id("answer"))


async def test_what_is_sent_to_a_site_is_a_line_each(visitor, key, calls):
    """Headers and cookies come from text areas; the form of a call of the history has none of them."""
    ada = await visitor().sign_up()
    sent = {"url": "https://example.com/", "response_type": "full", "headers": "X-One: 1\nX-Two: 2", "cookies": "a=b"}
    response = await run(ada, await key(), "url_request", **sent)
    assert response.status == 200
    query = calls.calls[0].query
    assert (query.headers, query.cookies) == ({"X-One": "1", "X-Two": "2"}, {"a": "b"})
    assert tree(response).get_element_by_id("f-q.headers").tag == "textarea"


async def test_endpoints_are_listed_in_their_groups(visitor, key):
    """The list has each endpoint under its group, with an icon, and is searched by the names of its engines, too."""
    ada = await visitor().sign_up()
    await key()
    listed = tree(await ada.get("/playground/web_search")).cssselect(".resources section")
    assert [text(one.cssselect("h2")[0]) for one in listed] == ["Search", "Places", "Forums", "Any page"]
    assert all(one.cssselect("a svg path") for one in listed)
    assert "bing_web" in listed[0].cssselect("li")[0].get("data-words")


async def test_keys_are_chosen_by_name(visitor, stores):
    """A key is listed by its name and kind; the beginning of the secret tells those of one name apart."""
    ada = await visitor().sign_up()
    for name in ("shop", "twin", "twin"):
        await stores.keys.add(new_key(name, test=True)[0])
    options = [text(one) for one in tree(await ada.get("/playground/web_search")).cssselect("#f-key option")]
    assert "shop (test)" in options
    assert len({one for one in options if one.startswith("twin wd_test_")}) == 2


async def test_what_is_shown_of_a_call_is_chosen_without_a_script(visitor, key, calls):
    """Beside the form are the code and the last calls, after a call also the answer, which is chosen, and its JSON."""
    ada, calls.end = await visitor().sign_up(), ANSWER
    mine = await key()
    before = tree(await ada.get("/playground/web_search"))
    after = tree(await ada.post("/playground/web_search", key=mine.id, **{"q.q": "coffee"}))
    views = [[one.get("value") for one in page.cssselect("input[name=view]")] for page in (before, after)]
    assert views == [["code", "history"], ["answer", "json", "code", "history"]]
    assert after.cssselect("input[name=view][checked]")[0].get("value") == "answer"
