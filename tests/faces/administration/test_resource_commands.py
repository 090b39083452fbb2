"""The commands of resources, without a service."""

import click
import orjson
import pytest

from webdata.domain.outcome import Outcome
from webdata.faces.administration.command_names import command_titles, resource_of
from webdata.faces.administration.resource_commands import FIELD, Json, _without_controls, resource_command
from webdata.faces.administration.single_calls import CallReply, asked_of_service
from webdata.main import main
from webdata.resources import all_resources, resource_titles

RESOURCES = all_resources()
COMMANDS = {resource_of(name): resource_command(name) for name in command_titles()}


class Response:
    """The response to a call."""

    def __init__(self):
        self.headers = {"X-Outcome": "ok"}

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        pass

    async def read(self):
        return b"{}"


class Client:
    """A client of the API that remembers what it was asked."""

    def response(self, method, path, params, body, headers):
        self.asked = method, path, params, body and orjson.loads(body()), headers
        return Response()


def test_every_resource_has_a_command():
    """The names come from the schemas, without an import, and are those of the resources."""
    assert resource_titles().keys() == RESOURCES.keys()
    context = click.Context(main)
    names = {resource_of(name) for name in main.list_commands(context)}
    assert RESOURCES.keys() <= names
    assert main.get_command(context, "web_search") is None


@pytest.mark.parametrize("name", RESOURCES)
def test_a_command_has_every_parameter_of_its_resource(name):
    """Each field is an argument or an option, and no two parameters have the same name."""
    fields = [one.name for one in COMMANDS[name].params if one.name.startswith(FIELD)]
    assert sorted(fields) == sorted(f"{FIELD}{field}" for field in RESOURCES[name].query.fields())
    flags = [flag for one in COMMANDS[name].params if isinstance(one, click.Option) for flag in one.opts]
    assert len(flags) == len(set(flags))


@pytest.mark.parametrize("name", RESOURCES)
def test_a_help_is_whole(name):
    """It has each option with what it takes, an example, and the exit statuses."""
    text = COMMANDS[name].get_help(click.Context(COMMANDS[name], info_name=name))
    options = [one for one in COMMANDS[name].params if isinstance(one, click.Option) and not one.hidden]
    assert [one.opts for one in options if not (one.help and one.opts[0] in text)] == []
    assert "Example: webdata" in text
    assert "Exit status: 0 found" in text


@pytest.mark.task
@pytest.mark.parametrize(
    ("name", "values", "asked"),
    [
        (
            "web_search",
            {"q": "a&b", "num": "3", "region": "DE", "content_main": True},
            ("GET", "/v1/search", {"q": "a&b", "num": "3", "content_main": "true"}, None, {"X-Proxy-Location": "DE"}),
        ),
        ("maps_search", {"q": "a/b c", "gl": "de"}, ("GET", "/v1/maps/search/a%2Fb%20c", {"gl": "de"}, None, {})),
        (
            "url_request",
            {"url": "https://a.example/", "formats": ["links"], "region": "DE"},
            (
                "POST",
                "/v1/request",
                None,
                {"url": "https://a.example/", "formats": ["links"], "region": "DE"},
                {"Content-Type": "application/json"},
            ),
        ),
    ],
)
async def test_a_call_is_that_of_the_api(name, values, asked):
    """Each field is where the API has it: in the path, the query string, a header or the body."""
    client = Client()
    reply = await asked_of_service(client, RESOURCES[name], values)
    assert client.asked == asked
    assert (reply.body, reply.found) == (b"{}", True)


def test_remarks_are_told():
    """What was changed, ignored or cut is said, and an outcome without results is no success."""
    headers = {
        "x-outcome": Outcome.EMPTY,
        "x-adjusted-params": "num=100",
        "x-ignored-params": "x",
        "x-next-cursor": "300",
        "x-upstream-status": "404",
    }
    reply = CallReply(b"", headers)
    assert not reply.found
    assert reply.remarks == [
        "taken instead of a larger number: num=100",
        "without effect: x",
        "the outcome is empty",
        "the page itself has the status 404",
        "there is more: --cursor 300",
    ]
    assert CallReply(b"", {"x-outcome": "ok", "x-upstream-status": "200"}).remarks == []


def test_no_page_commands_the_terminal():
    """Control characters are replaced, lines and tabs stay."""
    assert _without_controls("a\x1b[31mb\x9bc\n\té".encode()) == "a\ufffd[31mb\ufffdc\n\té".encode()


def test_objects_are_json():
    """Text that begins like an object is one, and a selector is no list."""
    kind = Json()
    assert kind.convert('{"a": "b"}', None, None) == {"a": "b"}
    assert kind.convert("[data-price]", None, None) == "[data-price]"
    with pytest.raises(click.BadParameter, match="is no JSON"):
        kind.convert('{"a": b}', None, None)
