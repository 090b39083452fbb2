"""Exchanges are recorded by real programs, read again, compared, and replayed."""

import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest

from webdata.runtime.archives.reader import ArchiveReader

BIN = Path(sys.executable).parent
ENVIRON = {**os.environ, "SCRAPY_SETTINGS_MODULE": "webdata.settings", "WEBDATA_SANDBOX": "always"}
VOLATILE = ("ts", "parsed_at")


def crawl(folder, *arguments, **environ):
    command = [BIN / "scrapy", "crawl", "google_web", *arguments]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, cwd=folder, env={**ENVIRON, **environ}, **silent)


def records(path):
    lines = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    return sorted(
        [{name: value for name, value in line.items() if name not in VOLATILE} for line in lines],
        key=lambda record: record["query"],
    )


@pytest.mark.slow
def test_a_recorded_batch_is_read_again_and_replayed(invoke, tmp_path):
    """The records of the archive are those of the batch, and so are those of a batch on the archive."""
    (tmp_path / "q.txt").write_text("coffee\ntea\nwater")
    assert crawl(tmp_path, "-a", "queries=q.txt", "-O", "out.jsonl", "-s", "RECORD=archive").wait(60) == 0
    [archive] = (tmp_path / "archive").iterdir()
    parsed = invoke("parse", "google_web", archive)
    assert (parsed.exit_code, parsed.stderr) == (0, f"{archive}: 3 pages\n")
    (tmp_path / "again.jsonl").write_text(
        "".join(orjson.dumps(orjson.loads(line)["record"]).decode() + "\n" for line in parsed.stdout.splitlines())
    )
    assert records(tmp_path / "again.jsonl") == records(tmp_path / "out.jsonl")
    compared = invoke("diff", tmp_path / "out.jsonl", tmp_path / "again.jsonl")
    assert (compared.exit_code, compared.stdout) == (0, "3 equal, 0 different\n")
    replayed = crawl(tmp_path, "-a", "queries=q.txt", "-O", "new.jsonl", WEBDATA_SANDBOX_REPLAY=str(archive))
    assert replayed.wait(60) == 0
    assert records(tmp_path / "new.jsonl") == records(tmp_path / "out.jsonl")


@pytest.mark.slow
def test_no_token_is_recorded(invoke, tmp_path):
    """The exchange by which an application gets its token is in no archive; the page has its query."""
    command = [BIN / "scrapy", "crawl", "reddit", "-a", "resource=forum_subforum", "-a", "subforum=python"]
    options = ["-O", "out.jsonl", "-s", "RECORD=archive"]
    subprocess.run([*command, *options], cwd=tmp_path, env=ENVIRON, capture_output=True, check=True)
    [archive] = (tmp_path / "archive").iterdir()
    assert {page.url.partition("?")[0] for page in ArchiveReader(archive)} == {"https://oauth.reddit.com/r/python/hot"}
    assert b"uthorization" not in gzip.decompress(archive.read_bytes())
    parsed = invoke("parse", "reddit", archive)
    assert orjson.loads(parsed.stdout)["outcome"] == "ok"
    assert parsed.stderr == f"{archive}: 1 pages; left out: 1 that are further pages of a query\n"


def test_options_of_single_pages_are_refused_for_an_archive(invoke, tmp_path):
    """The message names the option; a file that is no archive is refused, too."""
    file = tmp_path / "a.warc.gz"
    file.write_bytes(b"nothing")
    for option in (["--url", "https://example.com/"], ["--header", "Server: x"], ["--status", "404"], ["--explain"]):
        refused = invoke("parse", "google_web", file, *option)
        assert (refused.exit_code, f"{option[0]} is of single pages" in refused.stderr) == (2, True)
    refused = invoke("parse", "google_web", file)
    assert (refused.exit_code, f"{file} is no archive: give a WARC file" in refused.stderr) == (2, True)


@pytest.mark.slow
def test_a_killed_batch_leaves_a_readable_archive(tmp_path):
    """After a kill every exchange but the last is readable, and another reader finds no fault in them."""
    (tmp_path / "q.txt").write_text("\n".join(f"coffee {number}" for number in range(3000)))
    running = crawl(tmp_path, "-a", "queries=q.txt", "-O", "out.jsonl", "-s", "RECORD=archive")
    folder = tmp_path / "archive"
    while not folder.exists() or sum(path.stat().st_size for path in folder.iterdir()) < 300_000:
        time.sleep(0.05)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    [archive] = folder.iterdir()
    reader = ArchiveReader(archive)
    assert len([*reader]) > 10
    assert sum(reader.left_out.values()) <= 1
