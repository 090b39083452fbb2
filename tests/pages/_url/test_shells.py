"""Pages with next to no content but scripts."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.pages._url.shells import is_shell

HEAD = (
    "<!doctype html><title>My app</title><meta name=description content='An app of things.'><script src=a.js></script>"
)
NOTE = "<noscript>You need to enable JavaScript to run this app.</noscript>"


@pytest.mark.parametrize(
    "html",
    [
        f"{HEAD}{NOTE}<div id=root></div>",
        f"{HEAD}<div id=app></div>",
        f"{HEAD}<div id=app></div><p>Loading…</p>",
        f"{HEAD}<body></body>",
        f"{HEAD}<my-app></my-app>",
        "<script>document.write(1)</script>",
    ],
)
def test_pages_of_scripts_are_shells(html):
    """A shell has scripts and no text, or little text and an empty element."""
    assert is_shell(html.encode(), "text/html")


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("<div id=root></div>", "text/html"),
        (f"{HEAD}<p>Nothing found.</p>", "text/html"),
        (f"{HEAD}<p>{'Words of the page. ' * 20}</p><div id=root></div>", "text/html"),
        (f"{HEAD}<img src=p.png>", "text/html"),
        ("<script type='application/ld+json'>{}</script><div id=x></div>", "text/html"),
        ('{"page": "<div id=root></div>"}', "application/json"),
        ("%PDF-1.7 <script>", "text/html"),
        ("", "text/html"),
    ],
)
def test_other_pages_are_no_shells(body, content_type):
    """Pages without scripts, pages with text or pictures, and other documents are no shells."""
    assert not is_shell(body.encode(), content_type)


def test_the_markdown_of_a_shell(read):
    """The Markdown of a shell has its title, its description and its note for browsers without scripts."""
    expected = "# My app\n\nAn app of things.\n\nYou need to enable JavaScript to run this app.\n"
    assert read(f"{HEAD}{NOTE}<div id=root></div>") == expected


@given(st.binary(max_size=300), st.sampled_from(["", "text/html", "text/plain", "x; charset=none"]))
def test_any_bytes_are_a_shell_or_not(body, content_type):
    """A body without a script is no shell."""
    assert not is_shell(body, content_type) or b"script" in body.replace(b"\0", b"").lower()


@pytest.mark.timed
@pytest.mark.parametrize("piece", [b"<div ", b"<div>", b"<a-", b"<noscript ", b"<script ", b"<div id=", b"<div>   "])
def test_hostile_bodies_are_checked_quickly(piece):
    """No body takes more than linear time."""
    started = time.monotonic()
    is_shell(piece * (900_000 // len(piece)) + b"<script></script>", "text/html")
    assert time.monotonic() - started < 2


@pytest.mark.captures
def test_real_pages_are_no_shells(captures):
    """No saved page with content is a shell."""
    for file in sorted((captures / "fetch").glob("*.html")):
        assert not is_shell(file.read_bytes(), "text/html"), file.name


def test_the_longest_description_of_a_shell_stands_for_its_text(read):
    """Of two descriptions the longer one is given, without the escapes of a program that writes them twice."""
    short, long = (
        "name=description content='Short&amp;hellip;'",
        "property=og:description content='Tea &amp;amp; cake at 5'",
    )
    page = f"<title>T</title><meta {short}><meta {long}><body><div id=app></div><script src=/a.js></script>"
    assert read(page).endswith("\nTea & cake at 5\n")
