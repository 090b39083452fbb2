"""Any URL by the service against the sandbox's web, over real sockets."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import orjson
import pytest
from jsonschema import Draft202012Validator

from tests.trial_web.compressed import COMPRESSED
from tests.trial_web.encodings import TRIALS as ENCODINGS
from tests.trial_web.traps import TARGETS
from webdata.resources.url_request import URL_REQUEST

SITE = "https://example.com"
TESTS = Path(__file__).parents[1]
SCRAPY = Path(sys.executable).with_name("scrapy")
SCHEMA = Draft202012Validator(URL_REQUEST.schema)
UNFOLLOWED = ("file", "gopher", "ftp", "data", "script")
"""Targets that no browser follows from a refresh: the page itself is returned."""


@pytest.fixture(scope="module")
def environ():
    """The sandbox is one with all trials, in a process of its own."""
    command = [sys.executable, "-m", "trial_web.web"]
    with subprocess.Popen(command, cwd=TESTS, stdout=subprocess.PIPE, text=True) as process:
        yield {"WEBDATA_SANDBOX_URL": process.stdout.readline().strip()}
        process.terminate()


@pytest.fixture
def fetch(running):
    """Requests a page of the sandbox's web; returns status, headers, and the record, the text or the problem."""

    def request(path, response_type="full"):
        url = path if "://" in path else SITE + path
        status, headers, body = running.post("/v1/request", {"url": url, "response_type": response_type})
        if status == 200 and response_type == "full":
            SCHEMA.validate(orjson.loads(body))
        return (
            status,
            headers,
            orjson.loads(body) if headers["content-type"].startswith("application/") else body.decode(),
        )

    return request


def test_a_full_answer_is_the_record(fetch):
    """A full answer is the record, with the headers of every answer."""
    status, headers, record = fetch("/article")
    assert (status, headers["x-outcome"], headers["x-transport"]) == (200, "ok", "http")
    assert headers["x-request-id"].startswith("req_")
    assert record["data"].startswith("<!DOCTYPE html>")
    assert (record["status"], record["headers"]["content-type"]) == (200, "text/html; charset=UTF-8")
    assert (record["config"]["url"], record["config"]["method"]) == (f"{SITE}/article", "GET")


def test_a_page_is_converted_to_markdown(fetch):
    """Markdown has headings and absolute links, and no elements around the text."""
    status, headers, text = fetch("/article", "markdown")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert (headers["x-outcome"], headers["x-upstream-status"]) == ("ok", "200")
    assert "server-timing" in headers
    assert text.startswith("# ")
    assert "](https://" in text
    assert "<" not in text.partition("```")[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPRESSED)
def test_every_compression_is_decompressed(fetch, name):
    """Every Content-Encoding, also a wrong one, is decompressed to the article."""
    status, _, record = fetch(f"/compressed/{name}")
    assert status == 200
    assert record["data"].startswith("<!DOCTYPE html>")
    assert record["headers"]["content-encoding"] == COMPRESSED[name][0]
    assert record["config"]["truncated"] is (name == "cut")


def test_every_charset_is_decoded(fetch):
    """Pages in every charset, declared, undeclared or wrongly declared, are decoded without loss."""
    records = {trial.path: fetch(trial.path)[2] for trial in ENCODINGS}
    lost = [path for path, record in records.items() if "\ufffd" in record["data"]]
    assert lost == []
    assert len({record["config"]["encoding"] for record in records.values()}) >= 15


@pytest.mark.parametrize("target", TARGETS)
def test_redirects_to_forbidden_targets_are_refused(fetch, target):
    """A redirect or a refresh to a forbidden target is refused, with the same message for all."""
    _, _, refusal = fetch("http://127.0.0.1/")
    for kind in ("redirect", "refresh"):
        status, headers, problem = fetch(f"/trap/{kind}/{target}")
        if kind == "refresh" and target in UNFOLLOWED:
            assert (status, problem["config"]["url"]) == (200, f"{SITE}/trap/refresh/{target}")
            continue
        assert (status, problem["error"]["code"]) == (400, "target_not_allowed")
        assert problem["error"]["message"] == refusal["error"]["message"]
        assert "x-outcome" not in headers


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:8080/", "http://0x7f.1/", "http://[::ffff:10.0.0.1]/", "http://localhost/", "file:///etc/passwd",
     "https://user:word@example.com/", "https://example.com:22/", "https://10-0-0-1.trap.example/"],
)  # fmt: skip
def test_forbidden_targets_are_refused(fetch, url):
    """A target that is refused, by its form or by its addresses, is a 400."""
    status, _, problem = fetch(url, "markdown")
    assert (status, problem["error"]["code"]) == (400, "target_not_allowed")


