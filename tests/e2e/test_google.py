"""Images and videos by the service against the sandbox, over real sockets."""

import subprocess
from pathlib import Path
from sys import executable

import orjson
import pytest

from webdata.pipelines.validate import validate
from webdata.resources.image_search import IMAGE_SEARCH
from webdata.resources.video_search import VIDEO_SEARCH

SCRAPY = Path(executable).with_name("scrapy")


@pytest.mark.parametrize(
    ("path", "query", "ignored"),
    [
        ("/v1/image/q=origami+crane&num=5", "q=origami+crane&num=5", "num"),
        ("/v1/image/?q=origami+crane", "q=origami+crane", None),
        ("/v1/image?q=origami%20crane", "q=origami%20crane", None),
        ("/v1/image/origami+crane", "origami+crane", None),
    ],
)
def test_every_form_of_an_image_search_gives_the_same_images(running, path, query, ignored):
    """Terms with and without `q=` give the same twenty images; the record has the query as it was sent."""
    status, headers, record = running.get(path)
    _, _, usual = running.get("/v1/image/q=origami+crane")
    assert (status, headers["x-outcome"], headers.get("x-ignored-params")) == (200, "ok", ignored)
    assert (record["query"], record["total"]) == (query, 20)
    assert record["image_results"] == usual["image_results"]
    validate(IMAGE_SEARCH, record)


def test_a_parameter_after_a_bare_term_is_searched_for(running):
    """A parameter after a bare term is a part of the search terms, as `docs/api.md` describes."""
    status, headers, record = running.get("/v1/image/origami+crane&num=5")
    assert (status, "x-ignored-params" in headers) == (200, False)
    assert "origami crane&num=5" in record["image_results"][0]["link"]["title"]
    assert record["query"] == "origami+crane&num=5"


@pytest.mark.parametrize("device", ["desktop", "mobile"])
def test_a_video_search_is_answered(running, device):
    """A record of videos has durations on both devices, and each page has other videos."""
    status, headers, record = running.get("/v1/video/q=origami+crane&num=5", **{"X-User-Agent": device})
    assert (status, headers["x-outcome"], record["query"]) == (200, "ok", "origami crane")
    assert [one["position"] for one in record["results"]] == [1, 2, 3, 4, 5]
    assert all(one["metadata"]["duration"] for one in record["results"])
    assert (record["device_type"], record["total"]) == (device, None)
    validate(VIDEO_SEARCH, record)
    _, _, second = running.get("/v1/video/q=origami+crane&start=10", **{"X-User-Agent": device})
    assert {one["link"] for one in record["results"]}.isdisjoint(one["link"] for one in second["results"])


@pytest.mark.parametrize("path", ["/v1/image", "/v1/video"])
@pytest.mark.parametrize(
    ("scenario", "status", "outcome"),
    [
        ("empty", 200, "empty"),
        ("captcha", 502, "blocked"),
        ("enablejs", 502, "blocked"),
        ("consent", 200, "ok"),
        ("denied", 502, "blocked"),
        ("layout", 502, "layout"),
        ("truncated", 502, "upstream"),
    ],
)
def test_a_failure_has_its_outcome(running, path, scenario, status, outcome):
    """Each failure and each empty answer has its status and outcome."""
    got, headers, _ = running.get(f"{path}/q=coffee+sandbox:{scenario}")
    assert (got, headers["x-outcome"]) == (status, outcome)


@pytest.mark.parametrize("path", ["/v1/image/", "/v1/image/q=", "/v1/image/+", "/v1/video/", "/v1/video/coffee"])
def test_a_search_without_terms_is_refused(running, path):
    """Without terms the response is a 422 that names `q`."""
    status, _, body = running.get(path)
    assert (status, body["detail"][0]["loc"]) == (422, ["query", "q"])


@pytest.mark.parametrize("value", ["-1", "0", "x"])
def test_a_wrong_number_is_refused(running, value):
    """`num` below its bounds, or no number, is a 422 that names the bounds."""
    status, _, body = running.get(f"/v1/video/q=coffee&num={value}")
    assert (status, body["detail"][0]["loc"]) == (422, ["query", "num"])
    assert "from 1 to 100" in body["detail"][0]["msg"]


def test_a_batch_may_search_images(tmp_path):
    """A batch's records have the terms, and its rows are images."""
    command = [SCRAPY, "crawl", "google_image", "-a", "q=origami crane", "-O", "out.jsonl", "-O", "rows.jsonl:rows"]
    environ = {"WEBDATA_SANDBOX": "always", "SCRAPY_SETTINGS_MODULE": "webdata.settings", "PATH": "/usr/bin:/bin"}
    subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, timeout=120, check=True)
    (record,) = map(orjson.loads, (tmp_path / "out.jsonl").read_bytes().splitlines())
    rows = [orjson.loads(line) for line in (tmp_path / "rows.jsonl").read_bytes().splitlines()]
    assert (record["query"], record["total"], len(rows)) == ("origami crane", 20, 20)
    assert (rows[0]["query"], rows[0]["position"], rows[0]["image"]) == (
        "origami crane",
        1,
        record["image_results"][0]["image"],
    )
