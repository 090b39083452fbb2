"""Google Maps' answers, whole and broken, real and composed."""

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
from webdata.pages.google_maps import Viewport, place_id_of, record
from webdata.resources.maps_search import MapsQuery

ANY = MapsQuery(q="pottery", num=200)
CUTS = 20
SEED = 4

DATA_ID = "0x80a1b2c3d4e5f601:0x8b1c2d3e4f506172"
PLACE_ID = "ChIJAfbl1MOyoYARcmFQTz4tHIs"
"""What says the same as DATA_ID."""


def sparse(values):
    return [values.get(index) for index in range(max(values) + 1)]


def a_place(**more):
    """A place with what it must have, and more by index: `_39="Mill Lane 1"`."""
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
    (only,) = record(body(answer(a_place(**more))), ANY)["places"]
    return only


def judged(data):
    """The record of a body, or None where it is refused."""
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
    "found": body(answer(a_place())),
    "listed": body(answer(a_place(), listed=True)),
    "without its prefix": orjson.dumps(answer(a_place())),
    "with a mark before it": b"\xef\xbb\xbf" + body(answer(a_place())),
    "in an object": orjson.dumps({"c": 0, "d": body(answer(a_place())).decode(), "p": True}) + b'/*""*/',
    "behind another object": b'{"c":1}/*""*/' + orjson.dumps({"d": body(answer(a_place())).decode()}) + b'/*""*/',
    "in a page": embedded(answer(a_place(), listed=True)),
    "in a page with keys": embedded(answer(a_place()), keyed=True),
    "a place alone": body(sparse({6: a_place()})),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_an_answer_is_read(form):
    """Both branches that places stand in, with and without what is around an answer, give the same record."""
    (only,) = record(FORMS[form], ANY)["places"]
    assert (only["name"], only["data_id"], only["latitude"]) == ("The Kiln", DATA_ID, 38.03)


def test_a_place_with_little_to_tell():
    """A place has every key; what is not told is None or an empty list."""
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
    ("told", "website", "domain"),
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
def test_websites(told, website, domain):
    """A website is the place's own address, with Google's redirect undone; its domain has no www."""
    place = read(_7=told)
    assert (place["website"], place["domain"]) == (website, domain)


@pytest.mark.parametrize(
    ("told", "shown", "e164"),
    [
        (
            ["0520-123456", [["0520-123456", 1], ["+212 520-123456", 2]], None, "0520123456"],
            "0520-123456",
            "+212520123456",
        ),
        (["+30 21 2345 6789", None, None, "+302123456789"], "+30 21 2345 6789", "+302123456789"),
        (["0520-123456", [["0520-123456", 1]], None, "0520123456"], "0520-123456", None),
        (["+1 23", None, None, "+123"], "+1 23", None),
        (["+", None, None, None], "+", None),
        (["call us"], "call us", None),
    ],
)
def test_phones(told, shown, e164):
    """A number is shown as it is; in its international form only where a form of it names its country and is valid."""
    place = read(_178=[told])
    assert (place["phone"], place["phone_e164"]) == (shown, e164)


def test_hours_are_verbatim():
    """Hours keep their narrow spaces and en dashes; the parts of a day with a break are joined."""
    days = [
        ["Friday", 5, [2026, 8, 7], [["7\u202fAM–8:30\u202fPM", [[7]]]]],
        ["Saturday", 6, None, [["9–11"], ["14–18"]]],
    ]
    assert read(_203=[days])["opening_hours"] == {"Friday": "7\u202fAM–8:30\u202fPM", "Saturday": "9–11, 14–18"}


def test_hours_where_they_were():
    """Answers of before 2025 tell hours in another place."""
    older = sparse({1: [["Friday", ["9–11", "14–18"]], ["Saturday", ["Closed"]]]})
    assert read(_34=older)["opening_hours"] == {"Friday": "9–11, 14–18", "Saturday": "Closed"}


@pytest.mark.parametrize(
    ("told", "rating", "reviews"),
    [
        ({7: 4.5, 8: 48}, 4.5, 48),
        ({3: [None, "5,775 reviews"], 7: 5}, 5, 5775),
        ({3: [None, "14 avis"]}, None, 14),
        ({7: 4.5}, 4.5, None),
        ({7: "4.5", 8: True}, None, None),
    ],
)
def test_reviews(told, rating, reviews):
    """The count is the number, else the one in the words beside it; either may be missing."""
    place = read(_4=sparse(told))
    assert (place["rating"], place["review_count"]) == (rating, reviews)


