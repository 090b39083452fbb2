"""Google's video results."""

import random
import re
from itertools import chain

import pytest

from webdata.domain.errors import LayoutError
from webdata.pages import _elements, google_video, google_web
from webdata.pages._google import tree
from webdata.resources.web_search import WebQuery

ANY = WebQuery(q="pottery")
CUTS = 20
SEED = 20
KEYS = ("duration", "channel", "source", "date", "thumbnail")
NO_JAVASCRIPT = b'class="Gx5Zad'
"""The boxes that only a page without JavaScript has."""
TAG = re.compile(rb"<[^>]+>")


def record_or_none(body):
    """The record of a page; None where it is refused."""
    try:
        return google_video.record(body, ANY)
    except LayoutError:
        return None


def results_page(*blocks):
    main = "".join(f"<div>{block}</div>" for block in blocks)
    return f'<form><textarea name="q">pottery</textarea></form><div id="main"><div id="rso">{main}</div></div>'.encode()


def video(title="Bowl", link="https://video.example.net/watch?v=bowl", below=""):
    return f'<a href="{link}"><h3>{title}</h3></a>{below}'


def metadata_of(*blocks):
    """The metadata of the first result."""
    return google_video.record(results_page(*blocks), ANY)["results"][0]["metadata"]


@pytest.fixture(scope="module")
def web_pages(captures):
    """The saved pages of web results with videos."""
    bodies = [path.read_bytes() for path in sorted((captures / "google-web").glob("*.html"))]
    return [body for body in bodies if b"youtube.com/watch" in body]


def groups(body):
    """Each carousel of videos on a web page, and a page with only that carousel."""
    record = google_web.record(body, ANY)
    page = tree.page(body)
    for group in record["carousel"]:
        if group["type"] == "videos":
            heading = next(
                mark.node for mark in page.of("heading") if _elements.visible_text(mark.node) == group["title"]
            )
            yield group, results_page(box_of(heading, group["items"]))


def box_of(heading, items):
    """The smallest element around a heading with the links of all items."""
    links = [item["link"] for item in items]
    boxes = (node for node in _elements.ancestry(heading) if all(link in links_in(node) for link in links))
    return next(boxes).html


def links_in(node):
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
def test_real_carousels_of_videos_are_parsed_as_results(web_pages):
    """A page with only such a carousel has its items as results."""
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
def test_truncated_pages_and_pages_without_some_tags_are_parsed_or_refused(web_pages):
    """A damaged page gives a record or a LayoutError, never an empty record."""
    chance = random.Random(SEED)
    for body in chance.sample(web_pages, 5):
        truncated = (body[: len(body) * part // CUTS] for part in chance.sample(range(1, CUTS), 4))
        damaged = (TAG.sub(lambda tag: b"" if chance.random() < share else tag.group(), body) for share in (0.02, 0.3))  # noqa: B023  # used at once
        pages = [page for page in map(record_or_none, chain(truncated, damaged)) if page]
        assert all(page["results"] or page["answers"] or page["places"] or page["carousel"] for page in pages)


def test_num_limits_the_results():
    """There are exactly `num` results if the page has as many."""
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
def test_the_metadata_of_a_video_are_read_from_lines_of_any_class(below, expected):
    """A value that the page does not contain has no key."""
    found = metadata_of(video(below=below), video("Other", "https://a.example/other"))
    assert {key: found[key] for key in KEYS if key in found} == expected


def test_lines_of_times_are_no_description():
    """The values in the metadata are left out of the description."""
    box = '<div class="Gx5Zad"><div class="s3v9rd"><div>Duration: 4:05</div><div>Posted: Oct 25, 2025</div></div></div>'
    (found,) = google_video.record(results_page(f'<div class="Gx5Zad">{video()}{box}</div>'), ANY)["results"]
    assert (found["description"], found["result_type"]) == ("", "video")


def test_a_heading_may_contain_the_link():
    """On mobile pages the link to the video is in the heading, below its duration."""
    links = '<a href="#play">4:05</a><a href="https://video.example.net/bowl"><div>Bowl</div></a>'
    (found,) = google_video.record(results_page(f'<div role="heading" aria-level="3">{links}</div>'), ANY)["results"]
    assert (found["title"], found["link"]) == ("Bowl", "https://video.example.net/bowl")


def test_the_same_link_twice_is_one_video():
    """Headings in links to the same video make one result."""
    heading = '<a href="https://video.example.net/bowl"><div role="heading" aria-level="3">Bowl</div></a>'
    assert len(google_video.record(results_page(heading, heading), ANY)["results"]) == 1


def test_an_unknown_layout_is_refused():
    """A page with neither videos nor a message is a LayoutError."""
    with pytest.raises(LayoutError, match="neither results nor a message"):
        google_video.record(results_page("<article>Throwing a bowl, 12:05</article>"), ANY)


def test_a_featured_snippet_whose_page_is_listed_is_no_result():
    """Its page is the result, with the metadata of its own box."""
    snippet = f'<div class="xpdopen"><span class="hgKElc">A bowl.</span>{video()}</div>'
    page = google_video.record(
        results_page(snippet, video(below="<div>4:05</div>"), video("Jug", "https://a.example/")), ANY
    )
    assert [one["metadata"].get("duration") for one in page["results"]] == ["4:05", None]
