"""Pages that nobody's site sends: the time of every page module grows with their size, and each has an outcome."""

import math
import os
import random
import re
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from itertools import chain, product
from time import process_time

import pytest
from scrapy.http import Headers, Response

from tests.fixture_cases import cases
from tests.mutations import TAG, mutated
from webdata.crawling.cases import Case
from webdata.crawling.engine import EngineSpider
from webdata.crawling.warm_crawlers import known_spiders
from webdata.domain.errors import FetchError, LayoutError
from webdata.pages import _elements
from webdata.pipelines.envelope import ParsedPage, envelope
from webdata.pipelines.validate import validate

SPIDERS = [spider for spider in known_spiders() if not spider.any_site]
"""All engines but those of any site, whose pages are converted in processes that can be killed."""
SEED = 7

BYTES = 200
MUTATIONS = 150
MANY_MUTATIONS = int(os.environ.get("MUTATIONS", "500"))
"""Of the long form, for each engine; `make fuzz` tries more."""
MANY_SECONDS = MANY_MUTATIONS / 1000
"""The processor's time after which the long form ends in any case."""
SECONDS, SECONDS_A_MB = 0.25, 0.5
"""The processor's time of a mutation, five times what a page may take: the machine of a test has other work to do."""

MOST_BYTES = 1_500_000
"""Of a saved page that is changed."""

SAMPLE = 5
SIZE = 150
GROWTH = 8
"""How many times the time may grow for four times the size: twice what it does, half of what squares would."""
NOISE = 0.04
"""Seconds below which times are not compared."""
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
RUNS = re.compile(r"\s*(?:javascript|vbscript|data:(?!image/))", re.IGNORECASE)
ADDRESS = re.compile(r"link|url|image|thumbnail", re.IGNORECASE)
"""Names of fields that hold addresses."""
AS_IT_IS = "reddit."
"""An engine that gives the site's own JSON."""


def judged(spider: EngineSpider, case: Case, body: bytes) -> float:
    """The processor's seconds for a page instead of a case's; raises what is neither a valid record nor an outcome."""
    began = process_time()
    try:
        found = read(spider, case, body)
    except FetchError:
        return process_time() - began
    seconds = process_time() - began
    record = envelope(found)
    validate(spider.resource_of(found.query), record)
    assert not (wrong := [*falsities(record, spider.name)]), wrong
    return seconds


def read(spider: EngineSpider, case: Case, body: bytes) -> ParsedPage:
    """What the engine makes of a page that comes instead of a case's."""
    resource, fields = spider.chosen(case.query)
    query = resource.query.check(fields)
    saved = case.response
    response = Response(
        saved["url"], status=saved["status"], headers=Headers(saved["headers"]), body=body,
        request=spider.prepared(query),
    )  # fmt: skip
    return result_of(spider.parsed(response, query))


