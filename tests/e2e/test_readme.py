"""The examples of the README are real."""

import os
import re
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from webdata.fetching.transport_policy import TRANSPORTS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ANSWER = re.compile(r"<!-- answer of (\S+), in part -->\n```json\n(.*?)```", re.DOTALL)
SCRAPY = Path(sys.executable).with_name("scrapy")
ALL = ",".join(TRANSPORTS)


@pytest.fixture(scope="module")
def environ():
    """Every transport of the machine: the README's examples are the same with all of them."""
    return {"WEBDATA_TRANSPORTS": ALL}


@pytest.mark.parametrize(("path", "text"), ANSWER.findall(README), ids=lambda value: value[:30])
def test_the_answers_are_real(running, is_part, path, text):
    """Every answer in the README is a part of the service's own."""
    example = orjson.loads(text)
    _, _, real = running.get(path)
    assert is_part(example, real)
    assert example


def test_there_are_answers():
    """The README has an answer and a failure."""
    assert len(ANSWER.findall(README)) >= 2


def test_the_page_is_real(running):
    """The Markdown in the README is the beginning of the page."""
    parameters = re.search(r"-d '(\{.*\})'$", README, re.MULTILINE)[1]
    example = re.search(r"<!-- beginning of the page, as Markdown -->\n```markdown\n(.*?)```", README, re.DOTALL)[1]
    status, _, body = running.post("/v1/request", orjson.loads(parameters))
    assert status == 200
    assert body.decode().startswith(example)


@pytest.mark.slow
def test_the_batch_is_real(tmp_path):
    """The batch of the README has its last line of the log, its output and its failures."""
    (tmp_path / "queries.txt").write_text("coffee\ntea\nsandbox:denied\n", encoding="utf-8")
    command = [SCRAPY, "crawl", "google_web", "-a", "queries=queries.txt", "-a", "num=3", "-O", "out.jsonl"]
    environ = {
        **os.environ,
        "WEBDATA_SANDBOX": "always",
        "WEBDATA_TRANSPORTS": ALL,
        "SCRAPY_SETTINGS_MODULE": "webdata.settings",
    }
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=120, check=True)
    assert re.search(r"^…\n(\[webdata\.crawling\.jobs\.progress\].*)$", README, re.MULTILINE)[1] in done.stderr
    lines = [orjson.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert sorted(line["query"] for line in lines) == ["coffee", "tea"]
    (failure,) = (tmp_path / "out.failures.jsonl").read_text(encoding="utf-8").splitlines()
    assert failure in README


def test_the_saved_pages_are_real(invoke, monkeypatch):
    """`webdata parse` prints the README's lines, some of which are cut."""
    command = re.search(r"^\$ \.venv/bin/webdata (parse .*)$", README, re.MULTILINE)[1]
    monkeypatch.chdir(ROOT)
    done = invoke(*command.split())
    examples = re.findall(r'^(\{"file":.*)$', README, re.MULTILINE)
    for line, real in zip(examples, done.stdout.splitlines(), strict=True):
        assert real.startswith(line.removesuffix("…"))