@pytest.mark.parametrize(
    ("path", "status"), [("/status/404", 404), ("/status/410", 404), ("https://nothing.trap.example/", 404)]
)
def test_a_missing_page_is_a_404(fetch, path, status):
    """A page or a host that does not exist is a 404 with this endpoint's message."""
    received, headers, problem = fetch(path)
    assert (received, problem["error"]["code"], headers["x-outcome"]) == (status, "not_found", "not_found")
    assert problem["error"]["message"].startswith("The URL could not be accessed")


@pytest.mark.parametrize("code", [201, 204, 401, 403, 418, 429, 500, 503])
def test_other_statuses_are_part_of_the_answer(fetch, code):
    """Any other status is a part of the answer."""
    status, _, record = fetch(f"/status/{code}")
    assert (status, record["status"]) == (200, code)
    status, headers, _ = fetch(f"/status/{code}", "markdown")
    assert (status, headers["x-upstream-status"]) == (200, str(code))


@pytest.mark.parametrize(
    ("path", "end"),
    [("/redirect/302/10", "/article"), ("/redirect/308/3", "/article"), ("/refresh/chain/10", "/article"),
     ("/refresh/same", "/refresh/same"), ("/cookie", "/cookie/check")],
)  # fmt: skip
def test_redirects_and_refreshes_are_followed(fetch, path, end):
    """Up to ten redirects and refreshes are followed, with cookies; the record has the last URL."""
    _, _, record = fetch(path)
    assert record["config"]["url"] == SITE + end


@pytest.mark.parametrize(
    ("path", "code", "text"),
    [("/redirect/302/11", "upstream_failed", "redirects more than 10 times"),
     ("/redirect/loop/a", "upstream_failed", "redirects more than 10 times"),
     ("/refresh/chain/11", "upstream_failed", "redirects more than 10 times"),
     ("/huge", "upstream_failed", "larger than the 20 MiB that are read"),
     ("/bomb/gzip", "upstream_failed", "larger than the 20 MiB that are read"),
     ("/bomb/double", "upstream_failed", "larger than the 20 MiB that are read"),
     ("/challenge/cloudflare", "blocked", "a blocking page"),
     ("/challenge/akamai", "blocked", "a blocking page (denied)")],
)  # fmt: skip
def test_a_failure_has_its_reason(fetch, path, code, text):
    """Endless redirects, pages beyond the limit and challenges are a 502 with the reason."""
    status, _, problem = fetch(path)
    assert (status, problem["error"]["code"]) == (502, code)
    assert text in problem["error"]["message"]


def test_content_other_than_html_is_returned(fetch):
    """A picture is base64, and refused as Markdown; a PDF has the text of its pages; JSON is a code block."""
    _, _, record = fetch("/file/picture.png")
    assert record["config"]["encoding"] == "base64"
    status, headers, problem = fetch("/file/picture.png", "markdown")
    assert (status, problem["error"]["code"]) == (422, "validation_error")
    assert "image/png" in problem["detail"][0]["msg"]
    assert "x-outcome" not in headers
    status, headers, text = fetch("/file/paper.pdf", "markdown")
    assert (status, headers["x-pages"], text.startswith("<!-- page 1 -->\n")) == (200, "1-1/1", True)
    assert fetch("/file/data.json", "markdown")[2].startswith("```json\n")


def test_a_truncated_page_is_marked(fetch):
    """A truncated page is returned, and marked."""
    assert fetch("/truncated")[2]["config"]["truncated"] is True
    assert fetch("/truncated", "markdown")[1]["x-truncated"] == "true"


def test_deeply_nested_elements_are_converted(fetch):
    """200,000 nested elements are converted to Markdown."""
    assert fetch("/deep", "markdown")[0] == 200


def test_get_and_invalid_bodies_are_refused(running):
    """GET is a 405 that allows POST, and an invalid body a 400."""
    key = {"X-Api-Key": running.test_key}
    status, headers, _ = running.request("GET", "/v1/request", key)
    assert (status, headers["allow"]) == (405, "OPTIONS, POST")
    assert running.request("POST", "/v1/request", key, b"{}")[0] == 400
    assert running.post("/v1/request/", {"url": "example.com"})[0] == 400


