import json
import random
import re
from collections import Counter
from itertools import chain

import pytest

from webdata.domain.errors import LayoutError
from webdata.pages import google_web
from webdata.pages._text import folded
from webdata.resources.web_search import WebQuery

ANY = WebQuery(q="pottery")
CUTS = 20
SEED = 20
TAG = re.compile(rb"<[^>]+>")


def bare(link: str) -> str:
    return link.split("#", maxsplit=1)[0].removesuffix("/").replace("://www.", "://")


def titles(things: list) -> list[str]:
    return [thing["title"] for thing in things]


def stories(page) -> list[str]:
    return [item["title"] for one in page["carousel"] if one["type"] == "top_stories" for item in one["items"]]


PARTS = {
    "organic": (
        0.99,
        "organic",
        lambda links: [bare(one["link"]) for one in links],
        lambda page: [bare(one["link"]) for one in page["results"]],
    ),
    "titles": (0.98, "organic", titles, lambda page: titles(page["results"])),
    "ads": (0.96, "ads", titles, lambda page: titles(page["ads"])),
    "shopping ads": (0.96, "shopping_ads", titles, lambda page: titles(page["shopping_ads"])),
    "related searches": (
        0.95,
        "related_searches",
        list,
        lambda page: [one["text"] for one in page["related_searches"]],
    ),
    "questions": (
        0.95,
        "related_questions",
        list,
        lambda page: [one["question"] for one in page["related_questions"]],
    ),
    "places": (
        0.95,
        "places",
        list,
        lambda page: [one["name"] for one in page["places"] + page["local_businesses"]],
    ),
    "top stories": (0.95, "top_stories", list, stories),
}


def with_part(truths, key: str) -> list:
    """The answers with a part of the page, which only answers marked `partial` may lack."""
    return [(truth, page) for truth, page in truths if key in truth or not truth.get("partial")]


def record_or_none(body: bytes):
    """The record of a page; None where it is refused."""
    try:
        return google_web.record(body, ANY)
    except LayoutError:
        return None


def results_page(*blocks: str, query: str = "pottery", foot: str = "") -> bytes:
    main = "".join(f"<div>{block}</div>" for block in blocks)
    box = f'<form><textarea name="q">{query}</textarea></form>'
    return (
        f'<title>x</title>{box}<div id="main"><div id="rso">{main}</div><div id="botstuff">{foot}</div></div>'.encode()
    )


def result(title: str, link: str = "https://kilnlane.example/", below: str = "") -> str:
    return f'<a href="{link}"><h3>{title}</h3><cite>kilnlane.example</cite></a>{below}'


def news(links) -> str:
    heads = (f'<a class="WlydOe" href="{link}"><div role="heading" aria-level="3">Story' for link in links)
    return "".join(f'<div data-news-doc-id="{n}">{head} {n}</div></a></div>' for n, head in enumerate(heads))


@pytest.fixture(scope="module")
def truths(captures):
    """Pairs of a hand-checked answer and the record of its page."""
    folder = captures / "google-web"
    answers = [json.loads(path.read_text()) for path in sorted((folder / "truth").glob("*.json"))]
    return [(truth, google_web.record((folder / truth["file"]).read_bytes(), ANY)) for truth in answers]


@pytest.mark.captures
@pytest.mark.parametrize("part", PARTS)
def test_the_parts_of_real_pages_match_the_hand_checked_answers(truths, part):
    """Each part of the saved pages has nearly all expected items, and nearly no others."""
    enough, key, expected_of, found_of = PARTS[part]
    labelled = with_part(truths, key)
    expected = Counter((truth["file"], folded(text)) for truth, _ in labelled for text in expected_of(truth[key]))
    found = Counter((truth["file"], folded(text)) for truth, page in labelled for text in found_of(page))
    both = (expected & found).total()

    assert both >= enough * expected.total(), expected - found
    assert both >= enough * found.total(), found - expected


@pytest.mark.captures
def test_real_pages_have_a_knowledge_panel_or_none(truths):
    """A record has a panel exactly where the page does; the panel of the page without JavaScript is not parsed."""
    labelled = with_part(truths, "has_knowledge_panel")
    wrong = [truth["file"] for truth, page in labelled if truth["has_knowledge_panel"] != bool(page["company"])]
    assert wrong == ["serpparser-nojs-matrix-nojs.html"]


