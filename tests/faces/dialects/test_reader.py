"""Jina Reader's API in memory."""

import pytest
from pytest_twisted import ensureDeferred

from tests.faces.dialects.conftest import page_answer
from webdata.domain.errors import UpstreamTimeoutError
from webdata.faces.dialects.reader import Reader

PAGE = "https://a.example/b?c=d&e=%20f"


@pytest.fixture
def send(speak, dialect_calls):
    return speak(Reader(dialect_calls).door())


@pytest.fixture
def read(send, test_secret, calls):
    calls.pages = {
        PAGE: page_answer(PAGE, "# Beans\n\nAll about them.", "On beans"),
        "https://a.example/": page_answer(PAGE, "x"),
    }

    def got(target, **headers):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return send(target, headers={"Authorization": f"Bearer {test_secret}", **named})

    return got


@pytest.mark.parametrize(
    "target",
    [
        f"/reader/{PAGE}",
        "/reader/https:/a.example/b?c=d&e=%20f",
        "/reader/a.example/b?c=d&e=%20f",
        "/reader/https%3A%2F%2Fa.example%2Fb%3Fc%3Dd%26e%3D%2520f",
    ],
)
@ensureDeferred
async def test_a_page_is_text_with_two_lines_about_it(read, calls, target):
    """The URL in the path may be as it is, encoded, with one slash, or without a scheme."""
    response = await read(target)
    assert (response.status, response.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    assert response.body.decode() == (
        f"Title: On beans\n\nURL Source: {PAGE}\n\nMarkdown Content:\n# Beans\n\nAll about them."
    )
    assert (calls.calls[0].query.url, calls.calls[0].query.content) == (PAGE, "main")


@ensureDeferred
async def test_a_page_has_its_day_where_it_is_known(read, calls):
    """Text has it in a line behind the URL, JSON as `publishedTime`."""
    page = page_answer(PAGE, "# Beans", "On beans")
    page.record["metadata"]["published"] = "2026-11-02"
    calls.pages = {PAGE: page}
    text = (await read(f"/reader/{PAGE}")).body.decode()
    assert text == (
        f"Title: On beans\n\nURL Source: {PAGE}\n\nPublished Time: 2026-11-02\n\nMarkdown Content:\n# Beans"
    )
    assert (await read(f"/reader/{PAGE}", Accept="application/json")).json["data"]["publishedTime"] == "2026-11-02"


@ensureDeferred
async def test_json_has_the_page_and_its_url(read):
    """With `Accept: application/json` there is an object."""
    response = await read(f"/reader/{PAGE}", Accept="application/json")
    data = {
        "title": "On beans",
        "description": "",
        "language": "en",
        "url": PAGE,
        "content": "# Beans\n\nAll about them.",
    }
    assert response.json == {"code": 200, "status": 20000, "data": data}


@pytest.mark.parametrize(
    ("headers", "fields"),
    [
        ({}, (("markdown", "metadata"), "main")),
        ({"X_Respond_With": "content"}, (("markdown", "metadata"), "main")),
        ({"X_Respond_With": "markdown"}, (("markdown", "metadata"), "page")),
        ({"X_Return_Format": "Markdown"}, (("markdown", "metadata"), "page")),
        ({"X_Respond_With": "html"}, (("html", "metadata"), "page")),
        ({"X_Respond_With": "text"}, (("text", "metadata"), "page")),
        ({"X_Target_Selector": "article"}, (("markdown", "metadata"), "page")),
        ({"X_With_Generated_Alt": "false", "X_Cache_Tolerance": "3600"}, (("markdown", "metadata"), "main")),
        ({"X_With_Links_Summary": "all"}, (("markdown", "metadata", "links"), "main")),
    ],
)
@ensureDeferred
async def test_headers_choose_the_form(read, calls, headers, fields):
    """`X-Respond-With` and `X-Return-Format` choose the page's content or all of it, as Markdown or as it is."""
    assert (await read("/reader/https://a.example/", **headers)).status == 200
    query = calls.calls[0].query
    assert (query.formats, query.content) == fields


@pytest.mark.parametrize(
    ("headers", "fields"),
    [
        ({"X_Engine": "browser"}, {"render": "always"}),
        ({"X_Engine": "direct"}, {"render": "never"}),
        ({"X_Retain_Images": "none", "X_Remove_Selector": "nav"}, {"exclude": ["nav", "img", "picture", "svg"]}),
        ({"X_Retain_Images": "all", "X_Md_Link_Style": "inlined"}, {"exclude": []}),
    ],
)
@ensureDeferred
async def test_headers_set_fields_of_the_query(read, calls, headers, fields):
    """Whether a browser renders the page, and what is left out of it."""
    assert (await read("/reader/https://a.example/", **headers)).status == 200
    given = calls.calls[0].query.model_dump(mode="json")
    assert {name: given[name] for name in fields} == fields


@ensureDeferred
async def test_links_and_images_are_listed(read, calls):
    """Behind the text, or as objects by name in JSON: of two addresses of one name the second by itself."""
    links = [("More", "/b"), ("More", "/b"), ("More", "/c"), ("", "/d")]
    answer = page_answer("https://a.example/", "x")
    answer.record["links"] = [{"url": f"https://a.example{path}", "text": text} for text, path in links]
    calls.pages = {"https://a.example/": answer}
    asked = {"X_With_Links_Summary": "true", "X_With_Images_Summary": "true"}
    text = (await read("/reader/https://a.example/", **asked)).body.decode()
    assert "\n\nImages:\n- ![Image 1](https://a.example/a.png)\n\nLinks/Buttons:\n- [More](https://a.ex" in text
    found = (await read("/reader/https://a.example/", Accept="application/json", **asked)).json["data"]
    assert list(found["links"].items()) == [
        ("More", "https://a.example/b"),
        ("https://a.example/c", "https://a.example/c"),
        ("https://a.example/d", "https://a.example/d"),
    ]
    every = await read("/reader/https://a.example/", Accept="application/json", X_With_Links_Summary="all")
    assert (len(every.json["data"]["links"]), "images" in every.json["data"]) == (4, False)


@ensureDeferred
async def test_html_is_the_page_alone(read):
    """Nothing stands before it."""
    assert (await read("/reader/https://a.example/", X_Respond_With="html")).body == b"<html>x</html>"


@ensureDeferred
async def test_a_body_may_have_the_url(send, calls, test_secret):
    """POST has it as JSON or as a form, also one with a fragment."""
    calls.pages = {"https://a.example/": page_answer("https://a.example/", "x")}
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for headers, body in ((form, b"url=https://a.example/%23/route"), ({}, b'{"url": "https://a.example"}')):
        given = {"X-Api-Key": test_secret, **headers}
        assert (await send("/reader/", "POST", given, body)).status == 200
        assert (await send("/reader", "POST", given, body)).status == 200


@ensureDeferred
async def test_a_form_that_is_not_utf_8_is_refused(send, calls, test_secret):
    """No other page is read instead."""
    headers = {"X-Api-Key": test_secret, "Content-Type": "application/x-www-form-urlencoded"}
    response = await send("/reader/", "POST", headers, b"url=https://a.example/caf%E9")
    assert (response.status, calls.calls) == (400, [])
    assert "url is not UTF-8" in response.json["message"]


@pytest.mark.parametrize(
    ("target", "headers", "named"),
    [
        ("/reader/https://a.example/", {"X_Respond_With": "vlm"}, "X-Respond-With"),
        ("/reader/https://a.example/", {"X_Return_Format": "json"}, "X-Return-Format cannot be 'json'"),
        ("/reader/https://a.example/", {"X_With_Generated_Alt": "true"}, "X-With-Generated-Alt"),
        ("/reader/https://a.example/", {"X_Proxy_Url": "http://p.example"}, "X-Proxy-Url"),
        ("/reader/https://a.example/", {"X_Md_Link_Style": "discarded"}, "X-Md-Link-Style"),
        ("/reader/https://a.example/", {"X_Retain_Images": "alt"}, "X-Retain-Images cannot be 'alt': give all or none"),
        ("/reader/https://a.example/", {"X_Engine": "magic"}, "X-Engine cannot be 'magic': give one of browser"),
        ("/reader/https://a.example/", {"X_Respond_With": "html", "X_With_Links_Summary": "true"}, "is of Markdown"),
        ("/reader/https://a.example/", {"X_Cache_Tolerance": "soon"}, "X-Cache-Tolerance"),
        ("/reader/https://a.example/", {"Accept": "Text/Event-Stream"}, "text/event-stream"),
    ],
)
@ensureDeferred
async def test_what_is_not_honoured_is_named(read, calls, target, headers, named):
    """It is a 400 in Jina Reader's shape; nothing is fetched."""
    response = await read(target, **headers)
    assert (response.status, response.json["code"], response.json["data"]) == (400, 400, None)
    assert named in response.json["message"]
    assert not calls.calls


@ensureDeferred
async def test_errors_have_the_readers_shape(read, send, calls):
    """A page that does not come is a 502, a missing key a 401."""
    calls.pages = {PAGE: UpstreamTimeoutError("late", "timeout")}
    response = await read(f"/reader/{PAGE}")
    assert (response.status, response.json["code"], response.json["name"]) == (502, 502, "upstream_timeout")
    missing = await send(f"/reader/{PAGE}", headers={})
    assert (missing.status, missing.json["status"]) == (401, 40100)


@ensureDeferred
async def test_no_cache_fetches_anew(admission, read, calls):
    """`X-No-Cache`, and a tolerance that is shorter than pages are cached, pass by the cache."""
    for headers in ({"X_No_Cache": "true"}, {"X_Cache_Tolerance": "0"}):
        assert (await read(f"/reader/{PAGE}", **headers)).headers["x-cache"] == "MISS"
    assert len(calls.calls) == 2


@ensureDeferred
async def test_a_screenshot_is_the_picture(read, calls):
    """Alone, or as an address that holds it in JSON; `pageshot` is of the whole page."""
    calls.pages = {"https://a.example/": page_answer("https://a.example/", "x")}
    picture = await read("/reader/https://a.example/", X_Respond_With="pageshot")
    assert (picture.headers["content-type"], picture.body[:4]) == ("image/png", b"\x89PNG")
    assert calls.calls[0].query.screenshot_full_page
    described = await read("/reader/https://a.example/", X_Respond_With="screenshot", Accept="application/json")
    assert described.json["data"]["screenshotUrl"] == "data:image/png;base64,iVBORw=="


@ensureDeferred
async def test_cookies_and_waiting_are_those_of_a_page(read, calls):
    """Each has a header of its own."""
    calls.pages = {"https://a.example/": page_answer("https://a.example/", "x")}
    response = await read("/reader/https://a.example/", X_Set_Cookie="visit=abc", X_Wait_For_Selector="#results")
    assert response.status == 200
    assert (dict(calls.calls[0].query.cookies), calls.calls[0].query.wait_for) == ({"visit": "abc"}, "#results")
