"""Answers from a folder of saved pages."""

import json

import pytest

from webdata.domain.errors import ConfigError
from webdata.sandbox.exchange import SandboxRequest
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


def asked(replay, target="/"):
    return replay.answer(SandboxRequest("GET", "https", "any.example", target, {}))


def test_pages_come_in_turn(folder):
    """Without a name the pages come in the order of the index, over and over."""
    replay = Replay(folder)
    bodies = [asked(replay, "/search?q=coffee").body for _ in range(4)]
    assert bodies == [b"page first.html", b"page second.json", b"page third.page.html", b"page first.html"]


@pytest.mark.parametrize("target", ["/search?q=third.page", "/jobs?keywords=third.page", "/s?x=1&q=a&k=third.page"])
def test_a_page_is_asked_for_by_its_stem(folder, target):
    """The stem of a file in the query chooses its page, whatever the key is called."""
    assert asked(Replay(folder), target).body == b"page third.page.html"


def test_status_and_headers_come_back(folder):
    """A page has the status and headers of its row; without any it is HTML with status 200."""
    replay = Replay(folder)
    assert asked(replay, "/?q=second").status == 429
    assert dict(asked(replay, "/?q=second").headers) == {"content-type": "application/json", "x-seen": "yes"}
    assert asked(replay, "/?q=first").status == 200
    assert dict(asked(replay, "/?q=first").headers) == {"Content-Type": "text/html; charset=UTF-8"}


def test_headers_of_the_saved_transfer_are_left_out(folder):
    """Headers that were true of how the page was saved and would be false now are not sent."""
    assert dict(asked(Replay(folder), "/?q=third.page").headers) == {"Content-Type": "text/html; charset=UTF-8"}


def test_a_file_is_read_once(folder):
    """A page is kept once it was read."""
    replay = Replay(folder)
    asked(replay, "/?q=first")
    (folder / "first.html").unlink()
    assert asked(replay, "/?q=first").body == b"page first.html"


@pytest.mark.captures
def test_real_pages_are_replayed(captures):
    """A folder of real saved pages is answered from, each page byte for byte under its own name."""
    replay = Replay(captures / "google-web")
    stem = "linkedinch-2026-07-site-query-fr"
    page = (captures / "google-web" / f"{stem}.html").read_bytes()
    assert asked(replay, f"/search?q={stem}").body == page


@pytest.mark.parametrize(
    ("index", "told"),
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
def test_a_broken_index_is_told(folder, index, told):
    """A folder that cannot be replayed is refused with a message that says what was expected."""
    (folder / "INDEX.jsonl").unlink()
    (folder.parent / "outside.html").write_text("not for replay")
    if index is not None:
        (folder / "INDEX.jsonl").write_text(index)
    if told is None:
        assert Replay(folder)
        return
    with pytest.raises(ConfigError, match=r"INDEX\.jsonl") as caught:
        Replay(folder)
    assert told in str(caught.value)