@pytest.mark.captures
def test_real_answers_are_parsed(truths):
    """Every page with an answer has its text in the record."""
    expected = [
        (truth["file"], folded(truth["answer_text"])[:30], page["answers"])
        for truth, page in with_part(truths, "answer_text")
        if truth["answer_text"]
    ]
    assert [
        file for file, start, answers in expected if not any(start in folded(one["answer"]) for one in answers)
    ] == []


@pytest.mark.captures
def test_real_pages_contain_their_query(captures):
    """The search terms are read from every saved page of results."""
    folder = captures / "google-web"
    answers = [json.loads(path.read_text()) for path in sorted((folder / "truth").glob("*.json"))]
    queries = {truth["file"]: google_web.shown_query((folder / truth["file"]).read_bytes()) for truth in answers}
    assert {truth["file"]: truth["query"] for truth in answers} == queries


@pytest.mark.captures
def test_truncated_pages_and_pages_without_some_tags_are_parsed_or_refused(captures):
    """A damaged page gives a record or a LayoutError, never an empty record."""
    chance = random.Random(SEED)
    for path in chance.sample(sorted((captures / "google-web").glob("*.html")), 12):
        body = path.read_bytes()
        truncated = (body[: len(body) * part // CUTS] for part in chance.sample(range(1, CUTS), 5))
        damaged = (TAG.sub(lambda tag: b"" if chance.random() < share else tag.group(), body) for share in (0.02, 0.3))  # noqa: B023  # used at once
        pages = [page for page in map(record_or_none, chain(truncated, damaged)) if page]
        is_empty = "no-results" in path.name or "noresults" in path.name
        assert is_empty or all(
            page["results"] or page["answers"] or page["places"] or page["carousel"] for page in pages
        )


def test_num_limits_only_the_results():
    """There are exactly `num` results if the page has as many; ranks are those of the page."""
    body = results_page(result("one"), result("two"), result("three"))
    found = google_web.record(body, WebQuery(q="pottery", num=2))
    assert [(one["title"], one["realPosition"]) for one in found["results"]] == [("one", 1), ("two", 2)]
    assert len(google_web.record(body, WebQuery(q="pottery", num=50))["results"]) == 3


def test_every_block_of_the_main_column_has_a_rank():
    """Ads and packs count in `realPosition`, only organic results in `position`."""
    title = '<div role="heading" aria-level="3">Depot</div>'
    ad = f'<div data-text-ad="1"><a href="https://depot.example/">{title}</a></div>'
    found = google_web.record(results_page(ad, result("one"), ad, result("two")), ANY)
    assert [(one["position"], one["realPosition"]) for one in found["results"]] == [(1, 2), (2, 4)]
    assert [(one["position"], one["realPosition"], one["area"]) for one in found["ads"]] == [
        (1, 1, "top"),
        (2, 3, "bottom"),
    ]


def test_a_hidden_result_is_left_out():
    """A block with `display:none` is not parsed."""
    found = google_web.record(results_page(result("seen"), f'<div style="display:none">{result("hidden")}</div>'), ANY)
    assert titles(found["results"]) == ["seen"]


def test_a_block_with_hidden_visibility_is_parsed():
    """Blocks that are invisible until scripts run are parsed."""
    found = google_web.record(results_page(f'<div style="visibility:hidden;opacity:0">{result("seen")}</div>'), ANY)
    assert titles(found["results"]) == ["seen"]


def test_the_answer_of_a_question_is_no_result():
    """A source inside a question is part of that question."""
    question = f'<div class="related-question-pair" data-q="Why?"><div>{result("source")}</div></div>'
    found = google_web.record(results_page(question, result("one")), ANY)
    assert (titles(found["results"]), titles(found["related_questions"])) == (["one"], ["source"])


@pytest.mark.parametrize(
    ("listed", "expected"),
    [("https://kilnlane.example/glazes", ["one", "glazes"]), ("https://other.example/", ["glazes", "one", "glazes"])],
)
def test_a_featured_page_that_is_listed_below_is_one_result(listed, expected):
    """The page of a featured snippet is a result where it is not among the others, which it was until 2020."""
    title = result("glazes", "https://kilnlane.example/glazes")
    snippet = f'<div class="xpdopen"><div class="LGOjhe">Glazes are glass.</div>{title}</div>'
    found = google_web.record(results_page(snippet, result("one"), result("glazes", listed)), ANY)
    assert titles(found["results"]) == expected
    assert [answer["title"] for answer in found["answers"]] == ["glazes"]
    assert found["results"][0]["position"] == 1


def test_a_link_to_more_results_is_no_result():
    """Headings with links to Google's own pages are left out."""
    more = '<a href="https://www.google.com/search?q=pottery&start=10"><h3>More results</h3></a>'
    assert titles(google_web.record(results_page(result("one"), more), ANY)["results"]) == ["one"]


def test_posts_are_no_top_stories():
    """A carousel of links to social sites has another type."""
    posts = news(f"https://www.instagram.com/p/{number}" for number in range(4))
    found = google_web.record(
        results_page(result("one"), f'<div role="heading" aria-level="2">Aktuelles</div>{posts}'), ANY
    )
    assert [one["type"] for one in found["carousel"]] == ["generic"]


def test_articles_are_top_stories_in_any_language():
    """A carousel of news articles has this type with any heading."""
    cards = news(f"https://paper{number}.example/" for number in range(3))
    found = google_web.record(
        results_page(result("one"), f'<div role="heading" aria-level="2">Mga Balita</div>{cards}'), ANY
    )
    assert stories(found) == ["Story 0", "Story 1", "Story 2"]


def test_an_unknown_layout_is_refused():
    """A page with neither results nor a message is a LayoutError."""
    with pytest.raises(LayoutError, match="neither results nor a message"):
        google_web.record(results_page("<article>Kiln Lane</article>"), ANY)


NOTHING = (
    "<p role='heading'>Your search - <em>pottery</em> - did not match any documents.</p><ul><li>a</li><li>b</li></ul>"
)


@pytest.mark.parametrize(
    "missed",
    [
        '<section><a href="https://kilnlane.example/">Kiln Lane</a></section>',
        '<section><a href="/url?q=https://kilnlane.example/&amp;sa=U">Kiln Lane</a></section>',
        "".join(f'<section><a href="/goto?url=CAES{n}">Kiln {n}</a></section>' for n in range(3)),
    ],
)
def test_a_page_with_links_to_other_sites_is_never_empty(missed):
    """Such links are unparsed results, even with a message."""
    with pytest.raises(LayoutError, match="neither results nor a message"):
        google_web.record(results_page(missed, foot=f"<div>{NOTHING}</div>"), ANY)


def test_an_empty_page_may_have_ads_and_links_to_help():
    """Links of ads and to Google's own help do not contradict the message."""
    ad = '<div id="tads"><a data-rw="x" href="https://depot.example/"><div role="heading">Depot</div></a></div>'
    learn_more = (
        '<a href="https://support.google.com/websearch/answer/181196">Learn more</a>'
        '<a href="https://www.google.co.th/intl/th/about/products?tab=wh">Apps</a>'
        '<a href="https://www.youtube.com/?gl=TH&amp;tab=w1">YouTube</a><a href="/goto?url=CAESxyz">Help</a>'
    )
    found = google_web.record(results_page(ad, learn_more, foot=f"<div>{NOTHING}</div>"), ANY)
    assert (found["results"], found["ads_count"]) == ([], 1)


@pytest.mark.parametrize(
    "odd",
    [
        "<li><a class=k8XOCe href='/search?q=kiln'></a></li>",
        "<li><a class=k8XOCe href='/search?q=kiln'><img src=x></a></li>",
        "<li><a class=k8XOCe href='/search?q=kiln'><button>kiln</button></a></li>",
    ],
)
def test_a_related_search_without_text_is_left_out(odd):
    """An odd element of an optional part does not lose the others."""
    related = "".join(f"<li><a class=k8XOCe href='/search?q=pottery+{n}'>pottery {n}</a></li>" for n in "ab")
    found = google_web.record(results_page(result("one"), foot=f"<ul>{odd}{related}</ul>"), ANY)
    assert [one["text"] for one in found["related_searches"]] == ["pottery a", "pottery b"]
    assert [one["position"] for one in found["related_searches"]] == [1, 2]


@pytest.mark.parametrize(("title", "link"), [("Depot", "#"), ("", "https://depot.example/odd")])
def test_an_ad_without_a_title_or_an_address_is_left_out(title, link):
    """The other ads and the results are there."""
    ads = [
        f'<div data-text-ad="1"><a href="{href}"><div role="heading" aria-level="3">{text}</div></a></div>'
        for text, href in ((title, link), ("Depot", "https://depot.example/"))
    ]
    found = google_web.record(results_page(*ads, result("one")), ANY)
    assert [ad["link"] for ad in found["ads"]] == ["https://depot.example/"]
    assert titles(found["results"]) == ["one"]


def test_related_searches_are_no_advice():
    """A list of links below a heading with the terms is no message."""
    related = "".join(f"<li><a href='/search?q=pottery+{n}'>pottery {n}</a></li>" for n in "abc")
    foot = f"<div><p role='heading'>Searches related to <b>pottery</b></p><ul>{related}</ul></div>"
    with pytest.raises(LayoutError):
        google_web.record(results_page(foot=foot), ANY)


def test_a_heading_of_the_terms_alone_is_no_message():
    """On the page without JavaScript the message has the terms within a sentence."""
    page = '<form><input name="q" value="pottery"></form><div id="main"><div class="Gx5Zad"><div>{}</div></div></div>'
    assert google_web.record(page.format("Žádný dokument - <b>pottery</b> - neobsahuje").encode(), ANY)["results"] == []
    with pytest.raises(LayoutError):
        google_web.record(page.format("<span>Pottery</span><div>Craft</div>").encode(), ANY)


def test_results_for_the_query_without_quotes_are_results():
    """A page with a message about the quoted terms and results without the quotes is not empty."""
    note = (
        '<div class="card-section">No results found for <b>"pottery"</b>. Results for pottery (without quotes):</div>'
    )
    body = results_page(result("one")).replace(
        b'<div id="rso">', f'<div id="topstuff">{note}</div><div id="rso">'.encode()
    )
    assert titles(google_web.record(body, WebQuery(q='"pottery"'))["results"]) == ["one"]


def test_a_page_with_unparsed_results_is_refused_despite_other_parts():
    """Links to several sites that are in no part are results in an unknown layout."""
    cards = news(f"https://paper{number}.example/" for number in range(3))
    stories_block = f'<div role="heading" aria-level="2">Top stories</div>{cards}'
    assert google_web.record(results_page(stories_block), ANY)["results"] == []
    unknown = "".join(f'<a href="https://kiln{number}.example/"><h5>Kiln {number}</h5></a>' for number in range(3))
    with pytest.raises(LayoutError, match="none read as a result"):
        google_web.record(results_page(stories_block, unknown), ANY)


def test_posts_behind_opaque_links_are_no_top_stories():
    """The sources of the items distinguish posts from news where the links are opaque."""
    link = '<a href="/goto?url=CAES{0}"><div role="heading" aria-level="3">Post {0}</div></a>'
    card = f'<div data-news-doc-id="{{0}}">{link}<div>{{1}}</div></div>'
    posts = "".join(card.format(n, source) for n, source in enumerate(("r/pottery", "Mudroom · X", "Reddit")))
    papers = "".join(card.format(n, f"Paper {n}") for n in range(3))
    heading = '<div role="heading" aria-level="2">Aktuálně</div>'
    kinds = [
        one["type"]
        for block in (posts, papers)
        for one in google_web.record(results_page(result("one"), heading + block), ANY)["carousel"]
    ]
    assert kinds == ["generic", "top_stories"]


def test_an_ad_of_early_2018_has_its_link_in_the_heading():
    """The heading contains a hidden link to the tracker, then the link of the ad."""
    links = '<a style="display:none" href="/aclk?sa=l"></a><a href="https://depot.example/">Depot</a>'
    sitelinks = '<ul><li><h3><a href="https://depot.example/clay">Clay</a></h3></li></ul>'
    ad = f'<div id="tads"><li class="ads-ad"><div class="ad_cclk"><h3>{links}</h3></div>{sitelinks}</li></div>'
    found = google_web.record(results_page(ad, result("one")), ANY)
    assert [(one["title"], one["link"]) for one in found["ads"]] == [("Depot", "https://depot.example/")]


def test_places_with_unknown_classes_are_recognised_by_their_ids():
    """A heading in a link with the id of a place is the name of a place."""
    place = '<div><a data-cid="{0}" href="/search?q=x&amp;ludocid={0}"><div role="heading">Kiln {0}</div></a></div>'
    found = google_web.record(results_page(result("one"), place.format(7) + place.format(8)), ANY)
    assert [(one["name"], one["data_id"]) for one in found["places"]] == [("Kiln 7", "7"), ("Kiln 8", "8")]


def test_a_link_to_an_entity_is_no_place():
    """Without JavaScript the box "See results about" links to a search for an entity."""
    link = '<div class="Gx5Zad"><a href="/search?q=Pottery+(craft)&amp;stick=H4"><h3>Pottery</h3></a></div>'
    assert google_web.record(results_page(result("one"), link), ANY)["places"] == []


def test_the_source_of_a_story_is_not_its_title():
    """On mobile pages a card without a heading has its source above its title."""
    card = (
        '<a class="WlydOe" href="https://paper{0}.example/"><div class="CEMjEf">Paper {0}</div><div>Story {0}</div></a>'
    )
    cards = "".join(f"<div>{card.format(n)}</div>" for n in "abc")
    block = f'<div role="heading" aria-level="2">Top stories</div>{cards}'
    assert stories(google_web.record(results_page(result("one"), block), ANY)) == ["Story a", "Story b", "Story c"]


def test_text_for_two_screen_widths_is_read_once():
    """A shopping ad may contain its title and its shop once for each screen width."""
    title = '<div class="pla-unit-title"><span>Bowl bowl</span><span>Bowl bowl</span></div>'
    shop = '<div class="LbUacb"><span>JoJo</span><span>JoJo</span></div>'
    unit = f'<div class="pla-unit"><a href="https://depot.example/bowl"></a>{title}{shop}</div>'
    (found,) = google_web.record(results_page(result("one"), unit), ANY)["shopping_ads"]
    assert (found["title"], found["advertiser"]) == ("Bowl bowl", "JoJo")


@pytest.mark.parametrize(
    ("spans", "advertiser"),
    [
        ("<span>Nord Shop</span> <span>Nord Shop</span>", "Nord Shop"),
        ("<span>JoJo</span>", "JoJo"),
        ("<span>Jo</span>Jo", "JoJo"),
    ],
)
def test_only_a_copy_in_an_element_of_its_own_is_left_out(spans, advertiser):
    """Copies may be apart; a name that repeats itself is whole."""
    bowl = '<a href="https://depot.example/bowl"></a><div class="pla-unit-title">A</div>'
    unit = f'<div class="pla-unit">{bowl}<div class="LbUacb">{spans}</div></div>'
    (found,) = google_web.record(results_page(result("one"), unit), ANY)["shopping_ads"]
    assert found["advertiser"] == advertiser


def test_the_moments_of_a_video_are_no_items():
    """Links into a video belong to its item, even if they are opaque."""
    video = '<div><a href="/goto?url=CAES{0}"><div role="heading">Video {0}</div><div>4:05</div></a>{1}</div>'
    moments = "".join(f'<a data-time="{n}" href="/goto?url=CAESm{n}">From 0:{n}</a>' for n in range(10, 15))
    block = '<div role="heading" aria-level="2">Videos</div>' + video.format(1, moments) + video.format(2, "")
    (found,) = google_web.record(results_page(result("one"), block), ANY)["carousel"]
    assert titles(found["items"]) == ["Video 1", "Video 2"]


@pytest.mark.parametrize(
    ("line", "total"),
    [
        ("About 1,240 results <nobr>(0.31 seconds)</nobr>", 1240),
        ("Environ 12\u202f400 résultats (0,45 secondes)", 12400),
        ("約 1,240 件 （0.31 秒）", 1240),
        ("حوالي ١٬٢٤٠ نتيجة (٠٫٣١ ثانية)", 1240),
        ("Page 2 of about 1.240 results (0.31 seconds)", 1240),
        ("Results", None),
        pytest.param(f"About {'9' * 5000} results", None, id="too long"),
    ],
)
def test_the_total_is_the_number_of_results_and_not_the_time(line, total):
    """The line above the results has their number in the digits and separators of its language."""
    body = results_page(f'<div id="result-stats">{line}</div>', result("one"))
    assert google_web.record(body, ANY)["total"] == total


def test_a_page_that_repeats_the_terms_with_advice_is_empty():
    """The structure of the message is recognised in any language, even with truncated terms."""
    terms = "a very long search for pottery that nobody ever wrote about"
    message = f'<div><p role="heading">¿? <em>{terms[:40]}...</em></p><ul><li>a</li><li>b</li></ul></div>'
    found = google_web.record(results_page(query=terms, foot=message), WebQuery(q="x"))
    assert (found["results"], found["related_searches"]) == ([], [])


def test_the_terms_are_read_from_the_title_without_a_search_box():
    """The title ends with the name of the engine in the page's language."""
    assert google_web.shown_query(b"<title>clay - wheels - Recherche Google</title>") == "clay - wheels"
    assert google_web.shown_query(b"<title>Google Search</title>") is None


def test_results_about_one_of_the_things_to_know_are_no_organic_ones():
    """The rows of "Things to know" hold results of their own, inside an element about a fact."""
    row = f'<div data-attrid="lab/content/Glazes">{result("About glazes", "https://glaze.example/")}</div>'
    assert titles(google_web.record(results_page(result("one"), row), ANY)["results"]) == ["one"]
