"""Webhooks of a whole service, with the receiver of docs/webhooks.md."""

import os
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import orjson
import pytest

from tests.conftest import free_port, wait_for
from tests.e2e.conftest import WEBDATA, service
from webdata.domain.events import EVENTS

DOCS = (Path(__file__).parents[2] / "docs" / "webhooks.md").read_text(encoding="utf-8")
RECEIVER = re.search(r"```python\n(.*?)```", DOCS, re.DOTALL)[1]
PATH = "/api/v1/webhooks"


def test_the_table_of_the_docs_has_every_event():
    """The table has each event with its sentence and its fields, and no others."""
    rows = re.findall(r"^\| `(\w+\.\w+)` \| (.*) \| (.*) \|$", DOCS, re.MULTILINE)
    fields = {name: ", ".join(f"`{field}`" for field in event.model_fields) for name, event in EVENTS.items()}
    assert rows == [(name, event.summary(), fields[name]) for name, event in EVENTS.items()]


def test_the_docs_are_short():
    """The page has less than 1,500 words."""
    assert len(DOCS.split()) < 1500


@contextmanager
def receiver(port, secret, output):
    with output.open("ab") as file:
        process = subprocess.Popen(
            [sys.executable, "-c", RECEIVER.replace("9000", str(port))],
            env={**os.environ, "SECRET": secret},
            stdout=file,
            stderr=subprocess.DEVNULL,
        )
    try:
        wait_for(port)
        yield
    finally:
        process.kill()
        process.wait()


def until(value, seconds=30):
    end = monotonic() + seconds
    while not (found := value()):
        assert monotonic() < end
        sleep(0.1)
    return found


@pytest.fixture
def running(tmp_path):
    port = free_port()
    settings = {
        "WEBDATA_WEBHOOKS_HTTP": "on",
        "WEBDATA_EGRESS_ALLOW": "127.0.0.1/32",
        "WEBDATA_EGRESS_PORTS": f"443,{port}",
    }
    with service(tmp_path, **settings) as running:
        yield running, port


@pytest.mark.slow
def test_events_arrive_and_are_sent_again(running, tmp_path):
    """A test arrives and verifies; what a stopped receiver has missed is repeated, and sent again when asked for."""
    running, port = running

    def ask(method, path, body=None):
        headers = {"X-Api-Key": running.live_key, "Content-Type": "application/json"}
        status, _, answer = running.request(method, f"{PATH}{path}", headers, body and orjson.dumps(body))
        assert status == 200, answer
        return orjson.loads(answer)

    made = ask("POST", "", {"url": f"http://127.0.0.1:{port}/", "events": ["key.created"]})
    output = tmp_path / "received"
    with receiver(port, made["secret"], output):
        ask("POST", f"/{made['id']}/test")
        until(lambda: "webhook.test {'webhook': '" + made["id"] in output.read_text())
        until(lambda: ask("GET", f"/{made['id']}")["status"] == "active")
    create = [WEBDATA, "keys", "create", "--name", "shop"]
    environ = {**os.environ, "WEBDATA_DATABASE": f"sqlite:///{tmp_path}/webdata.sqlite3"}
    subprocess.run(create, check=True, env=environ, capture_output=True)
    deliveries = f"/{made['id']}/deliveries?status=pending"
    missed, *_ = until(
        lambda: [
            one for one in ask("GET", deliveries)["deliveries"] if one["attempts"] and one["type"] == "key.created"
        ]
    )
    assert missed["error"] == "the connection was refused"
    with receiver(port, made["secret"], output):
        ask("POST", f"/{made['id']}/deliveries/{missed['id']}/resend")
        until(lambda: "key.created" in output.read_text())
        delivered = until(lambda: ask("GET", f"/{made['id']}/deliveries?status=delivered&limit=1")["deliveries"])
    assert running.stop() == 0
    assert "'name': 'shop'" in output.read_text()
    assert delivered[0]["response"] == {"status": 204, "body": ""}
