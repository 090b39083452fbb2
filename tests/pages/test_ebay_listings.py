"""EBay's pages of listings."""

import json
import random
import re
from itertools import chain
from time import thread_time

import pytest

from webdata.domain.errors import FetchError, LayoutError
from webdata.pages import ebay_listings
from webdata.pages._text import folded
from webdata.pages.blocked import block_of
from webdata.pages.odd_items import counted
from webdata.resources.marketplace_search import MarketplaceQuery

ANY = MarketplaceQuery(q="kettle")
NUMBER = 110000000001
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
    """Each hand-checked record beside the parsed one."""
    folder = captures / "ebay"
    answers = [json.loads(path.read_text()) for path in sorted((folder / "truth").glob("*.json"))]
    return [(truth, ebay_listings.record((folder / truth["file"]).read_bytes(), ANY)) for truth in answers]


@pytest.mark.captures
def test_saved_listings_are_all_found_and_nothing_else(truths):
    """Every listing of the saved pages is found in its order, matching ones and loose ones apart."""
    for truth, found in truths:
        for part in ("results", "loose_results"):
            assert [one["item_id"] for one in truth.get(part, [])] == ids(found[part]), truth["file"]
            assert [one["position"] for one in found[part]] == list(range(1, len(found[part]) + 1))


@pytest.mark.captures
@pytest.mark.parametrize("field", ENOUGH)
def test_saved_listings_are_parsed_as_checked_by_hand(truths, field):
    """Nearly all values of every field of the saved listings are right."""
    pairs = [
        (folded(one[field]), folded(got["title"] if field == "title" else got["metadata"].get(field)))
        for truth, found in truths
        for one, got in zip(truth["results"], found["results"], strict=True)
    ]
    wrong = [pair for pair in pairs if pair[0] != pair[1]]
    assert len(pairs) - len(wrong) >= ENOUGH[field] * len(pairs), wrong


@pytest.mark.captures
def test_real_listings_have_pictures_and_attributes(truths):
    """Every listing of the saved pages has a picture, a link without tracking and lines without decoys."""
    for truth, found in truths:
        for one in (*found["results"], *found["loose_results"]):
            assert one["metadata"]["image"].startswith("https://i.ebayimg.com/"), truth["file"]
            assert re.fullmatch(r"https://www\.ebay\.[a-z.]+/itm/\d+", one["link"])
            assert one["metadata"]["attributes"]
            assert not any(
                re.search("sponsored|derosnops|anzeige", text, re.IGNORECASE) for text in one["metadata"]["attributes"]
            )


@pytest.mark.captures
def test_bids_and_days_of_sale_of_saved_listings_are_recognised(captures):
    """Saved pages of auctions and of sold items have bids and days of sale, in four languages."""
    expected = {
        "ebay-auctionetl-page1.html": (60, 28),
        "ebay-scrapperbot-b.html": (34, 0),
        "ebay-cddatabase.html": (7, 55),
        "ebay-roger-b.html": (9, 0),
        "ebay-hatscot-debug.html": (0, 0),
    }
    for name, counts in expected.items():
        found = ebay_listings.record((captures / "ebay" / name).read_bytes(), ANY)
        rows = [one["metadata"] for one in found["results"]]
        assert (sum("bids" in one for one in rows), sum("sold_date" in one for one in rows)) == counts, name


@pytest.mark.captures
def test_saved_challenges_are_blocks_and_saved_results_are_none(captures):
    """A page after a challenge still links to it, and is no block."""
    rows = [json.loads(line) for line in (captures / "ebay" / "INDEX.jsonl").read_text().splitlines()]
    for one in rows:
        body = (captures / "ebay" / one["file"]).read_bytes()
        is_block = one["expect"] == "blocked"
        assert (block_of(200, {}, body, SEARCH, "ebay_listings") is not None) is is_block, one["file"]
        assert is_block or block_of(403, {}, body, SEARCH, "ebay_listings") is None
        assert (judged(body) is None) is is_block


