"""Google's web search, as the sandbox plays it."""

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
from webdata.pages import blocked
from webdata.pages import google_web as parser
from webdata.resources.web_search import WebQuery
from webdata.sandbox.exchange import SandboxRequest
from webdata.sandbox.sites import _google_results, google_web, site_for

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
    """Google's own domain and those of countries are one site, and nobody else's is."""
    ours = [
        "google.com",
        "www.google.com",
        "www.google.de",
        "www.google.co.uk",
        "www.google.com.br",
        "consent.google.fr",
    ]
    assert all(site_for(host) is google_web.answer for host in ours)
    assert google_web.answer not in map(site_for, ["notgoogle.com", "google.com.evil.example", "www.google.evil"])


@pytest.mark.parametrize("headers", [{}, PHONE], ids=["desktop", "mobile"])
def test_the_same_search_gets_the_same_bytes(headers):
    """A search is answered with the same bytes, also when its page was not kept."""
    first = ask(q="coffee", headers=headers)
    _google_results.page.cache_clear()
    assert ask(q="coffee", headers=headers) == first


def test_other_searches_get_other_pages():
    """Terms, country, language, page and device each change the page."""
    pages = [ask(q="coffee", **more) for more in ({}, {"gl": "de"}, {"hl": "de"}, {"start": 10}, {"headers": PHONE})]
    assert len({page.body for page in [*pages, ask(q="tea")]}) == 6


@pytest.mark.parametrize("headers", [{}, PHONE], ids=["desktop", "mobile"])
def test_there_are_three_pages_of_ten(headers):
    """Thirty different results in all, ten a page, and then the page that says that nothing was found."""
    pages = [ask(q="coffee", start=start, headers=headers) for start in (0, 10, 20)]
    assert [len(links(page)) for page in pages] == [10, 10, 10]
    assert len({link for page in pages for link in links(page)}) == 30
    assert links(ask(q="coffee", start=25, headers=headers)) == links(pages[2])[5:]
    last = ask(q="coffee", start=30, headers=headers)
    assert links(last) == []
    assert "did not match any documents" in tree(last).css_first("#topstuff" if headers else "#botstuff").text()


@pytest.mark.parametrize(
    ("num", "shown"), [("3", 3), ("1", 1), ("10", 10), ("100", 10), ("0", 10), ("x", 10), ("", 10)]
)
def test_num_asks_for_fewer(num, shown):
    """A smaller number is honoured, a larger one or nonsense gets ten."""
    assert links(ask(q="coffee", num=num)) == links(ask(q="coffee"))[:shown]


@pytest.mark.parametrize("start", ["-5", "x", "", "1e3", "٣"])
def test_a_start_that_is_no_number_is_the_first_page(start):
    """Nonsense for a start gets the first page."""
    assert ask(q="coffee", start=start).body == ask(q="coffee").body


@pytest.mark.parametrize("query", [{}, {"q": ""}, {"q": " \t"}, {"num": "5"}])
def test_a_search_for_nothing_goes_home(query):
    """Without terms Google sends the client to its home page."""
    reply = ask(**query)
    assert (reply.status, location(reply)) == (302, "https://www.google.com/")
    assert tree(ask("/")).css_first("title").text() == "Google"


@given(
    q=st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=80).filter(str.strip), mobile=st.booleans()
)
@settings(max_examples=60, deadline=None)
def test_terms_are_text_and_nothing_else(q, mobile):
    """Whatever is searched for stands in the title and adds no markup."""
    reply = ask(q=q, headers=PHONE if mobile else {})
    title = f"{q} - Google Search".replace("\0", "\ufffd")
    assert reply.status == 200
    assert tree(reply).css_first("title").text().split() == title.split()
    assert len(tree(reply).css("script, style")) == 1


def test_markup_in_terms_is_escaped():
    """Terms that are markup come out as text, in attributes too."""
    terms = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
    for headers in ({}, PHONE):
        page = tree(ask(q=terms, headers=headers))
        assert page.css("script") == page.css("img[onerror]") == []
        box = page.css_first("[name=q]")
        assert (box.attributes.get("value") or box.text()) == terms


def test_every_link_leads_to_an_invented_place():
    """Links lead to reserved example domains, or stay with Google."""
    for number in range(30):
        for node in tree(ask(q=f"coffee {number}")).css("[href], [src]"):
            host = urlsplit(node.attributes.get("href") or node.attributes["src"]).hostname
            assert host is None or RESERVED.fullmatch(host), host


