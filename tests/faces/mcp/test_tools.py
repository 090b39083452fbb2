"""Tools, made from the resources."""

import orjson
import pytest
from jsonschema import Draft202012Validator

from webdata.crawling.warm_crawlers import load_spiders
from webdata.domain.query import Query
from webdata.faces.mcp.tools import chosen_tools, tools_of
from webdata.faces.mcp.wording import WORDINGS
from webdata.resources import Resource

RESOURCES = {one.name: one for spider in load_spiders() for one in spider.resources}
TOOLS = tools_of(RESOURCES.values())
DEFAULT = ["web_search", "news_search", "image_search", "places_search", "scholar_search", "fetch_page"]
MOST_TOKENS = 3000
"""Of the default tools; a token has four bytes."""


class Tides(Query):
    """The tides of a harbour."""

    harbour: str


def described(tool):
    return {
        "name": tool.name,
        "description": tool.wording.description,
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
        "annotations": {"readOnlyHint": True, "openWorldHint": True},
    }


def test_six_tools_are_offered_and_all_can_be_had():
    """Without a choice the six are offered, and `all` are as many as there are resources."""
    assert list(chosen_tools(TOOLS, None, ())) == DEFAULT
    assert list(chosen_tools(TOOLS, "", ())) == DEFAULT
    assert len(chosen_tools(TOOLS, "all", ())) == len(RESOURCES)


def test_the_offered_tools_leave_room_for_the_conversation():
    """Their descriptions take at most 3,000 tokens."""
    size = sum(len(orjson.dumps(described(TOOLS[name]))) for name in DEFAULT)
    assert size / 4 <= MOST_TOKENS


def test_a_new_resource_is_a_tool_by_itself():
    """It has the name and the summary of the resource, and the parameters of its query."""
    tide = Resource("tide_table", "/v1/tides", "Tides of a harbour", Tides)
    tool = tools_of([tide])["tide_table"]
    assert tool.wording.description == "Tides of a harbour."
    assert list(tool.input_schema["properties"]) == ["harbour", "max_chars", "cursor"]
    assert tool.input_schema["required"] == ["harbour"]


def test_every_wording_is_of_a_resource():
    """No wording is left of a resource that has gone."""
    assert set(WORDINGS) <= set(RESOURCES)


@pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))
def test_schemas_of_tools_are_schemas(tool):
    """They are valid, objects at the root, and without references that nobody could follow."""
    for schema in (tool.input_schema, tool.output_schema):
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        assert "$ref" not in orjson.dumps(schema).decode()


@pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))
def test_descriptions_of_arguments_are_those_of_arguments(tool):
    """None shows the form of a URL or the name of a header, which a model would write into its arguments."""
    for name, schema in tool.input_schema["properties"].items():
        text = schema.get("description", "")
        assert f"{name}=" not in text
        assert "+" not in text
        assert not [header for header in tool.resource.query.header_names().values() if header in text]


@pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))
def test_an_argument_is_of_the_query_or_of_the_tool(tool):
    """What is shown of an answer is the tool's matter, also where the query has a parameter of that name."""
    assert not set(tool.own_arguments) & set(tool.query_fields)
