"""Google's web search in the sandbox."""

import re
import shutil
import subprocess
import sys
from urllib.parse import urlencode, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest_twisted import ensureDeferred
from selectolax.lexbor import LexborHTMLParser
from twisted.internet.threads import deferToThread

from webdata.domain.errors import LayoutError
from webdata.domain.google_domains import DOMAINS
from webdata.pages import google_web as parser
from webdata.pages.blocked import block_of
from webdata.resources.web_search import WebQuery
from webdata.runtime.wire.exchange import SandboxRequest
from webdata.sandbox.sites import google_web, site_for

PHONE = {"user-agent": "Mozilla/5.0 (Linux; Android 14) Chrome/140.0 Mobile Safari/537.36"}
RESERVED = re.compile(r"(.*\.)?(example\.(com|org|net)|[a-z-]+\.example)")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def ask(path="/search", headers=None, *, host="www.google.com", method="GET", body=b"", **query):
    target = f"{path}?{urlencode(query)}" if query else path
    return google_web.answer(SandboxRequest(method, "https", host, target, headers or {}, body))


def tree(reply):
    return LexborHTMLParser(reply.body)


def location(reply):
    return dict(reply.headers)["Location"]


def links(reply):
    return [node.attributes["href"] for node in tree(reply).css("#rso [data-snhf] a[href]")]


def test_it_answers_for_every_google():
    """The site answers for Google's own domain and those of countries, and for no other host."""
    hosts = [
        "google.com",
        "www.google.com",
        "www.google.de",
        "www.google.co.uk",
        "www.google.com.br",
        "consent.google.fr",
        *DOMAINS,
        *(f"www.{domain}" for domain in DOMAINS),
    ]
    assert all(site_for(host) is google_web.answer for host in hosts)
    assert google_web.answer not in map(site_for, ["notgoogle.com", "google.com.evil.example", "www.google.evil"])


def test_other_searches_get_other_pages():
    """Terms, country, language, page and device each change the page."""
    pages = [ask(q="coffee", **more) for more in ({}, {"gl": "de"}, {"hl": "de"}, {"start": 10}, {"headers": PHONE})]
    assert len({page.body for page in [*pages, ask(q="tea")]}) == 6


@pytest.mark.parametrize("headers", [{}, PHONE], ids=["desktop", "mobile"])
def test_there_are_three_pages_of_ten(headers):
    """There are thirty different results, ten a page, then the page that reports no results."""
    pages = [ask(q="coffee", start=start, headers=headers) for start in (0, 10, 20)]
    assert [len(links(page)) for page in pages] == [10, 10, 10]
    assert len({link for page in pages for link in links(page)}) == 30
    assert links(ask(q="coffee", start=25, headers=headers)) == links(pages[2])[5:]
    last = ask(q="coffee", start=30, headers=headers)
    assert links(last) == []
    assert "did not match any documents" in tree(last).css_first("#topstuff" if headers else "#botstuff").text()


@pytest.mark.parametrize(
    ("num", "count"), [("3", 3), ("1", 1), ("10", 10), ("100", 10), ("0", 10), ("x", 10), ("", 10)]
)
def test_num_limits_the_results(num, count):
    """A smaller number is respected; a larger one or an invalid one gets ten."""
    assert links(ask(q="coffee", num=num)) == links(ask(q="coffee"))[:count]


@pytest.mark.parametrize("start", ["-5", "x", "", "1e3", "٣"])
def test_an_invalid_start_gets_the_first_page(start):
    """A start that is no number gets the first page."""
    assert ask(q="coffee", start=start).body == ask(q="coffee").body


@pytest.mark.parametrize("query", [{}, {"q": ""}, {"q": " \t"}, {"num": "5"}])
def test_a_search_without_terms_redirects_home(query):
    """Without terms Google redirects the client to its home page."""
    reply = ask(**query)
    assert (reply.status, location(reply)) == (302, "https://www.google.com/")
    assert tree(ask("/")).css_first("title").text() == "Google"


@given(
    q=st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=80).filter(str.strip), mobile=st.booleans()
)
@settings(max_examples=60, deadline=None)
def test_terms_are_text_and_nothing_else(q, mobile):
    """Any terms are text in the title and add no markup."""
    reply = ask(q=q, headers=PHONE if mobile else {})
    title = f"{q} - Google Search".replace("\0", "\ufffd")
    assert reply.status == 200
    assert tree(reply).css_first("title").text().split() == title.split()
    assert len(tree(reply).css("script, style")) == 1


