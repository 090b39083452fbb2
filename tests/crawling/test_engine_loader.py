"""Engines are found by their files; one that is not finished costs the others nothing."""

import sys

import pytest

from webdata.crawling.warm_crawlers import load_spiders, scrapy_settings

FINISHED = """
from webdata.resources.web_search import WEB_SEARCH
from webdata.crawling.engine import EngineSpider

class FinishedSpider(EngineSpider):
    name = "finished"
    resources = (WEB_SEARCH,)
"""
WITHOUT_SCHEMA = """
from webdata.domain.query import SearchQuery
from webdata.resources import Resource
from webdata.crawling.engine import EngineSpider

class NewSpider(EngineSpider):
    name = "new"
    resources = (Resource("new_search", "/v1/new", "New things", SearchQuery, dict),)
"""


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Loads the engines of a package with these modules; returns their names."""
    monkeypatch.syspath_prepend(tmp_path)
    folder = tmp_path / "engines_of_a_test"
    folder.mkdir()
    (folder / "__init__.py").touch()

    def load_modules(**modules):
        for name, source in modules.items():
            (folder / f"{name}.py").write_text(source, encoding="utf-8")
        settings = scrapy_settings()
        settings.set("SPIDER_MODULES", [folder.name])
        return [spider.name for spider in load_spiders(settings)]

    yield load_modules
    for name in [name for name in sys.modules if name.startswith(folder.name)]:
        del sys.modules[name]


@pytest.mark.parametrize("source", ["import no_such_module", "def", "LIMIT = NO_SUCH_NAME"])
def test_an_engine_that_cannot_be_imported_is_left_out(load, caplog, source):
    """The others are loaded, and the log names it."""
    assert load(finished=FINISHED, half_made=source) == ["finished"]
    assert "engines_of_a_test.half_made is left out: it cannot be imported" in caplog.text


def test_an_engine_whose_resource_has_no_schema_is_left_out(load, caplog):
    """The others are loaded, and the log says which file to write."""
    assert load(finished=FINISHED, new=WITHOUT_SCHEMA) == ["finished"]
    assert "new is left out: schemas/new_search.json is missing: run make docs" in caplog.text


def test_a_module_that_is_no_package_is_one_of_engines(load):
    """`SPIDER_MODULES` may name a single module."""
    load(finished=FINISHED)
    settings = scrapy_settings()
    settings.set("SPIDER_MODULES", "engines_of_a_test.finished")
    assert [spider.name for spider in load_spiders(settings)] == ["finished"]