@pytest.mark.captures
def test_truncated_and_damaged_pages_give_a_record_or_an_error(captures):
    """A page with missing parts gives listings or an error, and is empty only with the message for it."""
    chance = random.Random(SEED)
    for path in sorted((captures / "ebay").glob("*.html")):
        body = path.read_bytes()
        cuts = (body[: len(body) * part // CUTS] for part in chance.sample(range(CUTS), 6))
        damaged = (TAG.sub(lambda tag: b"" if chance.random() < share else tag.group(), body) for share in (0.02, 0.3))  # noqa: B023  # used at once
        pages = [found for found in map(judged, chain(cuts, damaged)) if found]
        assert b"srp-save-null-search" in body or all(found["results"] for found in pages), path.name


@pytest.mark.timed
@pytest.mark.captures
def test_saved_pages_are_parsed_in_time(captures):
    """The largest saved page takes no more than ten milliseconds a megabyte, on a machine that is not busy."""
    path = max((captures / "ebay").glob("*.html"), key=lambda path: path.stat().st_size)
    body = path.read_bytes()
    seconds = []
    for _ in range(3):
        begun = thread_time()
        ebay_listings.record(body, ANY)
        seconds.append(thread_time() - begun)
    assert min(seconds) < SLACK * SECONDS_A_MB * len(body) / 1e6


def test_elements_that_are_no_listings_are_left_out():
    """Placeholders, hidden cards, cards of carousels and cards without a link or a title are no listings."""
    carousel = f'<li class="srp-river-answer srp-river-answer--ITEMS_CAROUSEL"><ul>{card(401000000002)}</ul></li>'
    hidden = f'<div aria-hidden="true">{card(401000000003)}</div><div style="display:none">{card(401000000004)}</div>'
    inner = card(401000000001) + card(123456, "Shop on eBay") + carousel + hidden + card(401000000005, "")
    outside = card(401000000006)
    assert ids(read(outside + page(inner))["results"]) == ["401000000001"]


def test_a_list_without_its_id_and_class_is_parsed():
    """Where no element has the list's id or class, all cards of the page are in it."""
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
def test_links_are_absolute_and_without_tracking(href, link):
    """A link has its host and path; one without a host is on the site of the region."""
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
    """The count is recognised beside terms that are numbers, before or after it."""
    box = f'<input name="_nkw" value="{q}">'
    found = read(box + page(card(401000000001), count))
    assert (found["results"] == [], len(found["loose_results"])) == (empty, int(empty))


def test_a_notice_above_the_list_makes_no_listing_loose():
    """A corrected or simplified search has the same kind of heading above the list; its listings match."""
    notice = '<div class="srp-river-answer srp-river-answer--REWRITE_START">Simplified</div>'
    assert read(page(card(401000000001), "5 results", notice))["loose_results"] == []


def test_a_heading_without_a_count_may_say_that_nothing_was_found():
    """Without a count the headings of the page are checked, but not the titles of listings."""
    assert read("<h2>No exact matches found</h2>")["results"] == []
    card_titled = page(card(401000000001, "<h2>0 gauge wire</h2>"))
    assert ids(read(card_titled)["results"]) == ["401000000001"]
    for body in ("", "<h1>Kettles</h1>", page("", "12 results")):
        with pytest.raises(LayoutError, match="neither listings"):
            read(body)


def test_a_page_whose_listings_all_lack_a_price_is_refused():
    """A single listing among others may have no price."""
    with pytest.raises(LayoutError, match="without prices"):
        read(page(card(401000000001, price="")))
    found = read(page(card(401000000001) + card(401000000002, price="")))
    assert [one["metadata"]["price"] for one in found["results"]] == ["$5.00", None]


@pytest.mark.parametrize(
    ("prices", "expected"),
    [
        (["$8.49", " to ", "$8.89"], "$8.49 to $8.89"),
        (["EUR 1.250,00", "bis", "EUR 1.300,00"], "EUR 1.250,00 bis EUR 1.300,00"),
        (["$67.00", "$75.00"], "$67.00"),
        (["￥1,200"], "￥1,200"),
    ],
)
def test_a_range_has_a_word_between_two_prices(prices, expected):
    """Two amounts without a word between them are no range."""
    inside = '</span><span class="s-card__price">'.join(prices)
    assert metadata(card(401000000001, price=inside))["price"] == expected


def test_a_struck_price_may_be_the_price():
    """The price is struck where a lower offer was accepted; another struck one is the former price."""
    own = '</span><span class="s-card__price strikethrough">$35.00'
    assert metadata(card(401000000001, price=own))["price"] == "$35.00"
    assert "was_price" not in metadata(card(401000000001, price=own))
    was = f'{own}</span><span class="strikethrough">$49.99'
    assert metadata(card(401000000001, price=was))["was_price"] == "$49.99"


def test_a_former_price_may_have_a_line_of_its_own():
    """Lines of `Was:` and `List price:` are the former price, and no attributes."""
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
def test_the_condition_is_recognised_among_other_lines(lines, condition):
    """A seller's line before it, a brand or kind of seller after it, and a price by weight are no condition."""
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
def test_the_seller_is_recognised_by_the_feedback(text, name, feedback):
    """A line of a name and a share or count of feedback is the seller's; an offer of a discount is not."""
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
        pytest.param(f"{'9' * 5000} bids", None, id="too long"),
        ("o Mejor oferta", None),
    ],
)
def test_bids_are_counted_in_many_languages(text, bids):
    """A line with a number of bids is an auction's; one with a number of watchers is not."""
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
def test_the_day_of_a_sale_is_recognised_among_captions(text, sold):
    """A line above the title is the day of the sale or an attribute."""
    found = metadata(card(401000000001, above=f'<div class="s-card__caption"><span>{text}</span></div>'))
    assert found.get("sold_date") == sold
    assert found["attributes"] == ([] if sold else [" ".join(text.split())])


