"""The start of the service."""

import subprocess
import sys

import pytest

from webdata.crawling.warm_crawlers import Call
from webdata.resources.web_search import WEB_SEARCH


def test_the_collector_runs_over_no_open_crawler(monkeypatch):
    """What the first call of an engine and a network has made is left out of collections; later calls change none."""
    from webdata import service

    kept = []
    monkeypatch.setattr(service, "collect_less", lambda: kept.append(1))
    ended, query = service._collect_less_after_first_calls(), WEB_SEARCH.query(q="coffee")
    for engine, sandbox in [("a", True), ("a", True), ("a", False), ("b", True), ("b", True)]:
        ended(engine, Call(WEB_SEARCH, query, sandbox, 25.0), None, None)
    assert len(kept) == 3


@pytest.mark.parametrize("command", ["batches", "fetch", "news_search"])
def test_a_command_imports_what_it_needs(starts, command):
    """A command that calls the API starts in a fraction of a second: it imports neither engines nor databases."""
    code = f"from webdata.main import main; import sys; main(['{command}', '--help'], standalone_mode=False); "
    code += "print(*{name.partition('.')[0] for name in sys.modules})"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"scrapy", "twisted", "sqlalchemy", "klein"} & set(printed.splitlines()[-1].split())


@pytest.mark.slow
def test_a_service_imports_no_libraries_that_few_services_need(starts):
    """A client of HTTP for routes and for commands, and a renderer of Markdown, cost memory and time at the start."""
    code = "import webdata.main, webdata.service, sys; print(*{name.partition('.')[0] for name in sys.modules})"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "scrapy" in modules
    assert not {"aiohttp", "markdown_it", "nh3", "playwright", "redis", "moto"} & set(modules)
