"""What of an exchange goes into an archive, and what never does."""

import asyncio
import gzip
from threading import Lock
from time import sleep

import pytest
from scrapy import Request
from scrapy.http import Response
from scrapy.settings import Settings

from webdata.domain.errors import UpstreamError
from webdata.fetching.caller_parts import CallerParts
from webdata.fetching.fetch import FETCH, Fetch
from webdata.fetching.recording import SHORT, ExchangeRecorder, archived_fields, recorded_exchange, without_keys
from webdata.resources.url_request import UrlQuery
from webdata.resources.web_search import WEB_SEARCH
from webdata.runtime.archives.exchange import QUERY
from webdata.runtime.archives.files import ArchiveFiles
from webdata.runtime.archives.reader import ArchiveReader

URL = "https://me:pass@example.com/s?q=coffee&api_key=hidden"


def exchange(fetch=None, engine="google_web", body=b"page", **sent):
    request = Request(URL, meta={FETCH: fetch or Fetch()}, **sent)
    headers = {"Set-Cookie": "sid=hidden", "Content-Type": "text/html", "Location": "https://x.example/?token=hidden"}
    return recorded_exchange(request, Response(URL, headers=headers, body=body), engine, (WEB_SEARCH,))


def test_credentials_and_cookies_are_left_out():
    """Headers named like secrets are left out, and values of URLs that are some are masked."""
    secrets = {"Authorization": "Bearer hidden", "Cookie": "a=hidden", "Proxy-Authorization": "hidden"}
    found = exchange(headers={**secrets, "X-Api-Key": "hidden", "Referer": "https://me:hidden@x.example/"})
    assert "hidden" not in str(found)
    assert found.url == "https://…@example.com/s?q=coffee&api_key=…"
    assert dict(found.headers)["Location"] == "https://x.example/?token=…"
    assert "Referer" in dict(found.sent)


def test_what_a_caller_sends_of_its_own_is_not_recorded():
    """An exchange with the headers, cookies or body of a caller is left out as a whole, and so is a token."""
    parts = CallerParts("https://example.com", {"X-Own": "hidden"})
    assert exchange(Fetch(parts=parts)) is None
    assert exchange(Fetch(is_secret=True)) is None


def test_the_query_is_recorded_without_what_is_of_a_single_call():
    """The page's record has the fields of its query that differ from their defaults, and a resource among several."""
    query = WEB_SEARCH.query.check({"q": "coffee", "num": 5, "content": 2})
    assert archived_fields(query, (WEB_SEARCH,)) == {"q": "coffee", "num": 5}
    assert exchange(Fetch(query=query)).marks[QUERY] == '{"q":"coffee","num":5}'
    assert QUERY not in exchange(Fetch()).marks
    secret = UrlQuery.check({"url": "https://me:hidden@example.com/?token=hidden", "response_type": "full"})
    assert archived_fields(secret, ())["url"] == "https://…@example.com/?token=…"
    private = UrlQuery.check({"url": "https://example.com/", "response_type": "full", "cookies": {"sid": "hidden"}})
    assert archived_fields(private, ()) == {"url": "https://example.com/", "response_type": "full"}


def test_keys_of_the_operator_are_masked_everywhere():
    """A key is masked in the URL, in headers and in both bodies, also where the answer is compressed."""
    key = "se/cret@key"
    found = exchange(body=b"", headers={"X-Agent": f"webdata {key}"})
    packed = gzip.compress(f'{{"your": "{key}"}}'.encode())
    with_key = type(found)(
        f"{found.url}&k=se%2Fcret%40key",
        "POST",
        found.sent,
        key.encode(),
        200,
        (("Content-Encoding", "gzip"),),
        packed,
        {QUERY: f'{{"q":"{key}"}}'},
    )
    masked = without_keys(with_key, (key,))
    assert "cret" not in str(masked)
    assert masked.marks[QUERY] == '{"q":"…"}'
    assert (masked.body, masked.headers) == ('{"your": "…"}'.encode(), ())


def test_an_answer_in_which_no_key_can_be_looked_for_is_not_recorded():
    """A body that would be larger than any page raises an error."""
    found = exchange()
    bomb = type(found)(*[getattr(found, name) for name in ("url", "method", "sent", "sent_body", "status")],
                       (("Content-Encoding", "gzip"),), gzip.compress(bytes(40 << 20)), {})  # fmt: skip
    with pytest.raises(UpstreamError):
        without_keys(bomb, ("key",))


@pytest.mark.task
async def test_exchanges_are_written_into_files_of_their_network(tmp_path):
    """Those with the sandbox, whose pages are invented, have files of their own name."""
    for sandbox in (False, True):
        recorder = ExchangeRecorder.from_settings(Settings({"RECORD": str(tmp_path), "SANDBOX": sandbox}))
        await recorder.record(exchange(), ())
        await recorder.close()
    names = sorted(path.name.partition("-2")[0] for path in tmp_path.iterdir())
    assert names == ["webdata", "webdata-sandbox"]
    assert [len([*ArchiveReader(path)]) for path in tmp_path.iterdir()] == [1, 1]
    assert ExchangeRecorder.from_settings(Settings({"RECORD": None})) is None


@pytest.mark.task
async def test_one_exchange_is_written_at_a_time(tmp_path, monkeypatch):
    """Short ones are written at once, but not while the thread of long ones is at work on the same file."""
    recorder = ExchangeRecorder(tmp_path, "webdata")
    alone, write = Lock(), ArchiveFiles.write

    def watched(files, exchange):
        assert alone.acquire(blocking=False)
        sleep(0.005)
        write(files, exchange)
        alone.release()

    monkeypatch.setattr(ArchiveFiles, "write", watched)
    pages = [b"short %d" % n if n % 3 else b"%d" % n * (SHORT + 1) for n in range(12)]
    await asyncio.gather(*(recorder.record(exchange(body=page), ()) for page in pages))
    await recorder.close()
    (path,) = tmp_path.iterdir()
    assert [page.body for page in ArchiveReader(path)] == pages


@pytest.mark.task
async def test_what_cannot_be_written_is_told_and_no_fetch_fails(tmp_path, caplog):
    """A folder that is a file loses the exchanges, which the log says once."""
    (tmp_path / "file").write_text("")
    recorder = ExchangeRecorder(tmp_path / "file", "webdata")
    for _ in range(3):
        await recorder.record(exchange(), ())
    await recorder.close()
    assert [record.message.partition(":")[0] for record in caplog.records] == [
        "Exchanges are not recorded, 1 since the start"
    ]
