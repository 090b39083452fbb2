"""Challenges of firewalls are recognised, the pages of the sites are not taken for challenges."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.pages._firewalls import LONGEST_CHALLENGE, SCREEN, firewall, text
from webdata.pages.blocked import block_of

PROSE = b"<p>" + b"The kiln was opened at dawn. " * 120 + b"</p>"
SCRIPT = b"<script>window._cf_chl_opt = {cvId: '3'}</script>"


def kind(body=b"", status=200, url="https://example.com/", **headers):
    found = block_of(status, headers, body, url)
    return found.kind if found else None


def rows(folder):
    return [json.loads(line) for line in (folder / "INDEX.jsonl").read_text().splitlines()]


@pytest.mark.captures
def test_every_saved_challenge_is_recognised(captures):
    """Saved challenges are blocks, and a normal page with a vendor's script is none."""
    folder = captures / "challenge"
    for row in rows(folder):
        found = block_of(
            row.get("status", 200),
            row.get("headers") or {},
            (folder / row["file"]).read_bytes(),
            row.get("url", "https://example.com/"),
        )
        assert (row["file"], found is not None) == (row["file"], row["expect"] == "blocked")


@pytest.mark.captures
def test_no_normal_page_is_a_challenge(captures):
    """No saved page of the web is a block, whatever scripts it has."""
    folder = captures / "fetch"
    files = [folder / row["file"] for row in rows(folder)]
    assert [file.name for file in files if kind(file.read_bytes()) is not None] == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (SCRIPT, "javascript"),
        (b'<script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1?ray=1"></script>', "javascript"),
        (b'<script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script>', None),
        (b'<div id="cf-error-details"><h1>Access denied</h1></div>', "denied"),
        (b"<script>var dd={'rt':'c','host':'geo.captcha-delivery.com'}</script>", "captcha"),
        (b'<div id="px-captcha"></div>', "captcha"),
        (b"<script>window._pxAppId = 'PX1'</script><div id=root></div>", None),
        (b"Access Denied. Reference&#32;&#35;18&#46;49d02e17&#46;1", "denied"),
        (b"Reference #18.49d02e17.1699", "denied"),
        (b'<iframe id="main-iframe" src="/_Incapsula_Resource?SWUDNSAI=31"></iframe>', "javascript"),
        (b'<script src="/_Incapsula_Resource?SWJIYLWA=7"></script><div id=root></div>', None),
        (b"<script>window.gokuProps = {}</script>", "javascript"),
        (b'<script id="anubis_challenge" type="application/json">{}</script>', "javascript"),
        (b"<title>Just a moment...</title>", "javascript"),
        (b"<title>Robot or human?</title>", "captcha"),
        (b"<TITLE>Access Denied</TITLE>", "denied"),
        (b"<title>Making sure you&#39;re not a bot!</title>", "javascript"),
        (b"<title>How to access denied areas</title>", None),
        (b"<h1>whoa there, pardner!</h1>", "denied"),
        (b'<form><div class="g-recaptcha"></div></form>', "captcha"),
        (b'<form><textarea name="message"></textarea><div class="g-recaptcha"></div></form>', None),
        (b"<p>Unusual traffic from your computer network</p>", None),
        (b"<p>We have seen unusual traffic from your network</p>", "captcha"),
        (b"<p>Nothing of the kind</p>", None),
        (b"", None),
    ],
)
def test_a_mark_is_a_block_only_on_a_page_without_prose(body, expected):
    """Marks of a firewall's page are a block, but never on a page with prose."""
    assert kind(body) == expected
    assert kind(body + PROSE) is None


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"CF-Mitigated": "challenge"}, "javascript"),
        ({"x-vercel-mitigated": "challenge"}, "javascript"),
        ({"x-dd-b": "1"}, "captcha"),
        ({"x-sucuri-block": "XSS"}, "denied"),
        ({"server": "cloudflare", "cf-ray": "1"}, None),
        ({"x-datadome": "protected"}, None),
    ],
)
def test_a_header_of_a_firewall_is_enough(headers, expected):
    """A header that only challenges have is a block, whatever the page contains."""
    assert kind(PROSE, **headers) == expected


@pytest.mark.parametrize("status", [403, 405, 418, 429])
def test_a_bare_refusal_is_a_block_and_an_error_page_is_a_page(status):
    """A refusal without a page is a denial; with a page, or as JSON, it is no block."""
    assert kind(b"Forbidden\n", status) == "denied"
    assert kind(b'{"error": "forbidden"}', status, **{"content-type": "application/json"}) is None
    assert (
        kind(b"<title>No</title><h1>This page is for members, who sign in at the door of the club.</h1>", status)
        is None
    )


def test_a_challenge_in_many_languages_is_a_block():
    """The title and the script of Cloudflare's challenge decide together, however much text the site adds."""
    title = b"<title>Just a moment...</title>"
    script = b"<script nonce=x>(function(){window._cf_chl_opt = {cvId: '3'}</script>"
    assert kind(title + script + PROSE * 100) == "javascript"
    assert kind(title + PROSE) is kind(script + PROSE) is None


def test_a_picture_in_an_attribute_is_no_text():
    """The address of a picture may hold the whole picture (RFC 2397)."""
    assert kind(SCRIPT + b'<img src="data:image/png;base64,' + b"A" * 50_000 + b'">') == "javascript"


def test_an_error_of_the_site_behind_cloudflare_is_no_block():
    """Cloudflare's page for a server that is down is not a denial."""
    assert kind(b'<div id="cf-error-details">Web server is down. Error code 521</div>', 521) is None


@pytest.mark.timed
@pytest.mark.parametrize(
    "body",
    [b"<script" * 28_000, b"<!--" * 49_000, b"<" * 199_000, b"<a " * 66_000, b"Forbidden URL" * 15_000],
    ids=["scripts", "comments", "brackets", "tags", "literals"],
)
def test_a_hostile_page_is_checked_quickly(body):
    """No content of a page makes the checks slow."""
    begun = time.perf_counter()
    firewall(200, {}, SCRIPT + body)
    assert time.perf_counter() - begun < 0.5


def test_a_long_page_is_not_searched_for_marks():
    """A mark on a page beyond the bound is no evidence."""
    assert firewall(200, {}, SCRIPT + b" " * LONGEST_CHALLENGE) is None


@given(st.text(st.characters(exclude_characters="<>", codec="utf-8")))
def test_text_without_tags_is_unchanged(words):
    """Text without tags is returned unchanged, but for its spaces."""
    assert text(words.encode()) == b" ".join(words.encode().split())


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"<p>a</p><script>b</script>c<style>d</style><!-- e -->f", b"a c f"),
        (b"<SCRIPT>a</SCRIPT>b", b"b"),
        (b"a<script>b", b"a"),
    ],
)
def test_scripts_styles_and_comments_are_no_text(body, expected):
    """The text of a page has none of its code."""
    assert b" ".join(text(body).replace(b">", b" ").split()) == expected
    assert len(text(body)) < SCREEN
