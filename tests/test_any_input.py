"""Whatever comes in at a parser of input: it is read, or refused with words, in a bounded time.

The engines' pages are in tests/pages/test_hostile_pages.py, paths and headers in tests/faces/api/test_fuzz.py, the APIs
of other services in tests/faces/dialects/test_fuzz.py, files of queries in tests/crawling/jobs/test_files.py.
"""

import random
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import thread_time

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pebble import ProcessExpired

from tests.composed_office import docx, epub, paragraph, pptx, row, shape, xlsx
from tests.composed_pdf import PLAIN, hostile, with_pages
from tests.mutations import ANY_VALUE, as_json, mutated
from tests.runtime.archives.archived import response, written
from webdata.batches import cron
from webdata.batches.validation import Task, validated
from webdata.config.canaries import read_canaries
from webdata.config.gateway_routes import read_routes
from webdata.config.upstreams import read_upstreams
from webdata.domain.errors import UnsupportedContentError, WebdataError
from webdata.domain.query import Query
from webdata.faces.api.params import packed_query
from webdata.fetching.conversion.processes import MODULES
from webdata.pages.url import page
from webdata.resources import Resource, all_resources
from webdata.runtime.archives.reader import ArchiveReader
from webdata.runtime.process.pools import process_pool

RESOURCES: list[Resource] = [*all_resources().values()]
MOST_SECONDS = 1.0
"""The processor's time of one input, each of which is short; a document's may be longer."""
NOW = datetime(2026, 11, 26, tzinfo=UTC)

ANY_ZONE = st.sampled_from(["UTC", "Europe/Berlin", "Australia/Lord_Howe", "../UTC", "Europe", "", "\0"]) | st.text()
ANY_CRON = st.lists(st.text("0123456789*/,-L#?~ \t٣", max_size=6) | st.text(max_size=3), max_size=7).map(" ".join) | (
    st.lists(st.from_regex(r"(\*|\d{1,2}(-\d{1,2})?)(/\d{1,3})?(,\d{1,2})?", fullmatch=True), min_size=5, max_size=5)
).map(" ".join)
ANY_TOML = st.lists(
    st.sampled_from(["[a]\n", "[[canary]]\n", "[", "]", "=", "{", "}", '"', "'''", "\n", ".", "9" * 5000, "[" * 999])
    | st.sampled_from(
        ['url = "http://10.0.0.5:1"\n', 'engine = "url"\n', "query = {q = 1}\n", "seconds = inf\n", "a.b"]
    )
    | st.text(max_size=5),
    max_size=12,
).map("".join)
"""TOML, or nearly."""


def changed(*originals: bytes) -> st.SearchStrategy[bytes]:
    """Originals with some bytes changed."""
    return st.builds(
        lambda seed, original: mutated(random.Random(seed), original),
        st.integers(0, 2**64),
        st.sampled_from([one for one in originals if one]),
    )


def read_or_refused(read, *refusals: type[Exception]):
    """What is read, or None; fails for other errors, errors without words, and what takes too long."""
    began, found, words = thread_time(), None, "none"
    try:
        found = read()
    except refusals as error:
        words = str(error)
    assert words.strip()
    assert thread_time() - began < MOST_SECONDS
    return found


@given(text=ANY_CRON, zone=ANY_ZONE)
def test_any_schedule_has_times_or_is_refused(text, zone):
    """An expression that is accepted has a next time behind the last one, or none, in any time zone."""
    expression = read_or_refused(lambda: cron.check(text), ValueError)
    place = read_or_refused(lambda: cron.zone(zone), ValueError)
    if expression and place:
        due = read_or_refused(lambda: cron.following(expression, zone, NOW))
        assert due is None or due > NOW
        last, missed = read_or_refused(lambda: cron.last_due(expression, zone, NOW, NOW + timedelta(days=400)))
        assert last >= NOW
        assert 0 <= missed <= cron.MOST_COUNTED