SHOWN = {
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
    """What a page shows is what our own parser finds on it, and each part is on some page."""
    seen = set()
    for number in range(20):
        reply, query = ask(q=f"coffee {number}", headers=headers), WebQuery(q=f"coffee {number}")
        record, page = parser.record(reply.body, query), tree(reply)
        counts = {part: len(page.css(selector)) for part, selector in SHOWN.items()}
        assert {part: len(record[part]) for part in SHOWN} == counts
        assert bool(record["company"]) == bool(page.css_first("#rhs"))
        stories = [one["items"] for one in record["carousel"] if one["type"] == "top_stories"]
        assert sum(map(len, stories)) == len(page.css(".WlydOe"))
        seen |= {part for part, count in counts.items() if count}
    assert seen == set(SHOWN) - missing


def test_captcha_sends_to_the_sorry_page():
    """The captcha is a redirect to a 429 whose form knows where to go on."""
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
def test_a_cookie_that_was_not_computed_passes_nothing(cookie):
    """Only the value that the page's script computes opens the captcha."""
    for name, word in (("GOOGLE_ABUSE_EXEMPTION", "captcha"), ("SG_SS", "enablejs")):
        reply = ask(q=f"coffee sandbox:{word}", headers={"cookie": f"{name}={cookie}"})
        assert links(reply) == []


def test_the_sorry_page_leads_to_google_only():
    """Neither captcha nor consent sends a client to somebody else's address."""
    elsewhere = "https://evil.example/"
    box = tree(ask("/sorry/index", **{"continue": elsewhere})).css_first("[data-next]")
    assert box.attributes["data-next"] == "https://www.google.com/"
    body = urlencode({"continue": elsewhere}).encode()
    assert location(ask("/save", host="consent.google.com", method="POST", body=body)) == "https://www.google.com/"


def test_consent_is_passed_by_its_form():
    """The consent page's form gives a cookie, and with it the results."""
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
    """The page that wants JavaScript is a 200 with Google's title and none of its results."""
    reply = ask(q="coffee sandbox:enablejs", hl="de")
    page = tree(reply)
    assert reply.status == 200
    assert page.css_first("title").text() == "Google Search"
    assert page.css("h3, #search, #rso, #botstuff") == []
    assert b"/httpservice/retry/enablejs?sei=" in reply.body
    assert ask("/httpservice/retry/enablejs", sei="x").status == 200


@pytest.mark.parametrize(("word", "status"), [("denied", 403), ("limited", 429), ("error", 500), ("nonsense", 400)])
def test_errors_have_their_status(word, status):
    """Denials, limits and errors come with their status and without results."""
    reply = ask(q=f"coffee sandbox:{word}")
    assert reply.status == status
    assert links(reply) == []


@pytest.mark.parametrize("headers", [{}, PHONE], ids=["desktop", "mobile"])
@pytest.mark.parametrize("word", ["captcha", "enablejs", "consent", "denied", "limited"])
def test_a_block_is_known_for_one(word, headers):
    """Every page that stands in the way is recognised as a block."""
    reply, url = ask(q=f"coffee sandbox:{word}", headers=headers), "https://www.google.com/search?q=coffee"
    if reply.status == 302:
        url = location(reply)
        parts = urlsplit(url)
        reply = ask(f"{parts.path}?{parts.query}", host=parts.hostname, headers=headers)
    assert blocked.block(reply.status, {}, reply.body, url)


@pytest.mark.parametrize("headers", [{}, PHONE], ids=["desktop", "mobile"])
def test_our_parser_does_not_know_an_unknown_layout(headers):
    """A page of a new shape is neither results nor emptiness nor a block to the parser."""
    reply = ask(q="coffee sandbox:layout", headers=headers)
    assert blocked.block(reply.status, {}, reply.body, "https://www.google.com/search?q=coffee") is None
    with pytest.raises(LayoutError):
        parser.record(reply.body, WebQuery(q="coffee"))


@pytest.mark.parametrize("headers", [{}, PHONE], ids=["desktop", "mobile"])
def test_our_parser_knows_an_empty_page(headers):
    """The page that says that nothing was found gives an empty record."""
    record = parser.record(ask(q="coffee sandbox:empty", headers=headers).body, WebQuery(q="coffee"))
    assert not any(record[part] for part in SHOWN)


@pytest.mark.parametrize(
    ("path", "method", "status"), [("/maps", "GET", 404), ("/search", "POST", 405), ("/webhp", "GET", 200)]
)
def test_other_pages_are_not_there(path, method, status):
    """Pages that the sandbox does not play are Google's own error page."""
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


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH: only a real browser can show that it passes")
@pytest.mark.parametrize("word", ["captcha", "enablejs"])
@ensureDeferred
async def test_a_real_browser_passes(client, word, tmp_path):
    """A real browser runs the page's script and ends at the results, where a plain client ends at the block."""
    address = f"https://www.google.com/search?q=coffee+sandbox%3A{word}"
    assert (await client.get(address)).status in (200, 302)
    command = [CHROMIUM, *BROWSER, f"--user-data-dir={tmp_path}", f"--proxy-server={client.url}", address]
    ran = await deferToThread(subprocess.run, command, capture_output=True, timeout=60, check=True)
    page = LexborHTMLParser(ran.stdout)
    assert page.css_first("title").text() == f"coffee sandbox:{word} - Google Search"
    assert len(page.css("#rso [data-snc]")) == 10


def test_pages_are_the_same_in_every_process():
    """Nothing of a page depends on the process that makes it."""
    code = (
        "import sys; from webdata.sandbox.sites import google_web; from webdata.sandbox.exchange import SandboxRequest;"
        "sys.stdout.buffer.write(google_web.answer("
        "SandboxRequest('GET', 'https', 'www.google.com', '/search?q=coffee', {})).body)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env={"PYTHONHASHSEED": "7"})
    assert ran.stdout == ask(q="coffee").body