def test_placeholders_are_no_pictures():
    """The picture is found in any attribute, and the grey placeholder is left out."""
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
def test_challenges_are_recognised_by_their_address(url, kind):
    """Challenges and the sign-in page are recognised by their address or a redirect to it."""
    direct, redirected = (
        block_of(200, {}, b"x", url, "ebay_listings"),
        block_of(302, {"Location": url}, b"x", SEARCH, "ebay_listings"),
    )
    assert {found.kind if found else None for found in (direct, redirected)} == {kind}


def test_a_page_that_mentions_a_check_of_the_browser_is_no_block():
    """The check is recognised by its title or script; on a page of results neither is evidence."""
    check = b"<title>Pardon Our Interruption...</title>"
    script = b'<script data-inlinepayload={"serviceName":"splashui"}></script>'
    assert [block_of(200, {}, body, SEARCH, "ebay_listings").kind for body in (check, script)] == ["javascript"] * 2
    assert block_of(200, {}, b"<title>Security Measure</title>", SEARCH, "ebay_listings").kind == "captcha"
    assert block_of(200, {}, check + script + page(card(401000000001)).encode(), SEARCH, "ebay_listings") is None


def test_numbers_and_pictures_fit_the_schema():
    """Digits of other scripts are no number, and only addresses of the web are pictures."""
    assert judged(page(card(401000000001)).replace("401000000001", "٤٠١٠٠٠٠٠٠٠٠١").encode()) is None
    assert metadata(card(401000000001, above='<img src="httpx:1.jpg">'))["image"] is None


def test_a_card_without_a_title_is_left_out_and_counted():
    """An odd card takes no other with it, the ranks have no gap, and `x-partial` tells of it."""
    with counted() as odd:
        found = read(page(card(NUMBER) + card(NUMBER + 1, title="") + card(NUMBER + 2)))["results"]
    assert [(one["metadata"]["item_id"], one["position"]) for one in found] == [
        (str(NUMBER), 1),
        (str(NUMBER + 2), 2),
    ]
    assert odd.told == "items:1"
