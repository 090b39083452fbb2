"""Records outside of the database: in a folder, and on an S3 server."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from ulid import ULID

from webdata.batches import parts as parts_module
from webdata.batches.parts import PartReader, RecordMover
from webdata.batches.upkeep import BatchUpkeep
from webdata.domain.errors import ConfigError
from webdata.faces.api.batches import PATH, BatchPages
from webdata.stores.accounts.model import DEFAULT_ACCOUNT
from webdata.stores.batches.parts import PartStore
from webdata.stores.batches.tables import RESULTS

NDJSON = {"Content-Type": "application/x-ndjson"}


@pytest.fixture
def url(sqlite):
    return sqlite


@pytest.fixture(scope="module")
def s3_server(starts):
    """A server of S3 on loopback."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def s3(s3_server, monkeypatch):
    """The URL of a new bucket."""
    import boto3

    variables = {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": s3_server,
        "AWS_ALLOW_HTTP": "true",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    client = boto3.client("s3", endpoint_url=s3_server, region_name="us-east-1")
    bucket = f"results-{ULID()}".lower()
    client.create_bucket(Bucket=bucket)
    return f"s3://{bucket}/webdata"


@pytest.fixture(params=["folder", "s3"])
def parts(request, starts, tmp_path):
    """The files of records in a folder, and in a bucket."""
    return PartStore(request.getfixturevalue("s3") if request.param == "s3" else f"{tmp_path}/parts")


@pytest.fixture
def pages(submissions, stores, parts):
    from tests.batches.conftest import RESOURCES

    return BatchPages(submissions, stores.batches, RESOURCES, PartReader(parts)).pages()


@pytest.fixture
def mover(stores, parts):
    return RecordMover(stores.batches, stores.moves, parts)


def in_database(stores):
    """The rows whose records are in the database."""
    with stores._database.reads.connect() as on:
        return [
            row.row for row in on.execute(RESULTS.select().where(RESULTS.c.record.is_not(None)).order_by(RESULTS.c.row))
        ]


async def made(ask, rows=250):
    body = b"".join(b'{"q":"town %d"}\n' % row for row in range(1, rows + 1))
    return (await ask("POST", f"{PATH}?resource=web_search", body, **NDJSON)).json["id"]


async def read(ask, batch):
    return (await ask("GET", f"{PATH}/{batch}/results")).body


@pytest.mark.task
async def test_results_read_the_same_from_elsewhere(ask, rows, stores, mover, parts):
    """Once a batch is done its records are moved, and its results, pages and formats are the same bytes."""
    batch = await made(ask)
    await rows.end(batch, *range(1, 250))
    await rows.end(batch, 250, outcome="blocked")
    before = await read(ask, batch)
    page = (await ask("GET", f"{PATH}/{batch}/results?after=150&limit=77&format=rows")).body
    assert (await mover.move(), await mover.move()) == (3, 0)
    assert in_database(stores) == []
    assert await read(ask, batch) == before
    assert (await ask("GET", f"{PATH}/{batch}/results?after=150&limit=77&format=rows")).body == page
    assert await parts.batches() == [batch]


@pytest.mark.task
async def test_a_batch_that_runs_is_moved_in_large_parts(ask, rows, stores, mover, monkeypatch):
    """While a batch runs, records are moved once there are enough chunks for a file."""
    monkeypatch.setattr(parts_module, "PART_CHUNKS", 2)
    batch = await made(ask)
    await rows.begin(batch)
    await rows.end(batch, *range(1, 101))
    assert await mover.move() == 0
    await rows.end(batch, *range(101, 201))
    assert await mover.move() == 2
    await rows.end(batch, *range(201, 251))
    assert (await mover.move(), in_database(stores)) == (1, [])


@pytest.mark.task
async def test_failures_that_are_retried_are_moved_later(ask, rows, stores, mover):
    """A chunk that runs again has its new records moved, and keeps the others."""
    batch = await made(ask, 2)
    await rows.end(batch, 1)
    await rows.end(batch, 2, outcome="blocked")
    await mover.move()
    await ask("POST", f"{PATH}/{batch}/retry-failures")
    await rows.end(batch, 2)
    assert in_database(stores) == [2]
    assert await mover.move() == 1
    assert len((await read(ask, batch)).splitlines()) == 2


@pytest.mark.task
async def test_the_files_of_a_removed_batch_are_removed(ask, rows, stores, mover, parts, submissions):
    """After its days a batch is removed in steps, with its files."""
    batch, other = await made(ask, 2), await made(ask, 2)
    for one in (batch, other):
        await rows.end(one, 1, 2)
    while await mover.move():
        pass
    kept = (stores.batches, stores.chunks, stores.schedules, submissions)
    await BatchUpkeep("here:1:1", *kept, 30, mover)._clean(datetime.now(UTC))
    assert set(await parts.batches()) == {batch, other}
    await BatchUpkeep("here:1:1", *kept, 1, mover)._clean(datetime.now(UTC) + timedelta(days=2))
    assert (await parts.batches(), await stores.batches.page(DEFAULT_ACCOUNT, 10)) == ([], [])


@pytest.mark.task
async def test_files_of_any_number_of_unknown_batches_are_removed(mover, parts, monkeypatch):
    """Which batches are unknown is asked of the database some at a time."""
    monkeypatch.setattr(parts_module, "ASKED_AT_ONCE", 2)
    for number in range(5):
        await parts.put(f"bat_{number}/part", b"{}")
    assert (await mover.remove_unknown(), await parts.batches()) == (5, [])


@pytest.mark.task
async def test_a_store_that_fails_keeps_the_records_in_the_database(ask, rows, stores, mover, parts, monkeypatch):
    """Where files cannot be stored, records stay where they are, and are moved later."""
    batch = await made(ask, 2)
    await rows.end(batch, 1, 2)

    async def full(*_):
        raise OSError("No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(parts, "put", full)
        with pytest.raises(OSError, match="No space left"):
            await mover.move()
    assert in_database(stores) == [1, 2]
    assert await mover.move() == 1


@pytest.mark.task
async def test_what_is_not_there_is_an_error_of_the_store(parts):
    """A file that is gone, or a server that does not answer as it should, raises OSError."""
    with pytest.raises(OSError):  # noqa: PT011  # each store says it in its own words
        await parts.read("bat_1/none.jsonl.zst", 0, 10)


def test_a_store_that_cannot_be_used_stops_the_start(tmp_path):
    """A folder that cannot be made is an error of the configuration."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="WEBDATA_BATCH_STORE cannot be used"):
        PartStore(f"{tmp_path}/file/folder")


def test_a_program_that_used_it_ends_well(starts, tmp_path):
    """A process that has stored something ends with status 0."""
    code = (
        "import asyncio, sys; from webdata.stores.batches.parts import PartStore; "
        "asyncio.run(PartStore(sys.argv[1]).put('a/b', b'c'))"
    )
    for number in range(3):
        subprocess.run([sys.executable, "-c", code, str(tmp_path / str(number))], check=True, timeout=30)
