import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata import pages
from webdata.pages import blocked
from webdata.pages.blocked import Block, block_of

SEARCH = "https://www.google.com/search?q=pottery"
RESULTS = b'<div id="rso"><a href="https://kilnlane.example/"><h3>Kiln Lane</h3></a></div>'
CONSENT_DIALOG = b'<form action="https://consent.google.com/save"><button>Reject all</button></form>'
SHELL = b'<noscript><meta http-equiv="refresh" content="0;url=/httpservice/retry/enablejs?sei=x"></noscript>'


def kind(
    body: bytes = b"", url: str = SEARCH, status: int = 200, engine: str | None = "google_web", **headers: str
) -> str | None:
    found = block_of(status, headers, body, url, engine)
    return found.kind if found else None


@pytest.mark.captures
def test_every_saved_block_is_recognised_and_no_results_page_is_a_block(all_captures):
    """All saved blocks are blocks; no saved page of results is one, not even under a consent dialog."""
    saved = [page for folder in all_captures for page in sorted((folder / "google-block").glob("*.html"))]
    open_pages = [page for folder in all_captures for page in sorted((folder / "google-web").glob("*.html"))]

    assert [page.name for page in saved if kind(page.read_bytes()) is None] == []
    assert [page.name for page in open_pages if kind(page.read_bytes()) is not None] == []


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://www.google.com/sorry/index?continue=x", "captcha"),
        ("https://sorry.google.com/?q=x", "captcha"),
        ("https://www.google.de/sorry/index", "captcha"),
        ("https://consent.google.com/m?continue=x", "consent"),
        ("https://example.com/sorry/letter", None),
        (SEARCH, None),
    ],
)
def test_the_address_of_a_captcha_or_consent_page_is_enough(url, expected):
    """The captcha and the consent page have addresses of their own."""
    assert expected == kind(url=url)


def test_a_redirect_to_the_captcha_is_a_captcha():
    """The target of a redirect is checked like the page's own address."""
    assert kind(status=302, Location="https://www.google.com/sorry/index?continue=x") == "captcha"


def test_a_consent_dialog_over_results_is_no_block():
    """A consent form is a block only without results."""
    assert (kind(RESULTS + CONSENT_DIALOG), kind(CONSENT_DIALOG)) == (None, "consent")


def test_a_consent_page_is_known_by_its_base_address_at_any_length():
    """The page of 2026 has 600 KB of scripts; its base address is the host of consent pages."""
    page = CONSENT_DIALOG + b"<script>" + b" " * 300_000
    assert kind(b'<html><base href="https://consent.google.com/">' + page) == "consent"
    assert kind(b'<html><base href="https://www.google.com/">' + page) is None


def test_a_shell_that_needs_scripts_is_a_block_and_results_with_the_same_refresh_are_none():
    """Results pages have the refresh for browsers without JavaScript too."""
    assert (kind(SHELL), kind(SHELL + RESULTS)) == ("javascript", None)


def test_a_captcha_form_on_a_long_page_is_no_block():
    """Forms and phrases are evidence on short pages only."""
    captcha = b'<div class="g-recaptcha"></div>'
    assert (kind(captcha), kind(captcha + b"<p>pottery</p>" * 3000)) == ("captcha", None)


@pytest.mark.parametrize(
    "phrase", ["Our systems have detected unusual traffic", "通常と異なるトラフィックが検出されました"]
)
def test_the_phrase_of_the_captcha_page_is_recognised_in_several_languages(phrase):
    """A captcha page without its form is recognised by its phrase."""
    assert kind(phrase.encode()) == "captcha"


@pytest.mark.parametrize("status", [403, 429])
def test_a_refusal_without_a_page_is_a_denial(status):
    """Status 403 or 429 without results is a denial, whatever the text."""
    assert (kind(b"no", status=status), kind(RESULTS, status=status)) == ("denied", None)


def test_a_block_names_the_evidence():
    """The reason of a block is the evidence for it."""
    assert Block("consent", "the address is Google's consent page") == block_of(
        200, {}, b"", "https://consent.google.com/m", "google_web"
    )


BING_CHALLENGE = b'<div class="captcha_header"></div><div id="turnstile-widget"></div>'


@pytest.mark.captures
def test_bings_challenge_is_recognised_and_no_results_page_of_bing_is_a_block(captures):
    """All saved challenges are captchas, in any language; results pages with the same widget are no block."""
    rows = [json.loads(line) for line in (captures / "bing" / "INDEX.jsonl").read_text().splitlines()]
    kinds = {row["file"]: kind((captures / "bing" / row["file"]).read_bytes(), engine="bing_web") for row in rows}
    assert kinds == {row["file"]: "captcha" if row.get("expect") == "blocked" else None for row in rows}


def test_bings_widget_is_a_block_only_without_a_column_of_results():
    """The widget beside a column of results is no block."""
    results = BING_CHALLENGE + b'<ol id="b_results">'
    assert (kind(BING_CHALLENGE, engine="bing_web"), kind(results, engine="bing_web")) == ("captcha", None)


def test_the_blocks_of_an_engine_are_its_own_or_those_of_any_site():
    """Another engine's page is not searched for Bing's challenge; a page of any site is."""
    kinds = [kind(BING_CHALLENGE, "https://example.com/", engine=engine) for engine in ("bing_web", "google_web", None)]
    assert kinds == ["captcha", None, "captcha"]


def test_a_page_module_that_cannot_be_imported_takes_no_block_from_the_others(tmp_path, monkeypatch, caplog):
    """It is named in the log, and the blocks of all other sites are recognised on any page."""
    (tmp_path / "half_made.py").write_text("import no_such_module")
    monkeypatch.setattr(pages, "__path__", [*pages.__path__, str(tmp_path)])
    blocked._page_modules.cache_clear()
    assert kind(BING_CHALLENGE, engine=None) == "captcha"
    assert "webdata.pages.half_made is left out: it cannot be imported" in caplog.text
    blocked._page_modules.cache_clear()


@given(st.binary(max_size=300), st.text(max_size=60), st.integers(100, 599), st.sampled_from(["google_web", None]))
def test_no_response_makes_the_checks_raise(body, url, status, engine):
    """Any bytes, address and status give a block or None."""
    found = block_of(status, {"location": url}, body, url, engine)
    assert found is None or found.kind in {"captcha", "consent", "javascript", "denied"}


@pytest.mark.parametrize(
    "headers", [{"Content-Type": "application/json; charset=utf-8"}, {}], ids=["declared", "saved"]
)
def test_phrases_in_json_are_no_block(headers):
    """The same phrases are a block in HTML, and in JSON with the status of an error."""
    body = b'{"title": "unusual traffic <form id=captcha-form>"}'
    assert block_of(200, headers, body, "https://api.example.org/", "google_web") is None
    assert (
        block_of(200, {"Content-Type": "text/html"}, body, "https://api.example.org/", "google_web").kind == "captcha"
    )
    assert block_of(429, headers, body, "https://api.example.org/", "google_web").kind == "captcha"
