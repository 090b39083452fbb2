"""Google's video results."""

import random
import re
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.domain.errors import LayoutError
from webdata.pages import _elements, google_video, google_web
from webdata.pages._google import tree
from webdata.resources.web_search import WebQuery

ANY = WebQuery(q="pottery")
CUTS = 20
SEED = 20
TOLD = ("duration", "channel", "source", "date", "thumbnail")
NO_JAVASCRIPT = b'class="Gx5Zad'
"""The boxes that only a page without JavaScript has."""
TAG = re.compile(rb"<[^>]+>")


def judged(body):
    """The record of a page, or None where its layout is refused."""
    try:
        return google_video.record(body, ANY)
    except LayoutError:
        return None


def results_page(*blocks):
    main = "".join(f"<div>{block}</div>" for block in blocks)
    return f'<form><textarea name="q">pottery</textarea></form><div id="main"><div id="rso">{main}</div></div>'.encode()


def video(title="Bowl", link="https://video.example.net/watch?v=bowl", below=""):
    return f'<a href="{link}"><h3>{title}</h3></a>{below}'


def told(*blocks):
    """What the first result tells of its video."""
    return google_video.record(results_page(*blocks), ANY)["results"][0]["metadata"]


@pytest.fixture(scope="module")
def web_pages(captures):
    """The saved pages of web results that show videos."""
    bodies = [path.read_bytes() for path in sorted((captures / "google-web").glob("*.html"))]
    return [body for body in bodies if b"youtube.com/watch" in body]


def groups(body):
    """Each group of videos of a web page, beside a page that holds nothing else."""
    record = google_web.record(body, ANY)
    page = tree.page(body)
    for group in record["carousel"]:
        if group["type"] == "videos":
            heading = next(
                mark.node for mark in page.of("heading") if _elements.visible_text(mark.node) == group["title"]
            )
            yield group, results_page(box_of(heading, group["items"]))


def box_of(heading, items):
    """The smallest element around a heading that holds the links of all items."""
    links = [item["link"] for item in items]
    boxes = (node for node in _elements.ancestry(heading) if all(link in held(node) for link in links))
    return next(boxes).html


def held(node):
    return {anchor.attributes["href"] for anchor in node.css("a[href]")}


@pytest.mark.captures
def test_real_videos_have_their_metadata(web_pages):
    """Every video of the saved web pages has its metadata; without JavaScript a page names no site and no channel."""
    found = [
        (one["metadata"], NO_JAVASCRIPT in body)
        for body in web_pages
        for one in google_video.record(body, ANY)["results"]
        if re.search(r"/watch\?v=|/videos/", one["link"])
    ]
    assert len(found) >= 7
    assert all(one.keys() >= {"duration", "date"} for one, _ in found)
    assert {one.get("source") for one, plain in found if plain} == {None}
    assert {one["source"] for one, plain in found if not plain and one["channel"]} == {"YouTube", "Facebook"}


@pytest.mark.captures
def test_real_groups_of_videos_are_results_where_nothing_else_is(web_pages):
    """A page that holds only a group of videos gives them as results, each as the web page gives it."""
    seen = 0
    for group, body in chain.from_iterable(map(groups, web_pages)):
        page = google_video.record(body, ANY)
        expected = [(one["title"], one["link"], one["duration"], one["date"]) for one in group["items"]]
        results = [
            (one["title"], one["link"], one["metadata"]["duration"], one["metadata"]["date"])
            for one in page["results"][: len(expected)]
        ]
        assert results == expected
        assert page["carousel"] == []
        seen += len(results)
    assert seen >= 15


