"""Clients that openapi-generator makes of the document."""

import importlib
import shutil
import subprocess
from importlib.resources import files
from inspect import getmembers, isclass

import orjson
import pytest

JAVA = shutil.which("java")
FAST_START = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Options of a program that runs for some seconds: to compile it well does not pay."""
WITH_STATE = ("/ping", "/{path}", "/api/v1/webhooks", "/v1/answers", "/v1/batches", "/v1/schedules", "/v1/files")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(JAVA is None, reason="openapi-generator needs Java: `sh scripts/servers` installs it"),
]


@pytest.fixture(scope="module")
def document(running):
    return running.get("/openapi.json")[2]


@pytest.fixture(scope="module")
def generate(document, tmp_path_factory):
    """`generate(language, *options)` makes a client in a folder, which it returns with the generator's log."""
    jar = str(files("openapi_generator_cli") / "openapi-generator.jar")

    def made(language, *options):
        folder = tmp_path_factory.mktemp(language)
        (folder / "openapi.json").write_bytes(orjson.dumps(document))
        command = [JAVA, *FAST_START, "-jar", jar, "generate", "-g", language, "-i", "openapi.json", "-o", "client"]
        ended = subprocess.run([*command, *options], cwd=folder, capture_output=True, timeout=600, check=False)
        log = (ended.stdout + ended.stderr).decode()
        assert ended.returncode == 0, log
        return folder / "client", log

    return made


@pytest.mark.parametrize("language", ["go", "typescript-fetch"])
def test_a_client_of_each_language_is_generated(generate, language):
    """The generator finds no error, and no two things of one name."""
    folder, log = generate(language)
    assert [line for line in log.splitlines() if " ERROR " in line or "COLLISION" in line] == []
    assert any(folder.rglob("*.go" if language == "go" else "*.ts"))


def test_the_python_client_calls_every_endpoint(running, document, generate, monkeypatch):
    """Each operation but those that need a state is called with its examples, and its answer is read."""
    folder, log = generate("python", "--package-name", "generated_client")
    assert [line for line in log.splitlines() if " ERROR " in line or "COLLISION" in line] == []
    monkeypatch.syspath_prepend(folder)
    package = importlib.import_module("generated_client")
    settings = package.Configuration(host=running.url, ssl_ca_cert=str(running.certificate))
    settings.api_key["X-Api-Key"] = running.test_key
    with package.ApiClient(settings) as client:
        apis = [one(client) for name, one in getmembers(package.api, isclass) if name.endswith("Api")]
        for path, operations in document["paths"].items():
            for operation in operations.values():
                if not path.startswith(WITH_STATE):
                    call(apis, operation)


def call(apis, operation):
    name = operation["operationId"]
    method = next(getattr(api, f"{name}_with_http_info") for api in apis if hasattr(api, name))
    given = {one["name"]: one["example"] for one in operation.get("parameters", []) if "example" in one}
    if "requestBody" in operation:
        given["url_request_request"] = {"url": "https://example.org/a", "response_type": "full"}
    response = method(**given)
    assert (name, response.status_code, response.data is not None) == (name, 200, True)
