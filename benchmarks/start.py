"""The start of a service until its first answer, and its memory when idle and once the endpoints have answered.

All of its calls go to the sandbox, which is a part of the same process. Memory is that of all its processes together.
"""

import tempfile
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from time import monotonic, sleep
from typing import NamedTuple
from urllib.parse import urlencode

from benchmarks.processes import usage
from benchmarks.serving import Target, service
from webdata.crawling.warm_crawlers import load_spiders
from webdata.resources import Resource, example

SETTINGS = {"WEBDATA_SANDBOX": "always", "WEBDATA_SAMPLES": ""}
IDLE_AFTER = 3.0
"""Seconds after which a service is at rest."""
ANSWERS_WITHIN = 120.0


class Start(NamedTuple):
    """A start, on a database that is there."""

    seconds: float
    """From the start of the process to the end of the first answer."""
    processor_seconds: float
    """Of all its processes, until then."""
    idle_mb: float
    """The proportional set size after the first answer."""
    used_mb: float
    """That after an answer of every endpoint that takes a GET without a segment of its path."""


def measure(starts: int) -> Start:
    """The medians of several starts."""
    resources = {one for spider in load_spiders() for one in spider.resources}
    plain = [one for one in resources if one.method == "GET" and "{" not in one.path]
    with tempfile.TemporaryDirectory() as name:
        found = [_start(Path(name), plain) for _ in range(starts)]
    return Start(*map(median, zip(*found, strict=True)))


def _start(folder: Path, resources: list[Resource]) -> Start:
    began = monotonic()
    with service("", folder, module="whole_service", settings=SETTINGS) as server:
        _answer(server.target, resources[0])
        seconds, first = monotonic() - began, usage(server.process.pid)
        sleep(IDLE_AFTER)
        idle = usage(server.process.pid)
        for resource in resources:
            _answer(server.target, resource)
        return Start(seconds, first.processor_seconds, idle.pss_mb, usage(server.process.pid).pss_mb)


def _answer(target: Target, resource: Resource) -> None:
    connection = HTTPConnection("127.0.0.1", target.port, timeout=ANSWERS_WITHIN)
    path = f"{resource.path}?{urlencode(example(resource))}"
    connection.request("GET", path, headers={"X-Api-Key": target.key})
    response = connection.getresponse()
    response.read()
    connection.close()
    if response.status != 200:
        raise RuntimeError(f"{path} was answered {response.status}")
