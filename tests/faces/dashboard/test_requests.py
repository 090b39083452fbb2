"""The list of calls, the page of one, and the pages that no parser knew."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from lxml import html

from tests.logged_calls import HOSTILE, attempt, logged_call
from webdata.crawling.samples import Samples
from webdata.faces.dashboard.requests import began, subject
from webdata.stores.accounts.model import DEFAULT_ACCOUNT

pytestmark = pytest.mark.task

DAY = timedelta(days=1)


def listed(page):
    """The ids of the calls on a page."""
    return re.findall(r'<span class="mono">(req_\w+)</span>', page.body.decode())


def facts(page):
    """The names and values of a page."""
    tree = html.fromstring(page.body)
    return {
        name.text_content(): " ".join(value.text_content().split())
        for name, value in zip(tree.cssselect("dt"), tree.cssselect("dd"), strict=True)
    }


async def test_without_calls_the_page_says_what_to_do(visitor):
    """An empty list leads to the keys."""
    page = await (await visitor().sign_up()).get("/requests")
    assert (page.status, "Make a key" in page.body.decode()) == (200, True)


async def test_calls_are_listed_and_paged(visitor, stores):
    """The calls of the account are listed, 50 a page, and the links between the pages lose none."""
    now = datetime.now(UTC)
    calls = [logged_call(now - timedelta(seconds=number)) for number in range(120)]
    await stores.calls.add([*calls, logged_call(account_id="acc_other")])
    person, path, found = await visitor().sign_up(), "/requests", []
    while path:
        page = await person.get(path)
        found += listed(page)
        older = html.fromstring(page.body).cssselect("a[rel=next]")
        path = f"/requests{older[0].get('href')}" if older else None
    assert found == [one.id for one in calls]


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ("outcome=blocked", 1),
        ("engine=bing_web", 1),
        ("key=key_2", 1),
        ("outcome=ok&engine=google_web&key=key_1", 1),
        ("endpoint=maps_search", 1),
        ("text=HARBOUR+%22inn%22", 1),
        ("text=%25", 0),
        ("text=coffee&endpoint=web_search&outcome=blocked", 1),
        ("until=2026-01-01", 0),
        ("since=2026-01-01", 4),
        ("outcome=%3Cscript%3E&engine=" + "x" * 999, 0),
        ("before=nonsense", 4),
    ],
)
async def test_calls_are_filtered(visitor, stores, query, number):
    """Each field of the form leaves out what does not fit; values that are unknown find nothing."""
    await stores.calls.add([logged_call(), logged_call(outcome="blocked"), logged_call(engine="bing_web")])
    harbour = {"q": 'a harbour "inn"'}
    await stores.calls.add([logged_call(key_id="key_2", resource="maps_search", query=harbour)])
    page = await (await visitor().sign_up()).get(f"/requests?{query}")
    assert (page.status, len(listed(page))) == (200, number)


@pytest.mark.parametrize(
    "query", ["since=yesterday", "until=2026-13-01", "id=42", "since=9999-12-31", "since=0001-01-01"]
)
async def test_wrong_fields_are_named_beside_them(visitor, query):
    """A day or an id that is none is a 422 with what would be right, beside its field."""
    page = await (await visitor().sign_up()).get(f"/requests?{query}")
    assert page.status == 422
    assert 'aria-invalid="true"' in page.body.decode()


async def test_an_id_leads_to_its_page(visitor, stores):
    """The id of a request in the form leads to its page."""
    call = logged_call()
    await stores.calls.add([call])
    response = await (await visitor().sign_up()).get(f"/requests?id={call.id}")
    assert (response.status, response.headers["location"]) == (303, f"/dashboard/requests/{call.id}")


async def test_a_request_has_a_page_with_its_attempts(visitor, stores, ledger):
    """The page of a request has its query, its times, each attempt, and its movements of the ledger."""
    call = logged_call(
        outcome="blocked",
        code="blocked",
        message="The upstream showed a blocking page.",
        attempts=[attempt(outcome="blocked", kind="captcha"), attempt(transport="impersonate", outcome="blocked")],
        query={"q": "coffee", "num": 5},
    )
    await stores.calls.add([call])
    await ledger.reserve(DEFAULT_ACCOUNT, call.id, "web_search", "key_1")
    await ledger.release(call.id, "blocked")
    page = await (await visitor().sign_up()).get(f"/requests/{call.id}")
    shown = facts(page)
    assert (shown["Outcome"], shown["Took"], shown["q"], shown["num"]) == ("blocked", "300 ms", "coffee", "5")
    text = page.body.decode()
    assert "The upstream showed a blocking page." in text
    attempts, movements = html.fromstring(page.body).cssselect("tbody")
    assert [row[2].text_content() for row in attempts] == ["http", "impersonate"]
    assert ["Returned" in movements[0].text_content(), "Reserved" in movements[1].text_content()] == [True, True]
    assert len(html.fromstring(page.body).cssselect("svg.timings rect")) == 4


async def test_proxies_are_for_admins(visitor, stores):
    """The label of an attempt's proxy is shown to admins alone."""
    call = logged_call(attempts=[attempt(proxy="de-secret-1")])
    await stores.calls.add([call])
    member, admin = await visitor().sign_up(), await visitor().sign_up("eve@example.com", role="admin")
    assert "de-secret-1" not in (await member.get(f"/requests/{call.id}")).body.decode()
    assert "de-secret-1" in (await admin.get(f"/requests/{call.id}")).body.decode()