def test_markup_in_terms_is_escaped():
    """Terms that are markup are text on the page, in attributes too."""
    terms = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
    for headers in ({}, PHONE):
        page = tree(ask(q=terms, headers=headers))
        assert page.css("script") == page.css("img[onerror]") == []
        box = page.css_first("[name=q]")
        assert (box.attributes.get("value") or box.text()) == terms


def test_every_link_is_invented():
    """Links have reserved example domains, or Google's own."""
    for number in range(30):
        for node in tree(ask(q=f"coffee {number}")).css("[href], [src]"):
            host = urlsplit(node.attributes.get("href") or node.attributes["src"]).hostname
            assert host is None or RESERVED.fullmatch(host), host


SELECTORS = {
    "results": "[data-snc]",
    "ads": "[data-text-ad]",
    "shopping_ads": ".pla-unit",
    "related_questions": ".related-question-pair",
    "places": ".VkpGBb",
    "related_searches": ".ngTNl, .h9P1Xd",
}


@pytest.mark.parametrize(
    ("headers", "missing"), [({}, set()), (PHONE, {"shopping_ads", "places"})], ids=["desktop", "mobile"]
)
def test_every_part_is_read_by_the_parser(headers, missing):
    """The parser reads all parts of a page, and each part is on some page."""
    parts = set()
    for number in range(20):
        reply, query = ask(q=f"coffee {number}", headers=headers), WebQuery(q=f"coffee {number}")
        record, page = parser.record(reply.body, query), tree(reply)
        counts = {part: len(page.css(selector)) for part, selector in SELECTORS.items()}
        assert {part: len(record[part]) for part in SELECTORS} == counts
        assert bool(record["company"]) == bool(page.css_first("#rhs"))
        stories = [one["items"] for one in record["carousel"] if one["type"] == "top_stories"]
        assert sum(map(len, stories)) == len(page.css(".WlydOe"))
        parts |= {part for part, count in counts.items() if count}
    assert parts == set(SELECTORS) - missing


def test_the_captcha_redirects_to_the_sorry_page():
    """The captcha is a redirect to a 429 with a form that has the URL of the search."""
    search = ask(q="coffee sandbox:captcha")
    assert search.status == 302
    path, _, query = location(search).removeprefix("https://www.google.com").partition("?")
    reply = google_web.answer(SandboxRequest("GET", "https", "www.google.com", f"{path}?{query}", {}))
    form = tree(reply).css_first("form#captcha-form[action=index][method=post]")
    assert (path, reply.status) == ("/sorry/index", 429)
    address = "https://www.google.com/search?q=coffee+sandbox%3Acaptcha"
    assert form.css_first("[name=continue]").attributes["value"] == address
    assert tree(reply).css_first("title").text() == address
    assert form.css_first("#recaptcha.g-recaptcha[data-s]")


@pytest.mark.parametrize("cookie", ["", "x", "abc.123", ".23712", "abc."])
def test_an_invalid_solution_is_refused(cookie):
    """A cookie with another value than the page's script computes does not open the results."""
    for name, scenario in (("GOOGLE_ABUSE_EXEMPTION", "captcha"), ("SG_SS", "enablejs")):
        reply = ask(q=f"coffee sandbox:{scenario}", headers={"cookie": f"{name}={cookie}"})
        assert links(reply) == []


def test_interstitials_redirect_to_google_alone():
    """Neither captcha nor consent redirects a client to another site."""
    elsewhere = "https://evil.example/"
    box = tree(ask("/sorry/index", **{"continue": elsewhere})).css_first("[data-next]")
    assert box.attributes["data-next"] == "https://www.google.com/"
    body = urlencode({"continue": elsewhere}).encode()
    assert location(ask("/save", host="consent.google.com", method="POST", body=body)) == "https://www.google.com/"


def test_the_consent_form_opens_the_results():
    """The consent page's form sets a cookie that opens the results."""
    for domain in ("google.com", "google.de"):
        search = ask(q="coffee sandbox:consent", host=f"www.{domain}")
        target = location(search).removeprefix(f"https://consent.{domain}")
        page = tree(ask(target, host=f"consent.{domain}"))
        form = page.css_first(f'form[action="https://consent.{domain}/save"]')
        fields = {node.attributes["name"]: node.attributes["value"] for node in form.css("input")}
        saved = ask("/save", host=f"consent.{domain}", method="POST", body=urlencode(fields).encode())
        assert location(saved) == f"https://www.{domain}/search?q=coffee+sandbox%3Aconsent"
        cookie = dict(saved.headers)["Set-Cookie"]
        assert f"Domain=.{domain}" in cookie
        again = ask(q="coffee sandbox:consent", host=f"www.{domain}", headers={"cookie": cookie.partition(";")[0]})
        assert len(links(again)) == 10


