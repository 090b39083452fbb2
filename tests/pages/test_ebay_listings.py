"""EBay's pages of listings."""

import json
import random
import re
from itertools import chain
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.domain.errors import FetchError, LayoutError
from webdata.pages import blocked, ebay_listings
from webdata.pages._text import folded
from webdata.resources.marketplace_search import MarketplaceQuery

ANY = MarketplaceQuery(q="kettle")
SEARCH = "https://www.ebay.com/sch/i.html?_nkw=kettle"
SEED = 7
CUTS = 20
TAG = re.compile(rb"<[^>]+>")
ENOUGH = {"title": 0.99, "price": 0.98, "was_price": 0.98, "condition": 0.97, "seller": 0.97, "seller_feedback": 0.97}
SECONDS_A_MB = 0.010
SLACK = 4
"""How much slower than on an idle machine a test may find the parser."""


def judged(body: bytes, query: MarketplaceQuery = ANY):
    """The record of a page, or None where it is refused."""
    try:
        return ebay_listings.record(body, query)
    except FetchError:
        return None


def read(body: str):
    return ebay_listings.record(body.encode(), ANY)


def card(number: int, title: str = "Kettle", *, price: str = "$5.00", rows: str = "", above: str = "") -> str:
    return (
        f'<li class="s-card" data-listingid={number}>{above}'
        f'<a class="s-card__link" href="https://www.ebay.com/itm/{number}?_skw=x">'
        f'<div class="s-card__title"><span class="primary">{title}</span></div></a>'
        f'<div class="s-card__attribute-row"><span class="s-card__price">{price}</span></div>{rows}</li>'
    )


def row(text: str) -> str:
    return f'<div class="s-card__attribute-row"><span>{text}</span></div>'


def subtitle(text: str) -> str:
    return f'<div class="s-card__subtitle">{text}</div>'


def page(inner: str, count: str = "", above: str = "") -> str:
    heading = f'<h1 class="srp-controls__count-heading">{count}</h1>' if count else ""
    return f'<html>{heading}<div id="srp-river-results">{above}<ul class="srp-results">{inner}</ul></div></html>'


def metadata(inner: str):
    (listing,) = read(page(inner))["results"]
    return listing["metadata"]


def ids(listings) -> list[str]:
    return [listing["metadata"]["item_id"] for listing in listings]


@pytest.fixture(scope="module")
def truths(captures):
    """Each hand-checked answer beside the record of its page."""
    folder = captures / "ebay"
    answers = [json.loads(path.read_text()) for path in sorted((folder / "truth").glob("*.json"))]
    return [(truth, ebay_listings.record((folder / truth["file"]).read_bytes(), ANY)) for truth in answers]


@pytest.mark.captures
def test_real_listings_are_all_found_and_nothing_else(truths):
    """Every listing of the saved pages is found in its order, matching ones and loose ones apart."""
    for truth, found in truths:
        for part in ("results", "loose_results"):
            assert [one["item_id"] for one in truth.get(part, [])] == ids(found[part]), truth["file"]
            assert [one["position"] for one in found[part]] == list(range(1, len(found[part]) + 1))


@pytest.mark.captures
@pytest.mark.parametrize("field", ENOUGH)
def test_real_listings_are_read_as_a_person_reads_them(truths, field):
    """Of every field of the saved listings nearly all are right."""
    pairs = [
        (folded(one[field]), folded(got["title"] if field == "title" else got["metadata"].get(field)))
        for truth, found in truths
        for one, got in zip(truth["results"], found["results"], strict=True)
    ]
    wrong = [pair for pair in pairs if pair[0] != pair[1]]
    assert len(pairs) - len(wrong) >= ENOUGH[field] * len(pairs), wrong


@pytest.mark.captures
def test_real_listings_have_pictures_and_attributes(truths):
    """Every listing of the saved pages has a whole picture, a clean link and lines that no decoy is among."""
    for truth, found in truths:
        for one in (*found["results"], *found["loose_results"]):
            assert one["metadata"]["image"].startswith("https://i.ebayimg.com/"), truth["file"]
            assert re.fullmatch(r"https://www\.ebay\.[a-z.]+/itm/\d+", one["link"])
            assert one["metadata"]["attributes"]
            assert not any(
                re.search("sponsored|derosnops|anzeige", text, re.IGNORECASE) for text in one["metadata"]["attributes"]
            )