async def test_a_request_of_another_account_is_not_there(visitor, stores):
    """For a member a request of another account does not exist, as one that never was; an admin sees it."""
    call = logged_call(account_id="acc_other")
    await stores.calls.add([call])
    member, admin = await visitor().sign_up(), await visitor().sign_up("eve@example.com", role="admin")
    theirs, never = await member.get(f"/requests/{call.id}"), await member.get(f"/requests/{logged_call().id}")
    assert (theirs.status, never.status) == (404, 404)
    assert theirs.body.replace(call.id.encode(), b"") != b""
    assert (await admin.get(f"/requests/{call.id}")).status == 200
    assert listed(await member.get("/requests")) == []


async def test_texts_from_outside_are_no_markup(visitor, stores):
    """A query, a message and an attempt full of markup are texts of the list and the page."""
    call = logged_call(
        query={"q": HOSTILE, HOSTILE: HOSTILE, "list": [HOSTILE]},
        message=HOSTILE,
        outcome="blocked",
        code=HOSTILE,
        attempts=[attempt(kind=HOSTILE, engine=HOSTILE)],
    )
    await stores.calls.add([call])
    person = await visitor().sign_up(role="admin")
    for path in ("/requests", f"/requests/{call.id}"):
        page = await person.get(path)
        assert page.status == 200
        scripts = html.fromstring(page.body).cssselect("script")
        assert all(one.get("src") and not one.text for one in scripts)
        assert not html.fromstring(page.body).xpath("//*[starts-with(@href, 'javascript')]")
        assert "alert(1)" in html.fromstring(page.body).text_content()


async def test_pages_of_unknown_layout_are_for_admins(visitor, tmp_path):
    """Admins see the pages that were kept, each as a text; a member does not, nor does a name lead elsewhere."""
    samples = Samples(tmp_path / "samples")
    path = samples.add("google_web", b"<script>alert(1)</script>", url=HOSTILE, status=200, reason="results")
    (tmp_path / "samples" / "other.html").write_bytes(b"not in the index")
    member, admin = await visitor().sign_up(), await visitor().sign_up("eve@example.com", role="admin")
    assert (await member.get("/samples")).status == 403
    assert (await member.get(f"/samples/{path.name}")).status == 403
    assert path.name in (await admin.get("/samples")).body.decode()
    shown = await admin.get(f"/samples/{path.name}")
    assert (shown.body, shown.headers["content-type"]) == (b"<script>alert(1)</script>", "text/plain; charset=utf-8")
    assert shown.headers["x-content-type-options"] == "nosniff"
    for name in ("other.html", "..%2Fwebdata.sqlite3", "INDEX.jsonl"):
        assert (await admin.get(f"/samples/{name}")).status == 404


async def test_without_samples_the_page_says_so(visitor):
    """An empty folder of pages of unknown layout is no error."""
    page = await (await visitor().sign_up(role="admin")).get("/samples")
    assert (page.status, "No page was kept" in page.body.decode()) == (200, True)


async def test_calls_are_named_by_their_query():
    """A call is about its search terms, its URL, or another text of its query."""
    assert subject(logged_call(query={"region": "DE", "q": "coffee"})) == "coffee"
    assert subject(logged_call(query={"response_type": "full", "url": "https://a.example/"})) == "https://a.example/"
    assert subject(logged_call(query={"num": 5, "sort": "new"})) == "new"
    assert subject(logged_call(query={})) == ""


async def test_the_beginning_of_a_call_is_in_its_id():
    """A call began when its id says; an id of another form leaves the time of its end."""
    now = datetime.now(UTC)
    assert abs(began(logged_call(now - DAY)._replace(time=now)) - (now - DAY)) < timedelta(seconds=1)
    assert began(logged_call(now, id="bat_1:5")) == now


async def test_a_call_is_opened_in_the_playground(visitor, stores):
    """The list and the page of a call lead to its form; a call without a query leads nowhere."""
    call, refused = logged_call(), logged_call(outcome="refused", query={})
    await stores.calls.add([call, refused])
    person = await visitor().sign_up()
    for path in ("/requests", f"/requests/{call.id}"):
        assert f"/playground/again/{call.id}" in (await person.get(path)).body.decode()
    assert (await person.get(f"/playground/again/{call.id}")).status == 200
    for path in ("/requests", f"/requests/{refused.id}"):
        assert f"/playground/again/{refused.id}" not in (await person.get(path)).body.decode()
