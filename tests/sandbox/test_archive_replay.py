"""Answers from an archive."""

import pytest

from tests.runtime.archives.archived import archive_of, exchange, response, written
from webdata.domain.errors import ConfigError
from webdata.runtime.wire.exchange import SandboxRequest
from webdata.sandbox.archive_replay import ArchiveReplay
from webdata.sandbox.replay import Replay
from webdata.sandbox.server import opened_replay


def ask(replay, target, host="example.com"):
    return replay.answer(SandboxRequest("GET", "https", host, target, {}))


def test_an_address_has_its_responses_one_after_another(tmp_path):
    """The last of them is given again."""
    urls = ["https://example.com/a", "https://example.com/b", "https://example.com/a"]
    [path] = archive_of(tmp_path, *(exchange(url, b"%d" % n, 200 + n) for n, url in enumerate(urls)))
    replay = ArchiveReplay(path)
    assert [ask(replay, "/a").body for _ in range(3)] == [b"0", b"2", b"2"]
    found = ask(replay, "/b")
    assert (found.status, found.body, found.headers[0][0]) == (201, b"1", "Content-Type")


def test_the_nearest_address_answers(tmp_path):
    """Of the same host and path, the one with the most parameters in common; no other place answers."""
    urls = [f"https://example.com/s?q={word}&hl=en" for word in ("tea", "coffee")]
    [path] = archive_of(tmp_path, *(exchange(url, url.encode()) for url in urls))
    replay = ArchiveReplay(path)
    assert b"coffee" in ask(replay, "/s?hl=en&q=coffee&new=1").body
    assert ask(replay, "/other").status == 404
    assert ask(replay, "/s?q=tea", "other.example").status == 404


def test_a_masked_address_is_found(tmp_path):
    """A request with another key has the page that was recorded with one."""
    [path] = archive_of(tmp_path, exchange("https://example.com/s?q=tea&api_key=…", b"tea"))
    assert ask(ArchiveReplay(path), "/s?q=tea&api_key=sandbox").body == b"tea"


def test_an_archive_without_pages_is_refused(tmp_path):
    """So is a file that is none; a folder is replayed as before."""
    with pytest.raises(ConfigError, match="has no page"):
        opened_replay(written(tmp_path / "a.warc.gz", response(b"", kind="request")))
    (tmp_path / "b.warc").write_text("nothing")
    with pytest.raises(ConfigError, match="is no archive"):
        opened_replay(tmp_path / "b.warc")
    (tmp_path / "page.html").write_text("page")
    (tmp_path / "INDEX.jsonl").write_text('{"file": "page.html"}')
    assert isinstance(opened_replay(tmp_path), Replay)
