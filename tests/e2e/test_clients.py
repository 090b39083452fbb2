"""Requests as existing clients send them, byte for byte, to one running service."""

import importlib
import socket
import ssl
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from pkgutil import walk_packages

import orjson
import pytest

from webdata.crawling.warm_crawlers import load_spiders
from webdata.domain.outcome import Outcome

GENERATOR = Path(sys.executable).with_name("openapi-python-client")
BODY = b'{"url": "https://example.org/a", "response_type": "markdown"}'


@dataclass
class Answer:
    """A response: its status, its headers by names in lower case, and its body."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self):
        return orjson.loads(self.body)


@pytest.fixture(scope="module")
def send(running):
    """Sends a target as it is, with these header lines and a body, over a connection of its own."""
    trust = ssl.create_default_context(cafile=running.certificate)

    def exchange(target, *lines, method="GET", body=None):
        length = [] if body is None else [f"Content-Length: {len(body)}"]
        key = f"X-Api-Key: {running.test_key}"
        head = "\r\n".join(
            [f"{method} {target} HTTP/1.1", "Host: x", "Connection: close", key, *lines, *length, "", ""]
        )
        with (
            socket.create_connection(("127.0.0.1", running.port), 30) as plain,
            trust.wrap_socket(plain, server_hostname="localhost") as connection,
        ):
            connection.sendall(head.encode() + (body or b""))
            received = b"".join(iter(lambda: connection.recv(65536), b""))
        head, _, content = received.partition(b"\r\n\r\n")
        status, *fields = head.decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (field.partition(": ") for field in fields)}
        return Answer(int(status.split()[1]), headers, content)

    return exchange


@pytest.mark.parametrize(
    "target",
    [
        "/v1/search/q=search+api&num=5",
        "/v1/search/?q=search+api&num=5",
        "/v1/search?q=search%20api&num=5",
        "/v1/search/q%3Dsearch%2Bapi%26num%3D5",
        "/v1/search/q%3Dsearch%20api%26num%3D5",
        "/v1/search/num%3d5%26q%3dsearch%2520api/",
    ],
)
def test_a_packed_query_may_be_percent_encoded_as_a_whole(send, target):
    """All forms are the same request."""
    answer = send(target)
    assert (answer.status, answer.json["query"], len(answer.json["results"])) == (200, "search api", 5)


def test_an_encoded_image_search_is_no_bare_term(send):
    """`q%3Dtesla` is `q=tesla`, also in the record."""
    encoded, plain = send("/v1/image/q%3Dtesla"), send("/v1/image/q=tesla")
    assert encoded.json["query"] == plain.json["query"] == "q=tesla"
    assert encoded.json["image_results"] == plain.json["image_results"]


@pytest.mark.parametrize(
    ("target", "adjusted"),
    [
        ("/v1/search/q=a&num=200", "num=100"),
        ("/v1/video?q=a&num=101", "num=100"),
        ("/v1/b/search?q=a&num=100", "num=50"),
        ("/v1/b/search?q=a&count=100", "count=50"),
        ("/v1/scholar?q=a&num=1000", "num=200"),
        ("/v1/search/q=a&num=100", None),
    ],
)
def test_a_number_above_the_bound_is_the_bound(send, target, adjusted):
    """The header says so."""
    answer = send(target)
    assert (answer.status, answer.headers.get("x-adjusted-params")) == (200, adjusted)


@pytest.mark.parametrize(("target", "status"), [("/v1/search/q=a&num=0", 422), ("/v1/maps/search/a?num=201", 400)])
def test_other_numbers_out_of_bounds_are_refused(send, target, status):
    """Below 1, and of places above the bound, too."""
    assert send(target).status == status


@pytest.mark.parametrize("path", ["/v1/scholar?q=a", "/v1/job/search?q=nurse", "/v1/maps/search/a", "/v1/forum/post/a"])
def test_headers_without_effect_may_have_any_value(send, path):
    """A library's user agent is ignored, and named."""
    answer = send(path, "X-User-Agent: python-requests/2.32", "X-Proxy-Location: us-east-1")
    assert answer.status == 200
    assert answer.headers["x-ignored-params"] == "X-Proxy-Location, X-User-Agent"


@pytest.mark.parametrize("query", ["hl=de&gl=DE", "hl=lang_de", "hl=LANG_DE&gl=de", "gl=DE", "ceid=DE:de"])
def test_language_and_country_make_the_edition_of_news(send, query):
    """All of them are the same edition."""
    answer = send(f"/v1/news/q=coffee&{query}")
    assert (answer.status, answer.json["feed"]["language"]) == (200, "de-DE")


@pytest.mark.parametrize(("value", "path"), [("vid", "/v1/video"), ("isch", "/v1/image"), ("nws", "/v1/news")])
def test_a_vertical_of_the_engine_is_another_endpoint(send, value, path):
    """`tbm` is an error that names the endpoint, never web results."""
    answer = send(f"/v1/search/q=coffee&tbm={value}")
    assert answer.status == 422
    assert f"call {path}," in answer.json["error"]["message"]
    assert answer.json["detail"][0]["loc"] == ["query", "tbm"]


def test_two_names_of_a_parameter_with_two_values_are_refused(send):
    """`count` is Bing's own name of `num`."""
    answer = send("/v1/b/search?q=a&num=10&count=20")
    assert (answer.status, answer.json["detail"][0]["loc"]) == (422, ["query", "count"])