@pytest.mark.captures
def test_cut_off_and_torn_pages_are_read_or_refused(web_pages):
    """Whatever is missing from a page, it gives a record or a LayoutError, and never an empty record by guess."""
    chance = random.Random(SEED)
    for body in chance.sample(web_pages, 5):
        cuts = (body[: len(body) * part // CUTS] for part in chance.sample(range(1, CUTS), 4))
        torn = (TAG.sub(lambda tag: b"" if chance.random() < share else tag.group(), body) for share in (0.02, 0.3))  # noqa: B023  # used at once
        pages = [page for page in map(judged, chain(cuts, torn)) if page]
        assert all(page["results"] or page["answers"] or page["places"] or page["carousel"] for page in pages)


@given(st.binary(max_size=2000))
def test_no_bytes_make_the_parser_stumble(body):
    """Any bytes give a LayoutError or a record."""
    judged(body)


FRAGMENTS = st.sampled_from(
    [
        "<div id=rso>",
        "<a href='https://a.example/'>",
        "<a href='/url?q=http://['>",
        "<h3>t</h3>",
        "<div role=heading>t</div>",
        "<div role=heading aria-level=2>Videos</div>",
        "<cite>·</cite>",
        "<span class=VuuXrf>· a •</span>",
        "<div class=ITZIwc>text</div>",
        "<div class=Gx5Zad>",
        "<div>4:05 · 3 days ago</div>",
        "<img src='https://a.example/i'>",
        "</a>",
        "</div>",
    ],
)


@given(st.lists(FRAGMENTS, max_size=30))
def test_no_arrangement_of_a_pages_parts_makes_the_parser_stumble(fragments):
    """The parts of a page of videos in any order and nesting give a LayoutError or a record."""
    judged("".join(fragments).encode())


def test_num_cuts_the_results():
    """`num` is honoured exactly, up to what the page holds."""
    body = results_page(*(video(str(number), f"https://a.example/{number}") for number in range(3)))
    found = google_video.record(body, WebQuery(q="pottery", num=2))
    assert [(one["title"], one["position"]) for one in found["results"]] == [("0", 1), ("1", 2)]


@pytest.mark.parametrize(
    ("below", "expected"),
    [
        ("<div>4:05</div>", {"duration": "4:05"}),
        (
            "<div>Duration: 1:04:05</div><div>Posted: Oct 25, 2025</div>",
            {"duration": "1:04:05", "date": "Oct 25, 2025"},
        ),
        ("<div>4:05 · 3 days ago</div>", {"duration": "4:05", "date": "3 days ago"}),
        ("<div>Example Video · 3 Oak Lane</div>", {"source": "Example Video", "channel": "3 Oak Lane"}),
        ("<span class='VuuXrf'>Example Video</span>", {"source": "Example Video"}),
        ("<img src='https://a.example/i.jpg'>", {"thumbnail": "https://a.example/i.jpg"}),
        ("<div>From 00:12</div>", {}),
    ],
)
def test_what_is_shown_of_a_video_is_told(below, expected):
    """Running time, date, site, channel and picture are read from lines of any class; what is not shown is not told."""
    found = told(video(below=below), video("Other", "https://a.example/other"))
    assert {key: found[key] for key in TOLD if key in found} == expected


def test_lines_of_times_are_no_description():
    """What is told in the metadata is left out of the description."""
    box = '<div class="Gx5Zad"><div class="s3v9rd"><div>Duration: 4:05</div><div>Posted: Oct 25, 2025</div></div></div>'
    (found,) = google_video.record(results_page(f'<div class="Gx5Zad">{video()}{box}</div>'), ANY)["results"]
    assert (found["description"], found["result_type"]) == ("", "video")


def test_a_heading_may_hold_the_link():
    """On pages for mobiles the link to the video stands in the heading, below its duration."""
    links = '<a href="#play">4:05</a><a href="https://video.example.net/bowl"><div>Bowl</div></a>'
    (found,) = google_video.record(results_page(f'<div role="heading" aria-level="3">{links}</div>'), ANY)["results"]
    assert (found["title"], found["link"]) == ("Bowl", "https://video.example.net/bowl")


def test_the_same_link_twice_is_one_video():
    """Headings in links to the same video make one result."""
    heading = '<a href="https://video.example.net/bowl"><div role="heading" aria-level="3">Bowl</div></a>'
    assert len(google_video.record(results_page(heading, heading), ANY)["results"]) == 1


def test_an_unknown_layout_is_refused_and_not_taken_for_empty():
    """A page without videos that does not say so is a LayoutError."""
    with pytest.raises(LayoutError, match="neither results nor a message"):
        google_video.record(results_page("<article>Throwing a bowl, 12:05</article>"), ANY)