def falsities(value, place: str = "") -> Iterator[str]:
    """The places in a record that no page can make right: what no JSON can say, controls, addresses that run."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield from falsities(one, f"{place}.{name}")
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from falsities(one, f"{place}[{number}]")
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"{place}: {value}"
    elif isinstance(value, str):
        address = ADDRESS.search(place.rpartition(".")[2]) and not place.startswith(AS_IT_IS)
        if CONTROL.search(value) or (address and RUNS.match(value)):
            yield f"{place}: {value[:200]!r}"


def result_of(parsing: Coroutine[None, None, ParsedPage]) -> ParsedPage:
    """The result of a coroutine that waits for nothing."""
    try:
        parsing.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("a saved page is parsed without a network")


def repeated(case: Case, tag: re.Match[bytes], size: int) -> bytes:
    return case.body[: tag.start()] + (tag[0] + b"x 12 $5</" + tag[1] + b">") * size + case.body[tag.start() :]


def nested(case: Case, tag: re.Match[bytes], size: int) -> bytes:
    """Deep elements one beside another, each as deep as a page may be."""
    deep = tag[0] * 100 + b"x" + (b"</" + tag[1] + b">") * 100
    return case.body[: tag.start()] + deep * max(1, size // 30) + case.body[tag.start() :]


def unclosed(case: Case, tag: re.Match[bytes], size: int) -> bytes:
    return case.body[: tag.start()] + tag[0] * size * 4 + case.body[tag.start() :]


def copied(case: Case, tag: re.Match[bytes], size: int) -> bytes:
    """A part of the page, cut anywhere, again and again."""
    part = case.body[tag.start() : tag.start() + 1500]
    return case.body[: tag.start()] + part * (size // 8) + case.body[tag.start() :]


SHAPES: tuple[Callable[[Case, re.Match[bytes], int], bytes], ...] = (repeated, nested, unclosed, copied)


@pytest.mark.timed
@pytest.mark.no_cover
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
@pytest.mark.parametrize("spider", SPIDERS, ids=lambda spider: spider.name)
def test_the_time_of_a_page_grows_with_its_size(spider, shape):
    """A page of four times as many elements takes about four times as long, whatever they are and however they lie."""
    chance, engine = random.Random(SEED), spider()
    tags = [(case, tag) for case in cases(spider.name) for tag in TAG.finditer(case.body)]
    for case, tag in chance.sample(tags, min(SAMPLE, len(tags))):
        small, large = (shape(case, tag, size) for size in (SIZE, 4 * SIZE))
        before = judged(engine, case, small)
        after = min(judged(engine, case, large) for _ in range(2))
        assert after < GROWTH * max(before, NOISE / GROWTH), f"{case.name}: {tag[0]!r} takes {before}, then {after}"


@pytest.mark.timed
@pytest.mark.parametrize("spider", SPIDERS, ids=lambda spider: spider.name)
def test_a_broken_page_has_an_outcome(spider):
    """A page with some bytes changed, cut or doubled gives a valid record or an error of its outcome, in short time."""
    mutations(spider, random.Random(SEED), MUTATIONS)


@pytest.mark.timed
@pytest.mark.slow
@pytest.mark.parametrize("spider", SPIDERS, ids=lambda spider: spider.name)
def test_many_broken_pages_have_an_outcome(spider):
    """The long form, of other pages."""
    mutations(spider, random.Random(SEED + 1), MANY_MUTATIONS, MANY_SECONDS)


@pytest.mark.timed
@pytest.mark.slow
@pytest.mark.captures
@pytest.mark.parametrize("spider", SPIDERS, ids=lambda spider: spider.name)
def test_many_broken_real_pages_have_an_outcome(spider, real_pages):
    """The same of saved pages of the engine's site, with blocks of other sites' pages among their own."""
    others = [page for pages in real_pages.values() for page in pages]
    known, engine = cases(spider.name), spider()
    own = [page for pages in real_pages.values() if is_read(engine, known, pages) for page in pages]
    mutations(spider, random.Random(SEED + 2), MANY_MUTATIONS, MANY_SECONDS / 4, own or others, others)


@pytest.fixture(scope="module")
def real_pages(all_captures):
    """Saved pages by the folders that they are in."""
    found = defaultdict(list)
    for file in chain.from_iterable(folder.glob("*/*.*") for folder in all_captures):
        if file.suffix in (".html", ".json", ".xml", ".rss") and file.stat().st_size < MOST_BYTES:
            found[file.parent.name].append(file.read_bytes())
    return found


def is_read(engine: EngineSpider, known: Sequence[Case], pages: Sequence[bytes]) -> bool:
    """Whether some of the pages have a record by the engine."""
    of_resources = {case.query.get("resource"): case for case in known}.values()
    for case, page in product(of_resources, pages[:: max(1, len(pages) // SAMPLE)]):
        with suppress(FetchError):
            return bool(read(engine, case, page))
    return False


def mutations(
    spider: type[EngineSpider],
    chance: random.Random,
    number: int,
    most_seconds: float = math.inf,
    pages: Sequence[bytes] = (),
    others: Sequence[bytes] = (),
) -> None:
    """Judge so many broken pages of an engine, or fewer when their time is over: of its cases, or of other pages."""
    engine, known, end = spider(), cases(spider.name), process_time() + most_seconds
    for index in range(number):
        if process_time() > end:
            break
        case = chance.choice(known)
        body = mutated(chance, chance.choice(pages) if pages else case.body, others)
        most = SECONDS + SECONDS_A_MB * len(body) / 1e6
        try:
            seconds = judged(engine, case, body)
            if seconds > most:  # it may have met a collection of garbage: only the page's own time is there twice
                seconds = judged(engine, case, body)
        except Exception as error:
            raise AssertionError(f"mutation {index}, of {case.name}") from error
        assert seconds < most, f"mutation {index}, of {case.name}"


@pytest.mark.parametrize("spider", SPIDERS, ids=lambda spider: spider.name)
def test_any_bytes_have_an_outcome(spider):
    """They give a valid record or an error of its outcome, and show a query or none."""
    chance, engine, case = random.Random(SEED), spider(), cases(spider.name)[0]
    for size in range(BYTES):
        body = chance.randbytes(size)
        judged(engine, case, body)
        engine.shown_query(body)


def tree_of(page: bytes):
    """The whole of what a page module does first with a page of HTML."""
    return [list(_elements.ancestry(node)) for node in _elements.parsed(page).css("*")]


@pytest.mark.timed
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(b"<p></p>" * 30_001, id="more tags than any page"),
        pytest.param(b"<div>" * 50_000, id="unclosed"),
        pytest.param(b"<div>" * 20_000 + b"</div>" * 20_000, id="closed"),
        pytest.param(b"<p>x</p>" * 4_000 + b"<li><ul>" * 8_000, id="deep after its beginning"),
        pytest.param(b"<template>" + b"<div>" * 50_000, id="in a template"),
        pytest.param(b"<TEMPLATE>" + b"<x></y>" * 25_000, id="with tags that close nothing"),
        pytest.param(b"<div>" * 300, id="few tags"),
        pytest.param(b"<p " + b" ".join(b"a%d" % one for one in range(30_000)) + b">", id="attributes"),
        pytest.param(b"<p " + b" <".join(b"a%d" % one for one in range(30_000)) + b">", id="names with a sign"),
        pytest.param(b"<p " + b"".join(b"a%d=<b " % one for one in range(30_000)) + b">", id="values with a sign"),
        pytest.param(b"<p>" * 9 + b"<p " + b"".join(b'\n a%d = "x"' % one for one in range(2_000)), id="never closed"),
        pytest.param(b"x" * 5_000 + b"<p" + b"".join(b"/a%d='b c<d'" % one for one in range(9_000)), id="quoted"),
    ],
)
def test_a_page_larger_or_deeper_than_any_is_refused_early(page):
    """Its tree is not made, or not walked: Lexbor takes 5 s for the worst of these."""
    began = process_time()
    with pytest.raises(LayoutError, match="a page of at most"):
        tree_of(page)
    assert process_time() - began < 1


@pytest.mark.parametrize(
    "page",
    [
        b"<p " + b" ".join(b"a%d" % one for one in range(1_900)) + b">x",
        b"<p>" + b"one two/three " * 9_000,
        b"<script>" + b"a<b && c / d; " * 9_000 + b"</script>",
        b"<a href='" + b"x y " * 9_000 + b"'>x</a>",
    ],
    ids=["fewer", "text", "script", "one long value"],
)
def test_a_page_without_a_tag_of_many_attributes_is_read(page):
    """Words of a text, of a script or of one value are no attributes."""
    assert _elements.parsed(page).css("p, script, a")


@pytest.mark.parametrize(
    ("spider", "page"),
    [
        ("google_web", b"<html>" + b"<a href='https://a.example/'><h3>x</h3></a>" * 401),
        ("google_video", b"<html>" + b"<a href='https://a.example/'><h3>x</h3></a>" * 401),
        ("google_news", b"<rss><channel>" + b"<item>&lt;a&gt;</item>" * 3_000 + b"</channel></rss>"),
    ],
)
def test_a_page_of_more_results_than_any_has_is_refused(spider, page):
    """Its results are not read: each takes as long as it would on a page that is as long as its results are many."""
    [engine] = [found() for found in SPIDERS if found.name == spider]
    query = engine.resources[0].query.check({"q": "coffee"})
    response = Response("https://www.google.com/", body=page, request=engine.prepared(query))
    with pytest.raises(LayoutError, match="of at most"):
        result_of(engine.parsed(response, query))


@pytest.mark.timed
def test_cards_around_cards_are_read_once():
    """Read with all that they hold, a hundred cards within each other take four seconds."""
    [engine] = [found() for found in SPIDERS if found.name == "ebay_listings"]
    listing = b'<div class="s-item"><h3 class="s-item__title">x</h3><a href="/itm/123456789012">x</a>'
    struck = b'<span class="STRIKETHROUGH">1</span>'
    [case, *_] = [case for case in cases("ebay_listings") if b'<ul class="srp-results' in case.body]
    body = case.body.replace(b'<ul class="srp-results', listing * 100 + struck * 3_000 + b'<ul class="srp-results', 1)
    assert judged(engine, case, body) < 0.9


def test_real_pages_are_far_from_the_bounds(captures):
    """No real page has half of the tags or of the levels from which pages are refused."""
    half = " > ".join(["*"] * (_elements.DEPTH // 2))
    for file in sorted(captures.glob("*/*.html")):
        page = file.read_bytes()
        assert page.count(b"<") < _elements.MOST_TAGS / 2, file.name
        assert _elements.parsed(page).css_first(half) is None, file.name