def test_the_shell_has_no_results():
    """The page that requires JavaScript is a 200 with Google's title and without results."""
    reply = ask(q="coffee sandbox:enablejs", hl="de")
    page = tree(reply)
    assert reply.status == 200
    assert page.css_first("title").text() == "Google Search"
    assert page.css("h3, #search, #rso, #botstuff") == []
    assert b"/httpservice/retry/enablejs?sei=" in reply.body
    assert ask("/httpservice/retry/enablejs", sei="x").status == 200


@pytest.mark.parametrize(("scenario", "status"), [("denied", 403), ("limited", 429), ("error", 500), ("nonsense", 400)])
def test_errors_have_their_status(scenario, status):
    """Denials, limits and errors have their status and no results."""
    reply = ask(q=f"coffee sandbox:{scenario}")
    assert reply.status == status
    assert links(reply) == []


@pytest.mark.parametrize("headers", [{}, PHONE], ids=["desktop", "mobile"])
@pytest.mark.parametrize("scenario", ["captcha", "enablejs", "consent", "denied", "limited"])
def test_every_block_is_recognised(scenario, headers):
    """Every page in place of the results is recognised as a block."""
    reply, url = ask(q=f"coffee sandbox:{scenario}", headers=headers), "https://www.google.com/search?q=coffee"
    if reply.status == 302:
        url = location(reply)
        parts = urlsplit(url)
        reply = ask(f"{parts.path}?{parts.query}", host=parts.hostname, headers=headers)
    assert block_of(reply.status, {}, reply.body, url, "google_web")


@pytest.mark.parametrize("headers", [{}, PHONE], ids=["desktop", "mobile"])
def test_an_unknown_layout_is_a_layout_error(headers):
    """A page in an unknown layout is neither blocked nor empty."""
    reply = ask(q="coffee sandbox:layout", headers=headers)
    assert block_of(reply.status, {}, reply.body, "https://www.google.com/search?q=coffee", "google_web") is None
    with pytest.raises(LayoutError):
        parser.record(reply.body, WebQuery(q="coffee"))


@pytest.mark.parametrize("headers", [{}, PHONE], ids=["desktop", "mobile"])
def test_an_empty_page_is_an_empty_record(headers):
    """The page that reports no results gives an empty record."""
    record = parser.record(ask(q="coffee sandbox:empty", headers=headers).body, WebQuery(q="coffee"))
    assert not any(record[part] for part in SELECTORS)


@pytest.mark.parametrize(
    ("path", "method", "status"), [("/maps", "GET", 404), ("/search", "POST", 405), ("/webhp", "GET", 200)]
)
def test_other_pages_are_errors(path, method, status):
    """Paths and methods that the sandbox does not support get Google's own error page."""
    assert ask(path, method=method, q="x").status == status


BROWSER = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--ignore-certificate-errors",
    "--virtual-time-budget=10000",
    "--dump-dom",
]


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH: the scripts need a real browser")
@pytest.mark.parametrize("scenario", ["captcha", "enablejs"])
@ensureDeferred
async def test_a_real_browser_gets_the_results(client, scenario, tmp_path):
    """A real browser runs the page's script and gets the results, a plain client gets the block."""
    address = f"https://www.google.com/search?q=coffee+sandbox%3A{scenario}"
    assert (await client.get(address)).status in (200, 302)
    command = [CHROMIUM, *BROWSER, f"--user-data-dir={tmp_path}", f"--proxy-server={client.url}", address]
    ran = await deferToThread(subprocess.run, command, capture_output=True, timeout=60, check=True)
    page = LexborHTMLParser(ran.stdout)
    assert page.css_first("title").text() == f"coffee sandbox:{scenario} - Google Search"
    assert len(page.css("#rso [data-snc]")) == 10


@pytest.mark.usefixtures("starts")
def test_pages_are_the_same_in_every_process():
    """A page does not depend on the process that makes it."""
    code = (
        "import sys; from webdata.sandbox.sites import google_web;"
        "from webdata.runtime.wire.exchange import SandboxRequest;"
        "sys.stdout.buffer.write(google_web.answer("
        "SandboxRequest('GET', 'https', 'www.google.com', '/search?q=coffee', {})).body)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env={"PYTHONHASHSEED": "7"})
    assert ran.stdout == ask(q="coffee").body
