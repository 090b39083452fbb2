"""Google's image results."""

import json
import random
import re
import time
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.domain.errors import LayoutError
from webdata.pages import google_image
from webdata.resources.image_search import ImageQuery

ANY = ImageQuery(q="pottery")
CACHE = "https://encrypted-tbn0.gstatic.com/images?q=tbn:"
CUTS = 20
SEED = 20
TAG = re.compile(rb"<[^>]+>")
SCRIPT = re.compile(rb"<script.*?</script>", re.DOTALL)
SECONDS_A_MEGABYTE = 0.010


def image_record(key="kL1", src="https://kilnlane.example/bowl.jpg", page="https://kilnlane.example/", title="Bowl"):
    about = {"2003": [None, f"ref{key}", page, title, None, 0]}
    return [0, key, [CACHE + key, 168, 300], [src, 900, 1200], None, 0, "rgb(0,0,0)", None, 0, about]


def data_page(*records):
    """A page with records in its script data."""
    text = json.dumps({f"key{number}": [1, record] for number, record in enumerate(records)}).replace("&", r"\u0026")
    return f"<title>pottery - Google Search</title><script>var m={text};</script>".encode()


def images(body):
    return google_image.record(body, ANY)["image_results"]


def record_or_none(body):
    """The record of a page; None where it is refused."""
    try:
        return google_image.record(body, ANY)
    except LayoutError:
        return None


@pytest.fixture(scope="module")
def truths(captures):
    """Pairs of the hand-checked images and the bytes of a page."""
    folder = captures / "google-image"
    answers = [json.loads(path.read_text()) for path in sorted((folder / "truth").glob("*.json"))]
    return [(truth["images"], (folder / truth["file"]).read_bytes()) for truth in answers]


@pytest.mark.captures
def test_the_images_of_real_pages_match_the_hand_checked_answers(truths):
    """Address, size, thumbnail, page, title and host of every image are right, in order."""
    for truth, body in truths:
        expected = [
            (one["original_src"], str(one["width"]), str(one["height"]), one["thumbnail_src"], one["page_link"])
            for one in truth
        ]
        found = images(body)
        assert expected == [
            (
                one["original_image"]["src"],
                one["original_image"]["width"],
                one["original_image"]["height"],
                one["image"]["src"],
                one["link"]["href"],
            )
            for one in found
        ]
        assert [one["domain"] for one in truth] == [one["link"]["domain"] for one in found]
        titles = [" ".join(one["page_title"].split()) for one in truth]
        assert titles == [one["link"]["title"] for one in found] == [one["image"]["alt"] for one in found]


@pytest.mark.captures
def test_real_tiles_are_parsed_without_script_data(truths):
    """Without its scripts a saved page has twenty images, at least half of them also in its data."""
    for _, body in truths:
        tiles = [(one["link"]["href"], one["image"]["alt"]) for one in images(SCRIPT.sub(b"", body))]
        known = {one["link"]["href"] for one in images(body)}
        assert len(tiles) == 20
        assert all(page.startswith("http") and title for page, title in tiles)
        assert sum(page in known for page, _ in tiles) >= 10


@pytest.mark.timed
@pytest.mark.captures
def test_real_pages_are_parsed_in_time(truths):
    """A page takes at most 10 ms a megabyte."""
    for _, body in truths:
        spent = []
        for _ in range(5):
            begun = time.perf_counter()
            google_image.record(body, ANY)
            spent.append(time.perf_counter() - begun)
        assert min(spent) <= SECONDS_A_MEGABYTE * len(body) / 1e6