def test_addresses():
    """The address is the one without the name, never what stands behind the name; else its lines make one."""
    lines = ["Mill Lane 1", "Porto 4000"]
    assert read(_18="The Kiln, Mill Lane 1", _39="Mill Lane 1", _2=lines)["address"] == "Mill Lane 1"
    assert read(_18="The Kiln, Mill Lane 1", _2=lines)["address"] == "Mill Lane 1, Porto 4000"
    assert read(_18="The Kiln")["address"] is None


def test_photos():
    """A thumbnail is a photo of the place, else its owner's picture."""
    photo, owner = "https://images.example.com/1.jpg?w=142", "https://images.example.com/owner.jpg"
    photos = [[sparse({6: [photo]})]]
    assert read(_72=photos, _157=owner)["thumbnail"] == photo
    assert read(_37=photos)["thumbnail"] == photo
    assert read(_157=owner)["thumbnail"] == owner


def test_kinds_districts_and_zones():
    """Categories in words and by their ids, the district, and the time zone."""
    place = read(_13=["Potter", "Shop"], _76=[["potter", None, 5], None, []], _14="Old Town", _30="Europe/Lisbon")
    assert (place["categories"], place["category_ids"]) == (["Potter", "Shop"], ["potter"])
    assert (place["district"], place["timezone"]) == ("Old Town", "Europe/Lisbon")
    assert read(_183=[None, ["Ville Nouvelle"]])["district"] == "Ville Nouvelle"


def test_ads_have_no_rank():
    """Rows without a place are ads; they are left out and not counted."""
    tree = answer(a_place(), listed=True)
    tree[64] = [sparse({5: ["Visit us"]}), *tree[64]]
    (only,) = record(body(tree), ANY)["places"]
    assert only["position"] == 1


def test_a_place_is_told_once():
    """A place that an answer repeats counts once."""
    other = DATA_ID.replace("01:", "02:")
    places = record(body(answer(a_place(), a_place(_10=other), a_place())), ANY)["places"]
    assert [place["data_id"] for place in places] == [DATA_ID, other]


def test_no_more_places_than_were_asked_for():
    """A page that holds more is cut."""
    rows = [a_place(_10=f"0x1:0x{number:x}") for number in range(20)]
    assert len(record(body(answer(*rows)), MapsQuery(q="pottery", num=7))["places"]) == 7


def test_nothing_was_found():
    """The short answer that repeats the terms and holds no place is empty, also where it tells of an area."""
    area = [2, "Porto", [["x", None, "0x1:0x2", [None, None, 41.1, -8.6], "Porto"]]]
    assert record(body(answer(_37=area)), ANY) == {"places": []}