@pytest.mark.slow
def test_a_batch_may_fetch_urls(tmp_path):
    """Each URL of a file has a record or a failure."""
    urls = [f"{SITE}/article", f"{SITE}/status/404", "http://127.0.0.1/", f"{SITE}/file/picture.png", "example.com"]
    (tmp_path / "urls.txt").write_text("\n".join(urls))
    environ = {**os.environ, "SCRAPY_SETTINGS_MODULE": "webdata.settings", "WEBDATA_SANDBOX": "always"}
    command = [SCRAPY, "crawl", "url", "-a", "queries=urls.txt", "-a", "response_type=markdown", "-O", "out.jsonl"]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    (record,) = map(json.loads, (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines())
    assert (record["status"], record["data"][:2]) == (200, "# ")
    failures = [json.loads(line) for line in (tmp_path / "out.failures.jsonl").read_text().splitlines()]
    assert Counter(failure["outcome"] for failure in failures) == {"invalid": 3, "not_found": 1}


def test_formats_of_one_fetch_are_one_answer(running):
    """They are valid by the schema; a part of them has the cursor of the next one in it and in a header."""
    body = {"url": f"{SITE}/article", "formats": ["markdown", "text", "links", "images", "metadata", "structured"]}
    status, headers, answer = running.post("/v1/request", body)
    record = orjson.loads(answer)
    SCHEMA.validate(record)
    assert (status, headers["x-transport"], record["status"], record["truncated"]) == (200, "http", 200, False)
    assert record["markdown"].startswith("# ")
    assert record["text"].splitlines()[0] == record["metadata"]["title"].partition(" - ")[0]
    assert all(link["url"].startswith("https://") for link in record["links"])
    _, headers, part = running.post("/v1/request", {**body, "max_chars": 200})
    assert len(orjson.loads(part)["markdown"]) <= 200
    assert orjson.loads(part)["next"] == headers["x-next-cursor"]


def test_selected_parts_are_markdown(running):
    """The text has what the selectors choose."""
    body = {"url": f"{SITE}/article", "response_type": "markdown", "include": "h1", "render": "never", "region": "DE"}
    status, _, answer = running.post("/v1/request", body)
    assert (status, answer.decode().startswith("# "), answer.count(b"\n")) == (200, True, 1)


def test_selectors_on_a_page_without_elements_are_refused(running):
    """A 422 says that there is nothing to select from."""
    status, _, answer = running.post(
        "/v1/request", {"url": f"{SITE}/file/notes.txt", "formats": ["links"], "include": "p"}
    )
    assert (status, b"has no elements to select" in answer) == (422, True)


def test_values_of_a_page_are_extracted(running):
    """The price of a shop's page is the same by a selector and by its JSON-LD; the answer is valid by the schema."""
    wanted = {
        "price": {"css": ".price", "type": "price"},
        "same": {"jsonld": "Product.offers.price", "type": "price"},
        "day": {"xpath": "//time", "type": "date"},
    }
    status, _, answer = running.post("/v1/request", {"url": f"{SITE}/file/product.html", "extract": wanted})
    record = orjson.loads(answer)
    SCHEMA.validate(record)
    found = {name: one["value"] for name, one in record["extract"].items()}
    price = {"amount": 24.9, "currency": "GBP"}
    assert (status, found) == (200, {"price": price, "same": price, "day": "2026-03-05"})


def test_a_page_has_a_summary(running):
    """Its fields say where each is from; the answer is valid by the schema."""
    status, _, answer = running.post("/v1/request", {"url": f"{SITE}/file/product.html", "formats": ["structured"]})
    record = orjson.loads(answer)
    SCHEMA.validate(record)
    summary = record["structured"]["summary"]
    assert (status, summary["type"], summary["breadcrumb"]["from"]) == (200, "product", "rdfa")


def test_a_document_of_word_is_markdown(fetch):
    """Its tables and notes are there, and what it says of itself."""
    status, headers, text = fetch("/file/report.docx", "markdown")
    assert (status, headers["x-left-out"], "x-pages" in headers) == (200, "0.00", False)
    assert text.startswith("# Care of the pot\n")
    assert "| Pot | 1,250 g |" in text


def test_wrong_selectors_are_refused(running):
    """A 422 names the value and its wrong part, before anything is fetched."""
    status, _, answer = running.post("/v1/request", {"url": SITE, "extract": {"a": {"xpath": "document('x')"}}})
    assert (status, b"document() is none of the functions" in answer) == (422, True)