@pytest.mark.captures
def test_real_auctions_and_sales_are_told(captures):
    """Bids and days of sale are read from the saved pages of auctions and of what is sold, in four languages."""
    expected = {
        "ebay-auctionetl-page1.html": (60, 28),
        "ebay-scrapperbot-b.html": (34, 0),
        "ebay-cddatabase.html": (7, 55),
        "ebay-roger-b.html": (9, 0),
        "ebay-hatscot-debug.html": (0, 0),
    }
    for name, counts in expected.items():
        found = ebay_listings.record((captures / "ebay" / name).read_bytes(), ANY)
        told = [one["metadata"] for one in found["results"]]
        assert (sum("bids" in one for one in told), sum("sold_date" in one for one in told)) == counts, name


@pytest.mark.captures
def test_real_obstacles_are_blocks_and_real_results_are_none(captures):
    """A page won after a challenge still names it in its links, and is no block."""
    rows = [json.loads(line) for line in (captures / "ebay" / "INDEX.jsonl").read_text().splitlines()]
    for one in rows:
        body = (captures / "ebay" / one["file"]).read_bytes()
        is_block = one["expect"] == "blocked"
        assert (blocked.block(200, {}, body, SEARCH) is not None) is is_block, one["file"]
        assert is_block or blocked.block(403, {}, body, SEARCH) is None
        assert (judged(body) is None) is is_block