REFUSED = {
    "no list": body({"error": 1}),
    "a list of nothing": body([]),
    "no terms": body([[None, [[]]]]),
    "places elsewhere": body(answer(_30=[a_place()])),
    "long and without places": body(answer(_30=["x" * 30_000])),
    "an object without an answer": b'{"c":0,"e":"x"}/*""*/',
    "a page of something else": b"<html><body>Welcome</body></html>",
    "a page without an answer": embedded(["pottery"]),
    "a place without an id": body(answer(a_place(), a_place(_10=None))),
    "a place without a name": body(answer(a_place(_11=""))),
    "a place that is nowhere": body(answer(a_place(_9=None))),
    "a place off the globe": body(answer(a_place(_9=[None, None, 91, 0]))),
    "a place that is none": body(answer("The Kiln")),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_unknown_shape_is_refused(case):
    """What is no answer of a known shape, or holds a place that is not whole, gives no record at all."""
    with pytest.raises(LayoutError):
        record(REFUSED[case], ANY)


@pytest.mark.parametrize("form", FORMS)
def test_a_broken_answer_is_told_from_an_unknown_one(form):
    """An answer that ends in the middle is a failure of the upstream."""
    whole = FORMS[form]
    end = whole.rfind(b"The Kiln")
    with pytest.raises(UpstreamError):
        record(whole[:end], ANY)


@pytest.mark.parametrize("data", [b"", b"gibberish", b")]}'", b")]}'\n[[", b'{"c":0,"d":"', b"\xff\xfe[1]"])
def test_a_body_that_is_no_answer_is_broken(data):
    """What is neither a page nor JSON is a broken body."""
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


@given(st.binary())
def test_any_bytes_are_judged(data):
    """Whatever comes in, it gives a record or one of the two errors."""
    for start in (b"", b")]}'\n", b"{", b"<html>window.APP_INITIALIZATION_STATE="):
        judged(start + data)
        google_maps.shown_query(start + data)


@MANY
@given(st.sampled_from([2, 4, 7, 9, 13, 14, 30, 34, 37, 39, 72, 76, 78, 157, 178, 183, 203, 227]), JSON)
def test_any_value_in_a_place_is_judged(index, value):
    """Whatever stands in the place of what is expected, it is read as missing or refused."""
    found = judged(body(answer(a_place(**{f"_{index}": value}))))
    assert found is None or len(found["places"]) == 1


@MANY
@given(st.sampled_from([0, 1, 6, 64]), JSON)
def test_any_value_in_an_answer_is_judged(index, value):
    """Whatever the branches of an answer hold, it is read or refused."""
    tree = answer(a_place())
    judged(body(sparse({**dict(enumerate(tree)), index: value})))


def test_what_was_searched():
    """An answer tells its terms and the part of the world that the map showed."""
    for form in ("found", "in an object", "in a page"):
        assert google_maps.shown_query(FORMS[form]) == "pottery"
        assert google_maps.viewport(FORMS[form]) == Viewport(900.5, 23.7, 38.03)
    assert google_maps.shown_query(b"<html>") is None
    assert google_maps.viewport(body([["pottery", []]])) is None


def test_the_two_ids_say_the_same():
    """A place id is a data_id in other letters."""
    assert place_id_of(DATA_ID) == PLACE_ID
    assert place_id_of("0x1:0x2") == "ChIJAQAAAAAAAAARAgAAAAAAAAA"


def plain_spaces(value):
    return json.dumps(value, ensure_ascii=False).replace("\N{NO-BREAK SPACE}", " ").replace(".0,", ",")


@pytest.fixture(scope="module")
def truths(captures):
    """Each hand-checked answer beside the places of its capture."""
    folder = captures / "maps"
    answers = [json.loads(path.read_text()) for path in sorted((folder / "truth").glob("*.json"))]
    return [(truth["places"], record((folder / truth["file"]).read_bytes(), ANY)["places"]) for truth in answers]


@pytest.mark.captures
@pytest.mark.parametrize(
    "key",
    ["name", "data_id", "place_id", "rating", "review_count", "address", "website", "phone", "categories", "timezone"],
)
def test_real_places_are_read_as_a_person_reads_them(truths, key):
    """Of the saved answers every place is found, in its order, with what a person sees."""
    for expected, got in truths:
        assert plain_spaces([place[key] for place in expected]) == plain_spaces([place[key] for place in got])


@pytest.mark.captures
def test_real_places_are_where_they_are(truths):
    """Coordinates are those of the saved answers, to a metre."""
    for expected, got in truths:
        for want, have in zip(expected, got, strict=True):
            assert have["latitude"] == pytest.approx(want["latitude"], abs=1e-5)
            assert have["longitude"] == pytest.approx(want["longitude"], abs=1e-5)


@pytest.mark.captures
def test_real_places_say_the_same_in_many_ways(truths):
    """The ids of a place say the same, its domain is its website's, and its phone number is one of the world's."""
    for place in (place for _, places in truths for place in places):
        assert place_id_of(place["data_id"]) == place["place_id"]
        assert place["domain"] == (place["website"] and urlsplit(place["website"]).hostname.removeprefix("www."))
        assert re.fullmatch(r"\+\d{8,15}", place["phone_e164"] or "+00000000")
        assert re.sub(r"\D", "", place["phone"] or "")[-7:] in (place["phone_e164"] or "")


@pytest.mark.captures
def test_most_real_places_have_opening_hours(truths):
    """Every saved place has hours for the seven days of the week, but six whose answers hold none."""
    weeks = Counter(len(place["opening_hours"] or {}) for _, places in truths for place in places)
    assert weeks == {7: 74, 0: 6}


@pytest.mark.captures
def test_real_places_alone(captures):
    """The saved answers for one place each give it."""
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
def test_real_answers_without_their_ends_are_refused(captures):
    """Wherever a saved answer is cut off, it gives no record."""
    chance = random.Random(SEED)
    for path in sorted((captures / "maps").glob("maps-search*.json")) + sorted((captures / "maps").glob("*.html")):
        whole = path.read_bytes()
        end = whole.find(b";window.APP_FLAGS") if path.suffix == ".html" else len(whole)
        for cut in chance.sample(range(1, end - 1), CUTS):
            assert judged(whole[:cut]) is None


@pytest.mark.captures
def test_torn_pages_are_read_or_refused(captures):
    """A saved page that lost some of its tags gives a whole record or none."""
    chance = random.Random(SEED)
    for path in sorted((captures / "maps").glob("*.html")):
        for _ in range(3):
            torn = re.sub(rb"<[^>]{1,200}>", lambda tag: tag[0] if chance.random() > 0.1 else b"", path.read_bytes())
            found = judged(torn)
            assert found is None or len(found["places"]) == 20