@example(text="a = " + "[" * 3000)
@given(text=ANY_TOML | st.binary(max_size=50).map(lambda raw: raw.decode("latin-1")))
def test_any_settings_are_read_or_refused(text):
    """Upstreams, routes and canaries of any text."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "any.toml"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        read_or_refused(lambda: read_canaries(path), WebdataError)
        read_or_refused(lambda: read_routes((), path), WebdataError)
        read_or_refused(lambda: read_routes([text], None), WebdataError)
        read_or_refused(lambda: read_upstreams(str(path)), WebdataError)
        if "=" in text or text.startswith("{"):
            read_or_refused(lambda: read_upstreams(text), WebdataError)


def queries_of(resource: Resource) -> st.SearchStrategy[dict]:
    names = st.sampled_from(sorted(resource.query.fields())) | st.text(max_size=5)
    return st.dictionaries(names, ANY_VALUE, max_size=4)


@given(data=st.data(), resource=st.sampled_from(RESOURCES), ndjson=st.booleans(), broken=st.booleans())
def test_any_submission_is_taken_or_refused(data, resource, ndjson, broken):
    """Of a body the right queries are written, each on a line, and all others are counted with a reason."""
    queries = data.draw(st.lists(queries_of(resource), max_size=4))
    given = {"resource": resource.name} if ndjson else {}
    members = {"resource": resource.name, "queries": queries, **data.draw(queries_of(resource))}
    body = b"\n".join(map(as_json, queries)) if ndjson else as_json(members)
    if broken:
        body = data.draw(changed(body or b"{}") | st.binary(max_size=40))
    task, file = Task({one.name: one.query for one in RESOURCES}, given, ndjson), BytesIO()
    result = read_or_refused(lambda: validated(task, BytesIO(body), file), WebdataError)
    if result:
        assert len(file.getvalue().splitlines()) == result.accepted
        assert all(orjson.loads(line.partition(b"\t")[2]).keys() for line in file.getvalue().splitlines())
        assert all(one["msg"].strip() for one in result.problems)
        assert len(result.problems) == min(result.rejected, 100)


@given(data=st.data(), resource=st.sampled_from(RESOURCES), segment=st.text(max_size=30), query=st.text(max_size=60))
def test_any_packed_query_is_read_or_refused(data, resource, segment, query):
    """Whatever stands in a path, in a query string and in headers."""
    names = sorted(resource.query.fields())
    pairs = data.draw(st.lists(st.tuples(st.sampled_from(names), st.text(max_size=9)), max_size=4))
    packed = "&".join(f"{name}={value}" for name, value in pairs)
    headers = data.draw(st.dictionaries(st.sampled_from(["x-proxy-location", "x-user-agent"]), st.text(max_size=9)))
    for one in (segment, packed):
        read = read_or_refused(lambda one=one: packed_query(resource, one, query, headers.get), WebdataError)
        assert read is None or isinstance(read[0], Query)


ARCHIVES = [
    response(b"<p>page</p>", "Content-Type: text/html"),
    response(b"5\r\nabcde\r\n0\r\n\r\n", "Transfer-Encoding: chunked"),
    response(b"", head="HTTP/1.1 304 Not Modified", kind="revisit"),
    b"http://example.com/ 127.0.0.1 20261126000000 text/html 22\nHTTP/1.1 200 OK\r\n\r\n<p>x",
]


@given(
    records=st.lists(changed(*ARCHIVES) | st.sampled_from(ARCHIVES), max_size=4),
    packed=st.booleans(),
    seed=st.integers(0),
)
@example(records=[ARCHIVES[0] * 4, ARCHIVES[0]], packed=True, seed=0)
def test_any_archive_is_read_or_refused(records, packed, seed):
    """Its pages are read but for those that are broken, which are counted; a page is there again at its place."""
    with TemporaryDirectory() as folder:
        path = written(Path(folder) / "a.warc.gz", *records, packed=packed)
        if seed % 2:
            path.write_bytes(mutated(random.Random(seed), path.read_bytes()))
        reader = ArchiveReader(path)
        for found in read_or_refused(lambda: [*reader.found()], WebdataError) or ():
            assert 100 <= found.page.status <= 999
            assert reader.at(found.offset).body == found.page.body
        assert all(reader.left_out)


DOCUMENTS = [
    with_pages([PLAIN] * 2),
    docx(paragraph("Plain words.")),
    xlsx(row(1, "a", 2.5)),
    pptx(shape("A title")),
    epub("<p>Plain words.</p>"),
    *hostile().values(),
]


def composed(*makers) -> st.SearchStrategy[bytes]:
    """Office documents, of whose XML some bytes were changed before it was packed."""
    parts = [paragraph("Plain words."), row(1, "a", 2.5), shape("A title"), "<p>Plain words.</p>"]
    texts = changed(*(b"<a>" + part.encode() * 3 + b"</a>" for part in parts)).map(
        lambda one: one.decode("utf-8", "replace")
    )
    return st.builds(lambda make, text: make(text), st.sampled_from(makers), texts)


ABOUT = {"url": "https://example.com/a", "status": 200, "headers": {}, "response_type": "markdown"}
ANY_DOCUMENT = changed(*(one for one in DOCUMENTS if len(one) < 20_000)) | composed(docx, xlsx, pptx, epub)


@pytest.fixture(scope="module")
def process():
    """A process like those that convert documents: PDFium ends the one that it is in where a document breaks it."""
    pool = process_pool(1, MODULES)
    yield pool
    pool.stop()
    pool.join()


@pytest.mark.parametrize("body", DOCUMENTS[:5], ids=["pdf", "docx", "xlsx", "pptx", "epub"])
def test_a_document_as_it_is_is_read(process, body):
    """What the next test changes is read where nothing is changed."""
    assert process.schedule(page, [body], ABOUT).result()["data"].strip()


@settings(max_examples=settings().max_examples // 2)
@given(body=ANY_DOCUMENT, pages=st.none() | st.sampled_from(["1", "2-3"]))
def test_any_document_is_read_or_refused(process, body, pages):
    """PDF and office documents, of which some bytes were changed; the process of one that takes too long is killed."""
    try:
        found = process.schedule(page, [body], {**ABOUT, "pages": pages}, timeout=MOST_SECONDS).result()
    except (UnsupportedContentError, ProcessExpired, TimeoutError):
        return
    assert "\0" not in found["data"]