@pytest.mark.parametrize("lines", [["Content-Type: application/json"], ["Content-Type: text/plain"], []], ids=str)
def test_a_json_body_may_have_any_type(send, lines):
    """Also none."""
    answer = send("/v1/request", *lines, method="POST", body=BODY)
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")


def test_the_type_of_a_form_is_refused(send):
    """The error names the right type."""
    answer = send("/v1/request", "Content-Type: application/x-www-form-urlencoded", method="POST", body=BODY)
    assert answer.status == 400
    assert "send Content-Type: application/json" in answer.json["error"]["message"]


@pytest.mark.parametrize(
    "target",
    [
        *(
            f"/v1/{path}?q=coffee+sandbox:capcha"
            for path in ("search", "image", "video", "news", "b/search", "scholar")
        ),
        *(f"/v1/{path}/search?q=coffee+sandbox:capcha" for path in ("job", "product", "marketplace")),
        "/v1/forum/subforum/sandbox_capcha",
    ],
)
def test_a_misspelt_word_of_the_sandbox_is_the_callers_mistake(send, target):
    """The error lists the words."""
    answer = send(target)
    assert (answer.status, answer.json["error"]["code"]) == (422, "validation_error")
    assert answer.json["detail"][0]["msg"].startswith("sandbox:capcha is no word of the sandbox here: the words are ")
    assert "sandbox:slow, " in answer.json["error"]["message"]


WITH_STATE = ("/ping", "/{path}", "/api/v1/webhooks", "/v1/answers", "/v1/batches", "/v1/schedules", "/v1/files")


def generated(folder, name, document):
    """The package of a client that a generator makes of an OpenAPI document."""
    (folder / "openapi.json").write_bytes(orjson.dumps(document))
    files = "".join(f"  {one}: application/octet-stream\n" for one in ("image/png", "application/warc"))
    (folder / "config.yml").write_text(f"post_hooks: []\ncontent_type_overrides:\n{files}")
    sources = ["--path", folder / "openapi.json", "--config", folder / "config.yml"]
    command = [GENERATOR, "generate", *sources, "--output-path", folder / name, "--meta", "none", "--fail-on-warning"]
    subprocess.run(command, capture_output=True, timeout=120, check=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        package = importlib.import_module(name)
        api = importlib.import_module(f"{name}.api")
        modules = [one.name for one in walk_packages(api.__path__, f"{name}.api.") if not one.ispkg]
        return package, {one.rpartition(".")[2]: importlib.import_module(one).sync_detailed for one in modules}


@pytest.fixture(scope="module")
def client_of(running):
    """A client of a generated package, with the key of the service."""
    trust = ssl.create_default_context(cafile=running.certificate)
    opened = []

    def make(package):
        key = {"token": running.test_key, "prefix": "", "auth_header_name": "X-Api-Key"}
        client = package.AuthenticatedClient(running.url, **key, verify_ssl=trust, raise_on_unexpected_status=True)
        opened.append(client.get_httpx_client())
        return client

    yield make
    for one in opened:
        one.close()


@pytest.mark.slow
def test_a_client_generated_from_the_document_calls_every_endpoint(running, client_of, tmp_path):
    """Each operation but those that need a state is called with its example, and read without loss."""
    document = running.get("/openapi.json")[2]
    paths = document["paths"]
    operations = {one["operationId"]: one for path in paths.values() for one in path.values()}
    with_state = {one["operationId"] for path in paths if path.startswith(WITH_STATE) for one in paths[path].values()}
    package, calls = generated(tmp_path, "client_of_the_document", document)
    client = client_of(package)
    body = importlib.import_module("client_of_the_document.models").UrlRequestBody
    assert calls.keys() == operations.keys()
    for name in calls.keys() - with_state:
        call, operation = calls[name], operations[name]
        given = {one["name"]: one["example"] for one in operation.get("parameters", []) if "example" in one}
        if "requestBody" in operation:
            given["body"] = body.from_dict({"url": "https://example.org/a", "response_type": "full"})
        response = call(client=client, **given)
        read = response.parsed if isinstance(response.parsed, str) else response.parsed.to_dict()
        sent = response.content.decode() if isinstance(read, str) else orjson.loads(response.content)
        assert (name, response.status_code, read) == (name, 200, sent)


def test_a_client_with_the_packed_query_as_a_path_parameter(running, client_of, tmp_path):
    """It percent-encodes the whole of it, on every packed endpoint."""
    resources = {one for spider in load_spiders() for one in spider.resources if one.packed and one.method == "GET"}
    text = {"200": {"description": "A record.", "content": {"application/json": {"schema": {}}}}}
    query = [{"name": "query", "in": "path", "required": True, "schema": {"type": "string"}}]
    paths = {
        resource.route: {"get": {"operationId": resource.name, "parameters": query, "responses": text}}
        for resource in resources
    }
    document = {"openapi": "3.1.0", "info": {"title": "Packed", "version": "1"}, "paths": paths}
    package, calls = generated(tmp_path, "client_of_packed_queries", document)
    client = client_of(package)
    for resource in resources:
        response = calls[resource.name]("q=nurse+in+Austin,+TX&num=5", client=client)
        record = orjson.loads(response.content)
        assert (resource.name, response.status_code) == (resource.name, 200)
        assert resource.outcome(record) is Outcome.OK
        shown = "q=nurse+in+Austin,+TX&num=5" if resource.bare_term else "nurse in Austin, TX"
        assert record.get("query", shown) == shown
