"""The gateway of a running service: the examples of docs/gateway.md, and a page of another origin in Chromium."""

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import orjson
import pytest

GUIDE = (Path(__file__).parents[2] / "docs" / "gateway.md").read_text(encoding="utf-8")
ANSWER = re.compile(r"<!-- answer of (\S+), in part -->\n```json\n(.*?)```", re.DOTALL)
ROUTES = re.search(r"```toml\n(.*?)```", GUIDE, re.DOTALL)[1]
PAGE = b"<!DOCTYPE html><title>A page of another origin</title>"
CALL = """async ([url, key, body]) => {
  const given = {method: body ? "POST" : "GET", headers: {"X-Api-Key": key, "Content-Type": "application/json"}, body};
  const answer = await fetch(url, given);
  return [answer.status, answer.headers.get("x-request-id"), await answer.json()];
}"""


class Echo(BaseHTTPRequestHandler):
    """Answers with what it was sent; its root is a page."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        headers = {name.lower(): value for name, value in self.headers.items()}
        sent = {"method": self.command, "path": self.path, "headers": headers, "body": body}
        content = PAGE if self.path == "/" else orjson.dumps(sent)
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if self.path == "/" else "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET  # noqa: N815  # the name that http.server calls

    def log_message(self, *_):
        """Nothing."""


@pytest.fixture(scope="module")
def upstream():
    """The address of an upstream."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def environ(upstream, tmp_path_factory):
    file = tmp_path_factory.mktemp("gateway") / "routes.toml"
    file.write_text(re.sub(r"http://[\d.:]+", upstream, ROUTES), encoding="utf-8")
    return {"WEBDATA_GATEWAY_ROUTES": f"billing={upstream}", "WEBDATA_GATEWAY_FILE": str(file)}


@pytest.mark.parametrize(("path", "text"), ANSWER.findall(GUIDE), ids=lambda value: value[:30])
def test_the_answers_are_real(running, is_part, path, text):
    """Every answer of the guide is a part of the service's own."""
    _, _, real = running.get(path)
    assert is_part(orjson.loads(text), real)


def test_the_routes_are_real(running):
    """The route of the guide's file has its path, its header and its price."""
    status, headers, sent = running.get("/reports/a?b=1", key=running.live_key)
    assert (status, sent["path"], sent["headers"]["authorization"]) == (200, "/v2/a?b=1", "Bearer of-the-reports")
    assert headers["x-credits-cost"] == "1"


@pytest.mark.slow
@pytest.mark.task
async def test_a_page_of_another_origin(running, upstream, chromium):
    """It calls endpoints and routes, and reads the bodies, headers and errors of the answers."""
    async with chromium(ignore_https_errors=True) as context:
        tab = await context.new_page()
        await tab.goto(upstream)

        async def called(path, key=running.test_key, body=None):
            return await tab.evaluate(CALL, [f"{running.url}{path}", key, body])

        status, request_id, record = await called("/v1/search?q=coffee")
        assert (status, request_id[:4], record["query"]) == (200, "req_", "coffee")
        status, request_id, sent = await called("/billing/x", body='{"a": 1}')
        assert (status, sent["body"], sent["headers"]["x-request-id"]) == (200, '{"a": 1}', request_id)
        for path in ("/v1/search?q=coffee", "/billing/x"):
            status, _, problem = await called(path, key="wrong", body='{"a": 1}' if path == "/billing/x" else None)
            assert (status, problem["error"]["code"]) == (401, "unauthorized")
        assert (
            await tab.evaluate("url => fetch(url).then(() => 'read', () => 'refused')", f"{running.url}/docs")
            == "refused"
        )
