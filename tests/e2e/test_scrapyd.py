"""An egg of the project in a scrapyd."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import venv
from pathlib import Path
from sysconfig import get_path
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import orjson
import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ("webdata", "schemas", "setup.py", "pyproject.toml", "README.md", "LICENSE")
SETTINGS = """
[scrapyd]
http_port = {port}
items_dir = items
poll_interval = 0.1
max_proc = 1
"""
MULTIPART = (
    b'--x\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n',
    b'--x\r\nContent-Disposition: form-data; name="egg"; filename="webdata.egg"\r\n\r\n%s\r\n--x--\r\n',
)


@pytest.fixture(scope="module")
def egg(starts, tmp_path_factory):
    """The egg, as scrapyd-deploy builds it, of a copy of the project."""
    folder = tmp_path_factory.mktemp("project")
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    command = [sys.executable, "-W", "ignore", "setup.py", "--quiet", "bdist_egg", "--dist-dir", "eggs"]
    subprocess.run(command, check=True, cwd=folder, capture_output=True, timeout=300)
    [built] = (folder / "eggs").iterdir()
    return built.read_bytes()


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """A Python that has what the project needs, and not the project."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    (own,) = folder.glob("lib/python*/site-packages")
    (own / "dependencies.pth").write_text(
        get_path("purelib")
    )  # whose own .pth files, as of the project, have no effect
    return folder / "bin" / "python"


@pytest.fixture
def scrapyd(starts, python, tmp_path):
    """`scrapyd(name, **fields)` calls the API of a scrapyd that runs in `tmp_path`; `egg` is uploaded."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (tmp_path / "scrapyd.conf").write_text(SETTINGS.format(port=port))
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("WEBDATA_", "PYTHON"))}
    with (tmp_path / "log").open("wb") as log:
        command = [python, "-W", "ignore", "-m", "scrapyd"]
        running = subprocess.Popen(command, cwd=tmp_path, env=environ, stdout=log, stderr=log)

    def call(name, egg=None, **fields):
        url, data, headers = f"http://127.0.0.1:{port}/{name}.json", None, {}
        if egg:
            parts = [MULTIPART[0] % (key.encode(), value.encode()) for key, value in fields.items()]
            data = b"".join([*parts, MULTIPART[1] % egg])
            headers = {"Content-Type": "multipart/form-data; boundary=x"}
        elif name == "schedule":
            data = urlencode(fields).encode()
        else:
            url = f"{url}?{urlencode(fields)}"
        with urlopen(Request(url, data, headers), timeout=300) as response:
            return json.load(response)

    try:
        wait_for(lambda: answers(call, running))
        yield call
    finally:
        running.terminate()
        running.wait(60)


def answers(call, running):
    assert running.poll() is None, "scrapyd has ended"
    try:
        return call("daemonstatus")
    except URLError:
        return None


def wait_for(condition, seconds=240):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.1)
    return found


@pytest.mark.slow
def test_scrapyd_runs_an_engine_of_an_egg(scrapyd, egg, tmp_path):
    """An egg is deployed, lists its engines, and a scheduled engine, with scrapyd's `_job`, writes its records."""
    added = scrapyd("addversion", project="webdata", version="1", egg=egg)
    assert (added["status"], added.get("spiders", 0) > 10) == ("ok", True), added
    assert "google_web" in scrapyd("listspiders", project="webdata")["spiders"]
    started = scrapyd("schedule", project="webdata", spider="google_web", setting="SANDBOX=1", q="coffee", num="3")
    job = started["jobid"]
    wait_for(lambda: [one["id"] for one in scrapyd("listjobs", project="webdata")["finished"]] == [job])
    items = tmp_path / "items" / "webdata" / "google_web"
    log = (tmp_path / "logs" / "webdata" / "google_web" / f"{job}.log").read_text()
    [record] = [orjson.loads(line) for line in (items / f"{job}.jl").read_bytes().splitlines()]
    assert (record["query"], len(record["results"]) > 0) == ("coffee", True), log
    assert (items / f"{job}.failures.jsonl").read_bytes() == b""
