"""Combinations of the options of a fetch: each is refused in words, or does something."""

import random

from webdata.domain.errors import QueryError
from webdata.resources.url_request import UrlQuery
from webdata.spiders.url import UrlSpider, caller_parts, showing

COMBINATIONS = 2_000
BASE = {"url": "https://example.com/", "response_type": "markdown"}
OPTIONS = {
    "response_type": ["full", "Markdown"],
    "formats": [
        ["markdown"],
        ["html"],
        ["links", "text"],
        ["screenshot"],
        ["html", "rendered_html"],
        "metadata",
        ["pdf"],
    ],
    "content": ["main", "all"],
    "pages": ["1-20", "9-3"],
    "include": ["article", ["main", "p"], "p ["],
    "exclude": [["nav"]],
    "render": ["never", "always", "auto", "sometimes"],
    "wait_for": ["#results", 500, "1500", 99_999, "p ["],
    "screenshot_type": ["jpeg", "webp", "gif"],
    "screenshot_full_page": [True],
    "screenshot_quality": [60, 0],
    "headers": [{"X-One": "1"}, {"Referer": "https://example.org/"}, {"Host": "x"}, "Accept: a"],
    "cookies": [{"a": "b"}, "a=b", {"a": "b c"}],
    "method": ["POST", "PUT"],
    "body": ["text", {"a": 1}, [1]],
    "region": ["DE", "XX"],
    "device": ["mobile", "toaster"],
    "timeout": [5, 0],
    "max_age": [10, -1],
    "max_chars": [500, 5],
    "cursor": ["500", "x"],
}
REDUNDANT = {"response_type", "render"}
"""Options that may say what another one says, too: `render: always` beside a screenshot."""


def options_of(numbers):
    chosen = numbers.sample(sorted(OPTIONS), numbers.choice([1, 2, 2, 3, 3, 4, 6]))
    return {name: numbers.choice(OPTIONS[name]) for name in chosen}


def effects(query):
    """All that a fetch and its answer depend on."""
    fetch = UrlSpider().prepared(query).meta["fetch"]
    run, parts = fetch.run, caller_parts(query, query.url)
    sent = parts and (parts.headers, parts.cookies, parts.body)
    of_run = (run.region, run.device, query.timeout, query.max_age, query.max_chars, query.cursor)
    return fetch.transports, fetch.as_sent, showing(query), sent, query.conversion, of_run


def checked(options):
    """The query; else the names of the options that were refused."""
    try:
        return UrlQuery.check({**BASE, **options})
    except QueryError as error:
        return {problem["loc"][-1] for problem in error.problems if problem["msg"].startswith(problem["loc"][-1])}


def test_every_combination_is_refused_or_done():
    """What is refused was given, and is named; of what is accepted each option changes the fetch or its answer."""
    numbers, accepted = random.Random(32), 0
    for _ in range(COMBINATIONS):
        options = options_of(numbers)
        query = checked(options)
        if isinstance(query, set):
            assert query <= set(options), options
            continue
        accepted += 1
        for name in set(options) - REDUNDANT:
            without = checked({key: value for key, value in options.items() if key != name})
            assert isinstance(without, set) or effects(without) != effects(query), (name, options)
    assert COMBINATIONS / 10 < accepted < COMBINATIONS * 9 / 10


def test_transports_are_those_that_can_do_what_is_asked_for():
    """A browser alone where one is needed, and none where it would keep what is sent; no combination needs both."""
    numbers = random.Random(17)
    for _ in range(COMBINATIONS):
        options = options_of(numbers)
        query = checked(options)
        if isinstance(query, set):
            continue
        transports = UrlSpider().prepared(query).meta["fetch"].transports
        assert transports == ("browser",) or not query.needs_browser
        sent = {"method"} & set(options) or "Referer" in str(query.headers)
        assert "browser" not in transports or not sent