@pytest.mark.captures
def test_truncated_pages_and_pages_without_some_tags_are_parsed_or_refused(truths):
    """A damaged page gives images or a LayoutError, never an empty record."""
    chance = random.Random(SEED)
    for _, body in truths:
        truncated = (body[: len(body) * part // CUTS] for part in chance.sample(range(1, CUTS), 6))
        damaged = (TAG.sub(lambda tag: b"" if chance.random() < share else tag.group(), body) for share in (0.02, 0.3))  # noqa: B023  # used at once
        pages = [page for page in map(record_or_none, chain(truncated, damaged)) if page]
        assert pages
        assert all(page["total"] == len(page["image_results"]) > 0 for page in pages)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(["https://a.example/", "ref"]),
    lambda children: st.lists(children, max_size=6) | st.dictionaries(st.sampled_from(["2003", "2000"]), children),
    max_leaves=12,
)


@given(st.lists(VALUES, max_size=8), st.sampled_from(["", '<div class="rg_meta">', "<div data-lpage=x data-docid=y>"]))
def test_any_data_are_parsed_or_refused(values, before):
    """Records of any shape, and data beside tiles of any shape, give a record or a LayoutError."""
    body = json.dumps([0, "key", [CACHE, *values], *values])
    record_or_none(f"{before}<script>{body}</script>{before}{body}".encode())
    data = {"ou": CACHE, "ow": 3, "oh": 2, "tu": CACHE, "ru": CACHE, **dict(zip(("pt", "rh", "ity", "ru"), values))}  # noqa: B905  # as far as it goes
    record_or_none(f'<div class="rg_meta">{json.dumps(data)}</div>'.encode())


def test_deeply_nested_data_are_skipped():
    """Data nested deeper than the interpreter allows do not raise."""
    start = b'[0,"a",["https://a.example/",' + b"[" * 100_000
    assert len(images(start + data_page(image_record()))) == 1


def test_a_record_has_at_most_twenty_images():
    """Of a hundred images on a page the first twenty are in the record, in order."""
    records = [image_record(f"key{number}") for number in range(100)]
    found = google_image.record(data_page(*records), ANY)
    assert (found["total"], len(found["image_results"])) == (20, 20)
    assert found["image_results"][-1]["image"]["src"] == f"{CACHE}key19"


def test_a_repeated_image_is_left_out():
    """A second record with the same id is left out; another image of the same page is not."""
    body = data_page(image_record("a"), image_record("a"), image_record("b"))
    assert [one["image"]["src"] for one in images(body)] == [f"{CACHE}a", f"{CACHE}b"]


def test_heights_are_before_widths():
    """The first number of a record is the height."""
    (found,) = images(data_page(image_record()))
    assert (found["original_image"]["width"], found["original_image"]["height"]) == ("1200", "900")


def test_the_host_may_be_in_another_list_of_the_record():
    """The pages of 2020 have the host in a list of its own."""
    record = image_record(page="https://www.kilnlane.example/")
    record[-1]["183836587"] = ["kilnlane.example"]
    assert images(data_page(record))[0]["link"]["domain"] == "kilnlane.example"


def test_thumbnails_have_one_size():
    """Upstream has one size, so the three addresses are equal."""
    (found,) = images(data_page(image_record()))
    assert found["thumbnails"] == dict.fromkeys(("small", "medium", "large"), found["image"]["src"])


@pytest.mark.parametrize(
    ("src", "file_format"),
    [
        ("https://a.example/x.jpg", "image/jpeg"),
        ("https://a.example/x.JPEG?w=3#top", "image/jpeg"),
        ("https://a.example/x.png", "image/png"),
        ("https://a.example/x.webp", "image/webp"),
        ("https://a.example/x.svg", "image/svg+xml"),
        ("https://a.example/x.svg/400px-x.svg.png", "image/png"),
        ("https://a.example/x.php?f=x.jpg", "image/"),
        ("https://a.example/photo-17", "image/"),
        ("https://a.example", "image/"),
        ("x-raw-image:///9f86d081", "image/"),
    ],
)
def test_the_format_follows_from_the_ending(src, file_format):
    """The MIME type follows from the ending of the address's path; without one it is unknown."""
    (found,) = images(data_page(image_record(src=src)))
    assert (found["original_image"]["src"], found["original_image"]["file_format"]) == (src, file_format)


def test_the_format_in_the_data_has_priority():
    """A format in the data has priority over the ending of the address."""
    data = {"ou": "https://a.example/x.php", "ow": 3, "oh": 2, "tu": CACHE, "ru": "https://a.example/", "ity": "gif"}
    (found,) = images(f'<div class="rg_meta">{json.dumps(data)}</div>'.encode())
    assert found["original_image"]["file_format"] == "image/gif"


def test_a_lone_surrogate_is_replaced():
    """A title truncated within a character can be encoded as UTF-8."""
    (found,) = images(data_page(image_record(title="Bowl \ud83d")))
    assert found["link"]["title"].encode() == "Bowl \ufffd".encode()


def test_an_image_without_a_page_is_left_out():
    """A record without the address of its page is no result."""
    assert len(images(data_page(image_record("a", page="javascript:1 2"), image_record("b")))) == 1


def test_related_images_of_a_preview_are_no_results():
    """Tiles beside the column of results are left out."""
    tile = '<div data-docid="{0}" data-lpage="https://a.example/{0}"><img alt="{0}"></div>'
    body = f'<div id="search">{tile.format("seen")}</div><div>{tile.format("beside")}</div>'.encode()
    assert [one["image"]["alt"] for one in images(body)] == ["seen"]


def test_an_unknown_layout_is_refused():
    """A page with neither images nor a message is a LayoutError."""
    with pytest.raises(LayoutError, match="neither images nor a message"):
        google_image.record(b"<div id=rso><figure>Blue bowls</figure></div>", ANY)
