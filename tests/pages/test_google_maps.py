"""Google Maps' answers, valid and invalid, real and composed."""

import json
import random
import re
from collections import Counter
from urllib.parse import urlsplit

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webdata.domain.errors import LayoutError, UpstreamError
from webdata.pages import google_maps
from webdata.pages.google_maps import Viewport, maps_record, place_id_of, record
from webdata.pages.odd_items import counted
from webdata.resources.maps_search import MapsQuery

ANY = MapsQuery(q="pottery", num=200)
CUTS = 20
SEED = 4

DATA_ID = "0x80a1b2c3d4e5f601:0x8b1c2d3e4f506172"
PLACE_ID = "ChIJAfbl1MOyoYARcmFQTz4tHIs"
"""The place id with the numbers of DATA_ID."""


def sparse(values):
    return [values.get(index) for index in range(max(values) + 1)]


def place_tree(**more):
    """A place with the required values, and further ones by index: `_39="Mill Lane 1"`."""
    least = {9: [None, None, 38.03, 23.7], 10: DATA_ID, 11: "The Kiln"}
    return sparse({**least, **{int(name[1:]): value for name, value in more.items()}})


def answer(*places, listed=False, **more):
    rows = [] if listed else [sparse({14: one}) for one in places]
    tree = {0: ["pottery", [sparse({8: "session"}), *rows]], 1: [[900.5, 23.7, 38.03]]}
    if listed:
        tree[64] = [[None, one] for one in places]
    return sparse({**tree, **{int(name[1:]): value for name, value in more.items()}})


def body(tree):
    return b")]}'\n" + orjson.dumps(tree)


def read(**more):
    (only,) = record(body(answer(place_tree(**more))), ANY)["places"]
    return only


def record_or_none(data):
    """The record of a body; None where it is refused."""
    try:
        return record(data, ANY)
    except (LayoutError, UpstreamError):
        return None


def embedded(tree, keyed=False):
    payloads = [None, ')]}\'\n["pottery"]', body(tree).decode()]
    state = [[[900.5, 23.7, 38.03]], None, None, {"tg": payloads} if keyed else payloads]
    script = f"window.APP_INITIALIZATION_STATE={json.dumps(state)};window.APP_FLAGS=[1];"
    return f"<!doctype html><script>{script}</script>".encode()


