"""Answers from a folder of saved pages."""

import json

import pytest

from webdata.domain.errors import ConfigError
from webdata.runtime.wire.exchange import SandboxRequest
from webdata.sandbox.replay import Replay

ROWS = [
    {"file": "first.html", "expect": "ok"},
    {"file": "second.json", "status": 429, "headers": {"content-type": "application/json", "x-seen": "yes"}},
    {"file": "third.page.html", "headers": {"Content-Encoding": "gzip", "Content-Length": "9", "connection": "close"}},
]


@pytest.fixture
def folder(tmp_path):
    for row in ROWS:
        (tmp_path / row["file"]).write_text(f"page {row['file']}")
    (tmp_path / "INDEX.jsonl").write_text("\n".join(json.dumps(row) for row in ROWS) + "\n\n")
    return tmp_path


def answer(replay, target="/"):
    return replay.answer(SandboxRequest("GET", "https", "any.example", target, {}))


def test_pages_rotate(folder):
    """Without a stem in the query the pages are sent in the order of the index, again and again."""
    replay = Replay(folder)
    bodies = [answer(replay, "/search?q=coffee").body for _ in range(4)]
    assert bodies == [b"page first.html", b"page second.json", b"page third.page.html", b"page first.html"]


@pytest.mark.parametrize("target", ["/search?q=third.page", "/jobs?keywords=third.page", "/s?x=1&q=a&k=third.page"])
def test_a_stem_selects_its_page(folder, target):
    """The stem of a file as a value of the query selects its page, under any key."""
    assert answer(Replay(folder), target).body == b"page third.page.html"


def test_status_and_headers_are_replayed(folder):
    """A page has the status and headers of its row, by default HTML and status 200."""
    replay = Replay(folder)
    assert answer(replay, "/?q=second").status == 429
    assert dict(answer(replay, "/?q=second").headers) == {"content-type": "application/json", "x-seen": "yes"}
    assert answer(replay, "/?q=first").status == 200
    assert dict(answer(replay, "/?q=first").headers) == {"Content-Type": "text/html; charset=UTF-8"}


def test_headers_of_the_saved_transfer_are_removed(folder):
    """Headers that described the saved transfer are not sent."""
    assert dict(answer(Replay(folder), "/?q=third.page").headers) == {"Content-Type": "text/html; charset=UTF-8"}


def test_a_file_is_read_once(folder):
    """A page is cached on first use."""
    replay = Replay(folder)
    answer(replay, "/?q=first")
    (folder / "first.html").unlink()
    assert answer(replay, "/?q=first").body == b"page first.html"


@pytest.mark.captures
def test_real_pages_are_replayed(captures):
    """A real capture is replayed byte for byte."""
    replay = Replay(captures / "google-web")
    stem = "linkedinch-2026-07-site-query-fr"
    page = (captures / "google-web" / f"{stem}.html").read_bytes()
    assert answer(replay, f"/search?q={stem}").body == page


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (None, "cannot be read"),
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("{nonsense", "line 1 is no JSON"),
        ('{"file": "first.html"}\n[]', "line 2 is no JSON object"),
        ('{"name": "first.html"}', "`file` is None"),
        ('{"file": "missing.html"}', "`file` is 'missing.html'"),
        ('{"file": "../outside.html"}', "no file of that folder"),
        ('{"file": "first.html", "status": "ok"}', "`status` is 'ok'"),
        ('{"file": "first.html", "status": 99}', "`status` is 99"),
        ('{"file": "first.html", "headers": []}', None),
        ('{"file": "first.html", "headers": ["a"]}', "`headers` should be an object"),
    ],
)
def test_an_invalid_index_is_refused(folder, index, message):
    """A folder that cannot be replayed is refused with a message that describes a valid one."""
    (folder / "INDEX.jsonl").unlink()
    (folder.parent / "outside.html").write_text("not for replay")
    if index is not None:
        (folder / "INDEX.jsonl").write_text(index)
    if message is None:
        assert Replay(folder)
        return
    with pytest.raises(ConfigError, match=r"INDEX\.jsonl") as caught:
        Replay(folder)
    assert message in str(caught.value)
