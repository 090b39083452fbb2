"""Rules for every engine, resource and schema, all of which the spider loader finds."""

import importlib
import inspect
import json
from pathlib import Path

import jsonschema
import pytest
from scrapy import Request

from webdata.crawling.warm_crawlers import load_spiders
from webdata.domain.query import Query
from webdata.resources import schema

ROOT = Path(__file__).parents[2]
SPIDERS = load_spiders()
RESOURCES = list({resource.name: resource for spider in SPIDERS for resource in spider.resources}.values())
ENGINE_RESOURCES = [(spider, resource) for spider in SPIDERS for resource in spider.resources]
SEGMENTS = {"id": "1abc2d", "url": "https://example.com/", "response_type": "full"}
"""Values of required fields that are not search terms."""


def by_name(thing):
    return thing.name


@pytest.mark.parametrize("spider", SPIDERS, ids=by_name)
def test_the_parts_of_an_engine_share_its_name(spider):
    """An engine's spider file, page module, sandbox site and fixture folder share its name."""
    assert spider.__module__ == f"webdata.spiders.{spider.name}"
    assert importlib.import_module(f"webdata.pages.{spider.name}").record
    assert importlib.import_module(f"webdata.sandbox.sites.{spider.name}").answer
    assert any((ROOT / "fixtures" / spider.name).iterdir())


@pytest.mark.parametrize("spider", SPIDERS, ids=by_name)
def test_a_page_module_takes_bytes_and_a_query(spider):
    """`record(body, query)` is the same for every page module."""
    page = importlib.import_module(f"webdata.pages.{spider.name}")
    assert list(inspect.signature(page.record).parameters) == ["body", "query"]


@pytest.mark.parametrize("spider", SPIDERS, ids=by_name)
def test_the_type_of_a_query_identifies_its_resource(spider):
    """No two resources of an engine have the same type of query, or a subtype."""
    types = [resource.query for resource in spider.resources]
    assert not any(issubclass(one, other) for one in types for other in types if one is not other)
    assert len(types) == len(set(types))


@pytest.mark.parametrize(("spider", "resource"), ENGINE_RESOURCES, ids=lambda one: one.name)
def test_an_engine_makes_a_request_of_the_smallest_query(spider, resource):
    """A query with only its required fields becomes an https request."""
    required = [name for name, field in resource.query.model_fields.items() if field.is_required()]
    query = resource.query.check({name: SEGMENTS.get(name, "coffee") for name in required})
    request = spider().request(query)
    assert isinstance(request, Request)
    assert request.url.startswith("https://")


@pytest.mark.parametrize("resource", RESOURCES, ids=by_name)
def test_a_resource_describes_its_query(resource):
    """Every parameter has a description."""
    assert issubclass(resource.query, Query)
    for name, field in resource.query.model_fields.items():
        assert field.description, name


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
