"""The engines of a call, chosen by its caller."""


def test_a_caller_chooses_engines(running):
    """The named engine answers, and the reply says which parts of the record it cannot know."""
    status, headers, body = running.get("/v1/search?q=coffee", **{"X-Engine": "bing_web"})
    assert (status, headers["x-engine"], len(body["results"])) == (200, "bing_web", 10)
    assert "places" in headers["x-missing-parts"].split(", ")


def test_a_blocked_engine_is_followed_by_the_next(running):
    """Google's block is told in `server-timing`, and Bing answers; restricted to Google, the call is a 502."""
    _, headers, _ = running.get("/v1/search?q=tea+sandbox:google.limited")
    assert headers["x-engine"] == "bing_web"
    assert "google_web http blocked" in headers["server-timing"]
    status, headers, _ = running.get("/v1/search?q=tea+sandbox:google.limited", **{"X-Engine": "google_web"})
    assert (status, headers["x-outcome"]) == (502, "blocked")


def test_an_engine_that_is_not_there_is_named(running):
    """The message lists the engines that there are; nothing was paid."""
    status, headers, body = running.get("/v1/search?q=coffee", **{"X-Engine": "duckduckgo"})
    assert (status, headers["x-credits-cost"]) == (422, "0")
    assert body["detail"][0]["loc"] == ["header", "X-Engine"]
    assert "give some of google_web, bing_web" in body["detail"][0]["msg"]