@pytest.mark.captures
def test_cut_off_and_torn_pages_are_read_or_refused(captures):
    """Whatever is missing from a page, it gives listings or an error, and is empty only where it says so."""
    chance = random.Random(SEED)
    for path in sorted((captures / "ebay").glob("*.html")):
        body = path.read_bytes()
        cuts = (body[: len(body) * part // CUTS] for part in chance.sample(range(CUTS), 6))
        torn = (TAG.sub(lambda tag: b"" if chance.random() < share else tag.group(), body) for share in (0.02, 0.3))  # noqa: B023  # used at once
        pages = [found for found in map(judged, chain(cuts, torn)) if found]
        assert b"srp-save-null-search" in body or all(found["results"] for found in pages), path.name


@pytest.mark.captures
def test_real_pages_are_read_in_time(captures):
    """The largest saved page takes no more than ten milliseconds a megabyte, on a machine that is not busy."""
    path = max((captures / "ebay").glob("*.html"), key=lambda path: path.stat().st_size)
    body = path.read_bytes()
    seconds = []
    for _ in range(3):
        begun = perf_counter()
        ebay_listings.record(body, ANY)
        seconds.append(perf_counter() - begun)
    assert min(seconds) < SLACK * SECONDS_A_MB * len(body) / 1e6


@given(st.binary(max_size=5000))
def test_no_bytes_make_the_parser_stumble(body):
    """Any bytes give an error with an outcome, or a record."""
    judged(body)
    ebay_listings.shown_query(body)
    blocked.block(200, {}, body, SEARCH)


FRAGMENTS = st.sampled_from(
    [
        "<div id=srp-river-results>",
        "<ul class=srp-results>",
        "<li class=s-card data-listingid=401000000001>",
        "<li class=s-item>",
        "<div class=su-item-card>",
        "<li class=srp-river-answer--REWRITE_START>",
        "<h1 class=srp-controls__count-heading>",
        "<span class=BOLD>0</span>",
        "<div class=srp-save-null-search>",
        "<a href=https://www.ebay.com/itm/401000000002>",
        "<a href=/itm/x/401000000003?x=1>",
        "<a href=//www.ebay.de/itm/401000000004#x>",
        "<a href='https://[/itm/401000000005'>",
        "<div class=s-card__title>",
        "<div class=s-item__title>",
        "<div role=heading>",
        "<span class=s-card__price>$1",
        "<span class=s-item__price>£2",
        "<span class=su-item-card__price>3 €",
        "<span class='s-card__price strikethrough'>",
        "<span class=strikethrough>$9",
        "<div class=s-card__subtitle>",
        "<div class=s-item__detail>",
        "<div class=s-card__attribute-row>",
        "<div class=s-card__caption>Sold Jan 1, 2026",
        "<div aria-hidden=true>",
        "<img src=https://x.example/1.jpg alt=kettle>",
        "name (1) 99%",
        "12 bids",
        "</span>",
        "</div>",
        "</li>",
        "</ul>",
        "text",
    ],
)


@given(st.lists(FRAGMENTS, max_size=50))
def test_no_arrangement_of_a_pages_parts_makes_the_parser_stumble(fragments):
    """The parts of a page in any order and nesting give an error with an outcome, or a record."""
    judged("".join(fragments).encode())


def test_deep_nesting_is_no_danger():
    """A page nested deeper than any real one is read or refused."""
    judged(page(card(401000000001, "<div>" * 20_000 + "x")).encode())
    judged(b"<div>" * 20_000 + page(card(401000000001)).encode())


def test_what_is_no_listing_is_left_out():
    """Placeholders, hidden cards, cards of carousels and cards without a link or a title are no listings."""
    carousel = f'<li class="srp-river-answer srp-river-answer--ITEMS_CAROUSEL"><ul>{card(401000000002)}</ul></li>'
    hidden = f'<div aria-hidden="true">{card(401000000003)}</div><div style="display:none">{card(401000000004)}</div>'
    inner = card(401000000001) + card(123456, "Shop on eBay") + carousel + hidden + card(401000000005, "")
    outside = card(401000000006)
    assert ids(read(outside + page(inner))["results"]) == ["401000000001"]


def test_a_list_that_has_lost_its_name_is_still_a_list():
    """Where the list cannot be told by its id or class, all cards of the page are in it."""
    assert ids(read(f"<main>{card(401000000001)}{card(401000000002)}</main>")["results"]) == [
        "401000000001",
        "401000000002",
    ]


@pytest.mark.parametrize(
    ("href", "link"),
    [
        ("https://www.ebay.de/itm/401000000001?x=1#y", "https://www.ebay.de/itm/401000000001"),
        ("http://www.ebay.de/itm/401000000001", "https://www.ebay.de/itm/401000000001"),
        ("//www.ebay.de/itm/401000000001", "https://www.ebay.de/itm/401000000001"),
        ("/itm/A-Kettle/401000000001?x=1", "https://www.ebay.co.uk/itm/A-Kettle/401000000001"),
    ],
)
def test_links_are_whole_and_without_tracking(href, link):
    """A link keeps host and path; one without a host is on the site of the region."""
    body = page(card(401000000001)).replace("https://www.ebay.com/itm/401000000001?_skw=x", href).encode()
    (listing,) = ebay_listings.record(body, MarketplaceQuery(q="kettle", region="GB"))["results"]
    assert listing["link"] == link


@pytest.mark.parametrize(
    ("count", "q", "empty"),
    [
        ('<span class="BOLD">0</span> results for <span class="BOLD">kettle</span>', "kettle", True),
        ('<span class="BOLD">1,000</span>+ results for <span class="BOLD">0</span>', "0", False),
        ('<span class="BOLD">0</span> results for <span class="BOLD">15</span>', "15", True),
        ('<span class="BOLD">15</span>の結果<span class="BOLD">0</span>件', "15", True),
        ('<span class="BOLD">0</span>の結果<span class="BOLD">55</span>件', "0", False),
        ("0 results", "kettle", True),
        ("565 results", "kettle", False),
        ("10 results", "kettle", False),
    ],
)
def test_a_count_of_zero_makes_all_listings_loose(count, q, empty):
    """The number is told from terms that are numbers, before or behind it."""
    box = f'<input name="_nkw" value="{q}">'
    found = read(box + page(card(401000000001), count))
    assert (found["results"] == [], len(found["loose_results"])) == (empty, int(empty))


def test_a_notice_above_the_list_changes_nothing():
    """A corrected or simplified search has the same kind of heading above the list; its listings match."""
    notice = '<div class="srp-river-answer srp-river-answer--REWRITE_START">Simplified</div>'
    assert read(page(card(401000000001), "5 results", notice))["loose_results"] == []


def test_a_page_says_in_words_that_nothing_was_found():
    """Where there is no count, a heading tells; a listing's own title does not."""
    assert read("<h2>No exact matches found</h2>")["results"] == []
    card_titled = page(card(401000000001, "<h2>0 gauge wire</h2>"))
    assert ids(read(card_titled)["results"]) == ["401000000001"]
    for body in ("", "<h1>Kettles</h1>", page("", "12 results")):
        with pytest.raises(LayoutError, match="neither listings"):
            read(body)


def test_listings_without_any_price_are_a_layout_of_their_own():
    """A page whose listings have all lost their price is refused; one among others may have none."""
    with pytest.raises(LayoutError, match="without prices"):
        read(page(card(401000000001, price="")))
    found = read(page(card(401000000001) + card(401000000002, price="")))
    assert [one["metadata"]["price"] for one in found["results"]] == ["$5.00", None]


@pytest.mark.parametrize(
    ("prices", "shown"),
    [
        (["$8.49", " to ", "$8.89"], "$8.49 to $8.89"),
        (["EUR 1.250,00", "bis", "EUR 1.300,00"], "EUR 1.250,00 bis EUR 1.300,00"),
        (["$67.00", "$75.00"], "$67.00"),
        (["￥1,200"], "￥1,200"),
    ],
)
def test_a_range_is_told_from_two_prices(prices, shown):
    """Two amounts are a range only with a word between."""
    inside = '</span><span class="s-card__price">'.join(prices)
    assert metadata(card(401000000001, price=inside))["price"] == shown


def test_a_struck_price_of_its_own_is_the_price():
    """Where a lower offer was accepted, the own price is struck; another one beside it is the former price."""
    own = '</span><span class="s-card__price strikethrough">$35.00'
    assert metadata(card(401000000001, price=own))["price"] == "$35.00"
    assert "was_price" not in metadata(card(401000000001, price=own))
    was = f'{own}</span><span class="strikethrough">$49.99'
    assert metadata(card(401000000001, price=was))["was_price"] == "$49.99"


def test_a_former_price_may_have_a_line_of_its_own():
    """`Was:` and `List price:` lines give the former price, and are no attribute."""
    rows = '<div class="s-card__attribute-row">List price: <span class="strikethrough">$795.00</span> 81% off</div>'
    found = metadata(card(401000000001, rows=rows))
    assert (found["was_price"], found["attributes"]) == ("$795.00", [])


@pytest.mark.parametrize(
    ("lines", "condition"),
    [
        (["Pre-Owned"], "Pre-Owned"),
        (["<span>Open Box · </span><span>Lenovo · </span><span>1 TB</span>"], "Open Box"),
        (["Neu | Privat"], "Neu"),
        (["Authorized dealer | free returns", "Brand New"], "Brand New"),
        (["Certified - Refurbished", "($0.85/oz)"], "Certified - Refurbished"),
        (["<span class=clipped>New window</span>中古品"], "中古品"),
        ([], None),
    ],
)
def test_the_condition_is_told_from_what_stands_around_it(lines, condition):
    """A seller's line above, a brand or seller's kind behind, and a price by weight below are not the condition."""
    above = "".join(map(subtitle, lines))
    assert metadata(card(401000000001, above=above))["condition"] == condition


@pytest.mark.parametrize(
    ("text", "name", "feedback"),
    [
        ("jlabllc 99.1% positive (5.1K)", "jlabllc", "99.1% positive (5.1K)"),
        ("every*thing 100% positivo (2,7K)", "every*thing", "100% positivo (2,7K)"),
        ("music.shop 100% ポジティブ (25.7K)", "music.shop", "100% ポジティブ (25.7K)"),
        ("kessel-haus 99,5% positiv (1.234)", "kessel-haus", "99,5% positiv (1.234)"),
        ("bouilloire 99,5 % d'évaluations positives (1,2 k)", "bouilloire", "99,5 % d'évaluations positives (1,2 k)"),
        ("discount_depot (132,409) 98.7%", "discount_depot", "(132,409) 98.7%"),
        ("newcomer (0)", "newcomer", "(0)"),
        ("The Kettle Shop 99.9% positive (130K)", "The Kettle Shop", "99.9% positive (130K)"),
        ("bakir_ev %99,5 olumlu (1,2 B)", "bakir_ev", "%99,5 olumlu (1,2 B)"),
        ("Extra 20% off with coupon", None, None),
        ("Save up to 5% when you buy more", None, None),
        ("1,234 sold", None, None),
    ],
)
def test_the_seller_is_told_by_the_feedback(text, name, feedback):
    """A line with one word and a share or count of feedback names the seller; offers of a discount do not."""
    found = metadata(card(401000000001, rows=row(text)))
    assert (found["seller"], found["seller_feedback"]) == (name, feedback)
    assert found["attributes"] == ([] if name else [text])


@pytest.mark.parametrize(
    ("text", "bids"),
    [
        ("0 bids · 5m left", 0),
        ("1 bid", 1),
        ("1,204 bids", 1204),
        ("3 Gebote", 3),
        ("2 ofertas de subasta · 6 d 3 h", 2),
        ("9件の入札", 9),
        ("4 enchères", 4),
        ("12 watchers", None),
        ("o Mejor oferta", None),
    ],
)
def test_bids_are_counted_in_many_languages(text, bids):
    """A line that counts bids tells of an auction; one that counts watchers does not."""
    found = metadata(card(401000000001, rows=row(text)))
    assert found.get("bids") == bids
    assert found["attributes"] == [text]


@pytest.mark.parametrize(
    ("text", "sold"),
    [
        ("Sold  Oct 27, 2025", "Oct 27, 2025"),
        ("Verkauft  27. Okt 2025", "27. Okt 2025"),
        ("Vendido  el 27 oct 2025", "27 oct 2025"),
        ("Vendu  le 27 oct. 2025", "27 oct. 2025"),
        ("販売済み  Jan 9, 2026", "Jan 9, 2026"),
        ("Ended  Oct 27, 2025", None),
        ("NEW LOW PRICE", None),
    ],
)
def test_the_day_of_a_sale_is_told_from_other_captions(text, sold):
    """What is above the title is the day of the sale, or else an attribute."""
    found = metadata(card(401000000001, above=f'<div class="s-card__caption"><span>{text}</span></div>'))
    assert found.get("sold_date") == sold
    assert found["attributes"] == ([] if sold else [" ".join(text.split())])


def test_pictures_that_stand_in_for_others_are_none():
    """The whole picture is taken, wherever scripts keep it, and never the grey square before it."""
    grey = "https://ir.ebaystatic.com/grey.png"
    deferred = f'<img src="{grey}" data-defer-load="https://x.example/1.jpg">'
    assert metadata(card(401000000001, above=deferred))["image"] == "https://x.example/1.jpg"
    assert metadata(card(401000000001, above=f'<img src="{grey}">'))["image"] is None


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://www.ebay.com/splashui/captcha?ap=1", "captcha"),
        ("https://www.ebay.co.uk/splashui/challenge?ap=1", "javascript"),
        ("https://signin.ebay.de/ws/eBayISAPI.dll?SignIn", "login"),
        ("https://notebay.com/splashui/captcha", None),
        ("https://www.ebay.com.au/sch/i.html?ru=/splashui/captcha", None),
    ],
)
def test_obstacles_have_addresses_of_their_own(url, kind):
    """Challenges and the page to sign in are known by where they are, or where they are redirected to."""
    direct, redirected = blocked.block(200, {}, b"x", url), blocked.block(302, {"Location": url}, b"x", SEARCH)
    assert {found.kind if found else None for found in (direct, redirected)} == {kind}


def test_a_check_of_the_browser_is_no_page_that_mentions_one():
    """The check is known by its title or its script; beside results either means nothing."""
    check = b"<title>Pardon Our Interruption...</title>"
    script = b'<script data-inlinepayload={"serviceName":"splashui"}></script>'
    assert [blocked.block(200, {}, body, SEARCH).kind for body in (check, script)] == ["javascript"] * 2
    assert blocked.block(200, {}, b"<title>Security Measure</title>", SEARCH).kind == "captcha"
    assert blocked.block(200, {}, check + script + page(card(401000000001)).encode(), SEARCH) is None


def test_numbers_and_pictures_are_what_the_schema_promises():
    """Digits of other scripts make no number, and what is no web address is no picture."""
    assert judged(page(card(401000000001)).replace("401000000001", "٤٠١٠٠٠٠٠٠٠٠١").encode()) is None
    assert metadata(card(401000000001, above='<img src="httpx:1.jpg">'))["image"] is None
