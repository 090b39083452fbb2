"""Rules for every engine, resource and schema, all of which the spider loader finds."""

import importlib
import inspect
import json
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import jsonschema
import pytest
from scrapy import Request
from scrapy.utils.spider import iter_spider_classes

from tests.fixture_cases import cases
from webdata.crawling.warm_crawlers import known_spiders
from webdata.domain.query import Query
from webdata.resources import schema
from webdata.runtime.wire.exchange import SandboxRequest
from webdata.sandbox.sites import site_for, site_that_takes

ROOT = Path(__file__).parents[2]
SPIDERS = known_spiders()
RESOURCES = list({resource.name: resource for spider in SPIDERS for resource in spider.resources}.values())
ENGINE_RESOURCES = [(spider, resource) for spider in SPIDERS for resource in spider.resources]
NAMES = sorted(path.stem for path in (ROOT / "webdata" / "spiders").glob("[!_]*.py") if path.stem != "base")
"""The names of all engines, finished or not, by their spider files."""


def by_name(thing):
    return thing.name


def smallest_query(resource):
    """A query with only its required fields, with the values of their examples."""
    required = {name: field for name, field in resource.query.model_fields.items() if field.is_required()}
    return resource.query.check({name: field.examples[0] for name, field in required.items()})


@pytest.mark.parametrize("name", NAMES)
def test_an_engine_is_loaded_by_its_name(name):
    """A spider file has an engine of its name, whose resources have schemas."""
    module = importlib.import_module(f"webdata.spiders.{name}")
    found = {spider.name: spider for spider in iter_spider_classes(module)}
    assert name in found, f"write a subclass of EngineSpider with name = {name!r} in webdata/spiders/{name}.py"
    for resource in found[name].resources:
        assert resource.schema  # or it raises what to write
    assert found[name] in SPIDERS


@pytest.mark.parametrize("name", NAMES)
def test_an_engine_has_a_page_module_and_a_fixture(name):
    """An engine's page module and its fixtures have its name."""
    assert find_spec(f"webdata.pages.{name}"), f"write webdata/pages/{name}.py with record(body, query)"
    assert importlib.import_module(f"webdata.pages.{name}").record
    assert cases(name), f"make a fixture of {name} with: webdata fixture {name} PAGE -a q=…"


@pytest.mark.parametrize(("spider", "resource"), ENGINE_RESOURCES, ids=lambda one: one.name)
def test_the_sandbox_has_the_site_of_an_engine(spider, resource):
    """What an engine requests is answered by the sandbox's site of its name, or of another engine of that host."""
    url = urlsplit(spider().request(smallest_query(resource)).url)
    target = f"{url.path}?{url.query}"
    request = SandboxRequest("GET", url.scheme, url.hostname, target, {})
    site = site_that_takes(request) or site_for(url.hostname)
    name = site.__module__.rpartition(".")[2]
    own = find_spec(f"webdata.sandbox.sites.{spider.name}") is not None
    assert name == spider.name if own else name != "url", (
        f"the sandbox answers {url.hostname} by its site {name}: write webdata/sandbox/sites/{spider.name}.py with "
        f"HOSTS = ({url.hostname!r},) and answer(request), and with takes(request) where the host has another site"
    )


@pytest.mark.parametrize("resource", RESOURCES, ids=by_name)
def test_the_engines_of_a_resource_have_ranks_of_their_own(resource):
    """No two engines of a resource have the same rank."""
    ranks = defaultdict(list)
    for spider in SPIDERS:
        if resource in spider.resources:
            ranks[spider.rank].append(spider.name)
    same = [f"{' and '.join(names)} have rank {rank}" for rank, names in ranks.items() if len(names) > 1]
    assert not same, f"of {resource.name} {'; '.join(same)}: give each its own, the lowest answers first"


@pytest.mark.parametrize("spider", SPIDERS, ids=by_name)
def test_a_page_module_takes_bytes_and_a_query(spider):
    """`record(body, query)` is the same for every page module."""
    page = importlib.import_module(f"webdata.pages.{spider.name}")
    assert list(inspect.signature(page.record).parameters) == ["body", "query"]


@pytest.mark.parametrize("spider", SPIDERS, ids=by_name)
def test_the_type_of_a_query_identifies_its_resource(spider):
    """No two resources of an engine have the same type of query."""
    types = [resource.query for resource in spider.resources]
    assert len(types) == len(set(types))


@pytest.mark.parametrize(("spider", "resource"), ENGINE_RESOURCES, ids=lambda one: one.name)
def test_an_engine_makes_a_request_of_the_smallest_query(spider, resource):
    """A query with only its required fields becomes an https request."""
    request = spider().request(smallest_query(resource))
    assert isinstance(request, Request)
    assert request.url.startswith("https://")


@pytest.mark.parametrize("resource", RESOURCES, ids=by_name)
def test_a_resource_describes_its_query(resource):
    """Every parameter has a description, and a required one an example."""
    assert issubclass(resource.query, Query)
    for name, field in resource.query.model_fields.items():
        assert field.description, name
        assert field.examples or not field.is_required(), name


@pytest.mark.parametrize("resource", RESOURCES, ids=by_name)
def test_a_resource_counts_arrays_of_its_schema(resource):
    """The arrays that decide whether a record is empty are arrays of the schema."""
    for path in filter(None, (*resource.content, resource.rows)):
        assert schema_at(resource.schema, path)["type"] == "array"


def schema_at(found, path):
    """The schema of a record's path."""
    for key in path.split("."):
        found = found["prefixItems"][int(key)] if key.isdigit() else found["properties"][key]
        if "$ref" in found:
            file, _, name = found["$ref"].partition("#/$defs/")
            found = schema(file.removesuffix(".json"))["$defs"][name]
    return found


@pytest.mark.parametrize("path", sorted((ROOT / "schemas").glob("*.json")), ids=lambda path: path.stem)
def test_a_schema_is_valid(path):
    """Every schema is valid JSON Schema, draft 2020-12, and is loaded by its name."""
    found = schema(path.stem)
    assert found == json.loads(path.read_text(encoding="utf-8"))
    assert found["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(found)


@pytest.mark.parametrize("resource", RESOURCES, ids=by_name)
def test_an_envelope_is_closed(resource):
    """The envelope of a record has no additional properties.

    The `$comment` of an optional key describes when it is present. The upstream's own object has no envelope.
    """
    if resource.schema.get("$comment") == "The upstream's own object.":
        assert "$ref" in resource.schema
        assert "additionalProperties" not in resource.schema
        return
    assert resource.schema["additionalProperties"] is False
    always = {name for name, value in resource.schema["properties"].items() if "$comment" not in value}
    assert set(resource.schema["required"]) == always


def test_paths_are_unique():
    """No two resources have the same path."""
    paths = [resource.path for resource in RESOURCES]
    assert len(paths) == len(set(paths))