FORMS = {
    "found": body(answer(place_tree())),
    "listed": body(answer(place_tree(), listed=True)),
    "without its prefix": orjson.dumps(answer(place_tree())),
    "with a mark before it": b"\xef\xbb\xbf" + body(answer(place_tree())),
    "in an object": orjson.dumps({"c": 0, "d": body(answer(place_tree())).decode(), "p": True}) + b'/*""*/',
    "behind another object": b'{"c":1}/*""*/' + orjson.dumps({"d": body(answer(place_tree())).decode()}) + b'/*""*/',
    "in a page": embedded(answer(place_tree(), listed=True)),
    "in a page with keys": embedded(answer(place_tree()), keyed=True),
    "a place alone": body(sparse({6: place_tree()})),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_an_answer_is_parsed(form):
    """All branches with places, with and without their wrapping, give the same record."""
    (only,) = record(FORMS[form], ANY)["places"]
    assert (only["name"], only["data_id"], only["latitude"]) == ("The Kiln", DATA_ID, 38.03)


def test_a_minimal_place_has_every_key():
    """A missing value is None or an empty list."""
    assert read() == {
        "position": 1,
        "name": "The Kiln",
        "data_id": DATA_ID,
        "latitude": 38.03,
        "longitude": 23.7,
        "place_id": PLACE_ID,
        "google_maps_url": f"https://www.google.com/maps/place/?q=place_id:{PLACE_ID}",
        "website": None,
        "domain": None,
        "address": None,
        "address_lines": [],
        "district": None,
        "rating": None,
        "review_count": None,
        "review_url": None,
        "categories": [],
        "category_ids": [],
        "phone": None,
        "phone_e164": None,
        "timezone": None,
        "thumbnail": None,
        "opening_hours": None,
    }


@pytest.mark.parametrize(
    ("value", "website", "domain"),
    [
        (["https://www.kiln.example/a?b=1", "kiln.example"], "https://www.kiln.example/a?b=1", "kiln.example"),
        (["/url?q=http://kiln.example/&opi=1", "kiln.example"], "http://kiln.example/", "kiln.example"),
        (["/url?opi=1", "kiln.example"], None, "kiln.example"),
        (["https://kiln.example/?a\\u003db\\u0026c", None], "https://kiln.example/?a=b&c", "kiln.example"),
        (["HTTP://Kiln.example/A"], "http://Kiln.example/A", "kiln.example"),
        (["javascript:alert(1)"], None, None),
        ([None], None, None),
    ],
)
def test_a_website_is_direct_and_its_domain_has_no_www(value, website, domain):
    """Google's redirect is undone; an address that is not http is left out."""
    place = read(_7=value)
    assert (place["website"], place["domain"]) == (website, domain)


@pytest.mark.parametrize(
    ("value", "phone", "e164"),
    [
        (
            ["0520-123456", [["0520-123456", 1], ["+212 520-123456", 2]], None, "0520123456"],
            "0520-123456",
            "+212520123456",
        ),
        (["+30 21 2345 6789", None, None, "+302123456789"], "+30 21 2345 6789", "+302123456789"),
        (["0520-123456", [["0520-123456", 1]], None, "0520123456"], "0520-123456", None),
        (["+49 30 231219995000", None, None, "+4930231219995000"], "+49 30 231219995000", None),
        (["+1 23", None, None, "+123"], "+1 23", None),
        (["+", None, None, None], "+", None),
        (["call us"], "call us", None),
    ],
)
def test_a_phone_number_is_verbatim_and_in_e164(value, phone, e164):
    """The E.164 form requires a valid form with a country code."""
    place = read(_178=[value])
    assert (place["phone"], place["phone_e164"]) == (phone, e164)


def test_hours_are_verbatim():
    """Hours retain their narrow spaces and en dashes; the parts of a day with a break are joined."""
    days = [
        ["Friday", 5, [2026, 8, 7], [["7\u202fAM–8:30\u202fPM", [[7]]]]],
        ["Saturday", 6, None, [["9–11"], ["14–18"]]],
    ]
    assert read(_203=[days])["opening_hours"] == {"Friday": "7\u202fAM–8:30\u202fPM", "Saturday": "9–11, 14–18"}


def test_older_answers_have_hours_at_another_path():
    """Answers before 2025 have them at path 34."""
    older = sparse({1: [["Friday", ["9–11", "14–18"]], ["Saturday", ["Closed"]]]})
    assert read(_34=older)["opening_hours"] == {"Friday": "9–11, 14–18", "Saturday": "Closed"}


@pytest.mark.parametrize(
    ("value", "rating", "reviews"),
    [
        ({7: 4.5, 8: 48}, 4.5, 48),
        ({3: [None, "5,775 reviews"], 7: 5}, 5, 5775),
        ({3: [None, "14 avis"]}, None, 14),
        ({7: 4.5}, 4.5, None),
        ({7: "4.5", 8: True}, None, None),
    ],
)
def test_the_review_count_is_a_number_or_in_a_text(value, rating, reviews):
    """The number has priority over the text; either may be missing."""
    place = read(_4=sparse(value))
    assert (place["rating"], place["review_count"]) == (rating, reviews)


def test_the_address_does_not_contain_the_name():
    """Without an address field, the lines of the address are joined."""
    lines = ["Mill Lane 1", "Porto 4000"]
    assert read(_18="The Kiln, Mill Lane 1", _39="Mill Lane 1", _2=lines)["address"] == "Mill Lane 1"
    assert read(_18="The Kiln, Mill Lane 1", _2=lines)["address"] == "Mill Lane 1, Porto 4000"
    assert read(_18="The Kiln")["address"] is None


def test_a_thumbnail_is_a_photo_or_the_picture_of_the_owner():
    """A photo of the place has priority."""
    photo, owner = "https://images.example.com/1.jpg?w=142", "https://images.example.com/owner.jpg"
    photos = [[sparse({6: [photo]})]]
    assert read(_72=photos, _157=owner)["thumbnail"] == photo
    assert read(_37=photos)["thumbnail"] == photo
    assert read(_157=owner)["thumbnail"] == owner


def test_a_place_has_categories_district_and_timezone():
    """Categories have names and ids; the district may be at another path."""
    place = read(_13=["Potter", "Shop"], _76=[["potter", None, 5], None, []], _14="Old Town", _30="Europe/Lisbon")
    assert (place["categories"], place["category_ids"]) == (["Potter", "Shop"], ["potter"])
    assert (place["district"], place["timezone"]) == ("Old Town", "Europe/Lisbon")
    assert read(_183=[None, ["Ville Nouvelle"]])["district"] == "Ville Nouvelle"


def test_ads_are_left_out():
    """Rows without a place are ads and do not count."""
    tree = answer(place_tree(), listed=True)
    tree[64] = [sparse({5: ["Visit us"]}), *tree[64]]
    (only,) = record(body(tree), ANY)["places"]
    assert only["position"] == 1


def test_a_repeated_place_is_left_out():
    """A place that an answer repeats is in the record once."""
    other = DATA_ID.replace("01:", "02:")
    places = record(body(answer(place_tree(), place_tree(_10=other), place_tree())), ANY)["places"]
    assert [place["data_id"] for place in places] == [DATA_ID, other]


def test_a_record_has_at_most_num_places():
    """Further places of an answer are left out."""
    rows = [place_tree(_10=f"0x1:0x{number:x}") for number in range(20)]
    assert len(record(body(answer(*rows)), MapsQuery(q="pottery", num=7))["places"]) == 7


def test_a_short_answer_without_places_is_empty():
    """The short answer with the terms and without a place is empty, even with an area."""
    area = [2, "Porto", [["x", None, "0x1:0x2", [None, None, 41.1, -8.6], "Porto"]]]
    assert record(body(answer(_37=area)), ANY) == {"places": []}


REFUSED = {
    "no list": body({"error": 1}),
    "a list of nothing": body([]),
    "no terms": body([[None, [[]]]]),
    "places elsewhere": body(answer(_30=[place_tree()])),
    "long and without places": body(answer(_30=["x" * 30_000])),
    "an object without an answer": b'{"c":0,"e":"x"}/*""*/',
    "a page of something else": b"<html><body>Welcome</body></html>",
    "a page without an answer": embedded(["pottery"]),
    "a place without an id": body(answer(place_tree(_10=None))),
    "a place without a name": body(answer(place_tree(_11=""))),
    "a place that is nowhere": body(answer(place_tree(_9=None))),
    "a place off the globe": body(answer(place_tree(_9=[None, None, 91, 0]))),
    "a place that is none": body(answer("The Kiln")),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_unknown_shape_is_refused(case):
    """An answer of an unknown shape, or with an incomplete place, is a LayoutError."""
    with pytest.raises(LayoutError):
        record(REFUSED[case], ANY)


def test_an_odd_place_is_left_out_and_counted():
    """A place without an id or coordinates takes no other with it; a lone surrogate in a name is mended."""
    odd = body(answer(place_tree(_10=None), place_tree(_11="cut #"), place_tree(_9=None)))
    with counted() as found:
        (place,) = record(odd.replace(b"#", rb"\ud83d"), ANY)["places"]
    assert (place["name"], place["position"], found.told) == ("cut \N{REPLACEMENT CHARACTER}", 1, "items:3")


@pytest.mark.parametrize("form", FORMS)
def test_a_truncated_answer_is_an_upstream_error(form):
    """An answer without its end is no LayoutError."""
    whole = FORMS[form]
    end = whole.rfind(b"The Kiln")
    with pytest.raises(UpstreamError):
        record(whole[:end], ANY)


@pytest.mark.parametrize("data", [b"", b"gibberish", b")]}'", b")]}'\n[[", b'{"c":0,"d":"', b"\xff\xfe[1]"])
def test_a_body_that_is_neither_a_page_nor_json_is_an_upstream_error(data):
    """Such a body is reported as broken."""
    with pytest.raises(UpstreamError):
        record(data, ANY)


MANY = settings(max_examples=500, deadline=None)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=20,
)


@MANY
@given(st.sampled_from([2, 4, 7, 9, 13, 14, 30, 34, 37, 39, 72, 76, 78, 157, 178, 183, 203, 227]), JSON)
def test_any_value_in_a_place_is_parsed_or_refused(index, value):
    """An unexpected value is treated as missing, or the answer is refused."""
    found = record_or_none(body(answer(place_tree(**{f"_{index}": value}))))
    assert found is None or len(found["places"]) == 1


def test_an_answer_contains_its_terms_and_its_viewport():
    """Both are None where an answer does not contain them."""
    for form in ("found", "in an object", "in a page"):
        assert google_maps.shown_query(FORMS[form]) == "pottery"
        assert google_maps.viewport(FORMS[form]) == Viewport(900.5, 23.7, 38.03)
    assert google_maps.shown_query(b"<html>") is None
    assert google_maps.viewport(body([["pottery", []]])) is None


def test_a_place_id_follows_from_a_data_id():
    """A place id encodes the numbers of the data_id."""
    assert place_id_of(DATA_ID) == PLACE_ID
    assert place_id_of("0x1:0x2") == "ChIJAQAAAAAAAAARAgAAAAAAAAA"


def plain_spaces(value):
    return json.dumps(value, ensure_ascii=False).replace("\N{NO-BREAK SPACE}", " ").replace(".0,", ",")


@pytest.fixture(scope="module")
def truths(captures):
    """Pairs of the hand-checked places and the parsed places of a capture."""
    folder = captures / "maps"
    answers = [json.loads(path.read_text()) for path in sorted((folder / "truth").glob("*.json"))]
    return [(truth["places"], record((folder / truth["file"]).read_bytes(), ANY)["places"]) for truth in answers]


@pytest.mark.captures
@pytest.mark.parametrize(
    "key",
    ["name", "data_id", "place_id", "rating", "review_count", "address", "website", "phone", "categories", "timezone"],
)
def test_real_places_match_the_hand_checked_answers(truths, key):
    """Every place of the saved answers is parsed, in order, with the expected value."""
    for expected, got in truths:
        assert plain_spaces([place[key] for place in expected]) == plain_spaces([place[key] for place in got])


@pytest.mark.captures
def test_the_coordinates_of_real_places_are_right(truths):
    """Coordinates match the hand-checked answers to a metre."""
    for expected, got in truths:
        for want, have in zip(expected, got, strict=True):
            assert have["latitude"] == pytest.approx(want["latitude"], abs=1e-5)
            assert have["longitude"] == pytest.approx(want["longitude"], abs=1e-5)


@pytest.mark.captures
def test_the_fields_of_real_places_are_consistent(truths):
    """The ids encode the same numbers, the domain is the website's, and the phone number is valid in E.164."""
    for place in (place for _, places in truths for place in places):
        assert place_id_of(place["data_id"]) == place["place_id"]
        assert place["domain"] == (place["website"] and urlsplit(place["website"]).hostname.removeprefix("www."))
        assert re.fullmatch(r"\+\d{8,15}", place["phone_e164"] or "+00000000")
        assert re.sub(r"\D", "", place["phone"] or "")[-7:] in (place["phone_e164"] or "")


@pytest.mark.captures
def test_most_real_places_have_opening_hours(truths):
    """Every saved place has hours for seven days, except the six whose answers contain none."""
    weeks = Counter(len(place["opening_hours"] or {}) for _, places in truths for place in places)
    assert weeks == {7: 74, 0: 6}


@pytest.mark.captures
def test_real_answers_for_one_place_are_parsed(captures):
    """Each has its place, with a link to its reviews."""
    names = {
        "raw": "Kipriakon",
        "raw2": "Κυπριακόν",
        "panic": "Happy Island Restaurant",
        "panic2": "Island Beach Bar and Restaurant",
    }
    for case, name in names.items():
        (only,) = record((captures / "maps" / f"maps-place-gosom-{case}.json").read_bytes(), ANY)["places"]
        assert only["name"] == name
        assert only["review_url"].startswith("https://search.google.com/local/reviews?placeid=ChIJ")


@pytest.mark.captures
def test_truncated_real_answers_are_refused(captures):
    """A saved answer truncated at any offset gives no record."""
    chance = random.Random(SEED)
    for path in sorted((captures / "maps").glob("maps-search*.json")) + sorted((captures / "maps").glob("*.html")):
        whole = path.read_bytes()
        end = whole.find(b";window.APP_FLAGS") if path.suffix == ".html" else len(whole)
        for cut in chance.sample(range(1, end - 1), CUTS):
            assert record_or_none(whole[:cut]) is None


@pytest.mark.captures
def test_real_pages_without_some_tags_are_parsed_or_refused(captures):
    """A saved page without some of its tags gives a complete record or none."""
    chance = random.Random(SEED)
    for path in sorted((captures / "maps").glob("*.html")):
        for _ in range(3):
            damaged = re.sub(rb"<[^>]{1,200}>", lambda tag: tag[0] if chance.random() > 0.1 else b"", path.read_bytes())
            found = record_or_none(damaged)
            assert found is None or len(found["places"]) == 20


def test_a_record_ranks_the_places_of_all_pages():
    """Each place is in it once, and its metadata repeat the query."""
    places = [{"data_id": one, "position": 1} for one in "aba"]
    page = maps_record(places, MapsQuery(q="x", num=40, hl="de"), "browser")
    assert [place["position"] for place in page["places"]] == [1, 2]
    assert (page["search_engine"], page["result_count"]) == ("google_maps", 2)
    assert page["metadata"] == {
        "schema": "maps.v1",
        "transport": "browser",
        "requested_count": 40,
        "language": "de",
        "country": "us",
    }
