"""The price of a product and what stands with it, wherever the page puts it."""

import pytest

PARAGRAPHS = "".join(
    f"<p>Paragraph {number} tells how the kettle is made, of what, and what it is good for, in as many words as shops "
    "use to need for that, and in some more.</p>"
    for number in range(8)
)
OFFER = (
    "<div class='product-sidebar'><div class=price>£169</div><div>In stock</div><a href=/delivery>Delivery</a></div>"
)
OTHERS = "<div class=sidebar>" + "".join(f"<a href=/p{n}><b>£{n}0</b> Kettle {n}</a>" for n in range(5)) + "</div>"
BOX = "<div class=buy><ul><li>$<strong>698</strong><sup>.00</sup></li></ul><div>Price alert</div></div>"
DATA = (
    '<script type="application/ld+json">{"@type": "Product", "name": "Kettle", "offers": {"@type": "Offer"}}</script>'
)


@pytest.fixture
def product(read):
    """A function that converts HTML around the description of a product."""

    def as_markdown(before="", after="", content="page"):
        text = f"<div class=text><h1>Kettle</h1>{PARAGRAPHS}</div>"
        return read(f"{DATA}<body><div>{before}</div><div>{text}{after}</div>", content=content)

    return as_markdown


@pytest.mark.parametrize("content", ["page", "main"])
def test_the_price_beside_a_product_stays(product, content):
    """A part named as a sidebar that has the price in no link is the offer; one of links to others is not."""
    text = product(after=OFFER + PARAGRAPHS.replace("kettle", "lid"), content=content)
    assert "£169" in text
    assert "In stock" in text
    assert "£10" not in product(after=OTHERS, content=content)


@pytest.mark.parametrize("content", ["page", "main"])
def test_the_only_price_before_the_text_of_a_product_stays(product, content):
    """Of a box before the headline, outside of the part with the text, the price stays."""
    text = product(before=BOX, content=content)
    assert "$698.00" in text
    assert content == "page" or "Price alert" not in text


def test_of_two_prices_the_one_with_the_text_is_of_the_product(product):
    """A price before the headline goes from the main content where another stands with the text."""
    text = product(before=BOX.replace("698", "12"), after="<div class=price>$45.00</div>", content="main")
    assert "$45.00" in text
    assert "Price alert" not in text


def test_short_answers_stay_where_others_do(within):
    """Of hidden answers of one form a short one stays with the longer ones; among menus a long one opens nothing."""
    long = "The parts of the kettle are sent within a day, and the carrier tells you when they come to you."
    answers = [long, long, "Yes."]
    html = "".join(f"<div><div>Why?</div><div class=answer style='display:none'>{text}</div></div>" for text in answers)
    faq = f"<div>{html}</div>".replace("<div><div>Why?", "<div class=one><div>Why?")
    assert "Yes." in within(faq)
    menus = [long, "Kettles", "Pans"]
    html = "".join(f"<div class=one><div class=menu style='display:none'>{text}</div></div>" for text in menus)
    assert "Kettles" not in within(f"<div>{html}</div>")


def test_panels_of_tabs_are_no_surroundings_of_the_longest(read):
    """The specification in a panel stays in the main content beside the panel with most of the text."""
    panel = "<div class='panel p{0}' role=tabpanel id={0}>{1}</div>"
    table = "<table><tr><th>Fat</th><td>47.5g</td></tr><tr><th>Salt</th><td>0.0075g</td></tr></table>"
    html = panel.format("a", PARAGRAPHS) + panel.format("b", table)
    assert "47.5g" in read(f"{DATA}<body><div><h1>Kettle</h1><div>{html}</div></div>", content="main")


def test_a_list_of_products_stays_beside_the_text_of_a_page(read):
    """Linked pictures and prices of products are what a page of unknown kind is about, those of filters are not."""
    card = "<div><a href=/{0}><img src=/{0}.jpg alt=''></a><a href=/{0}>Kettle {0}</a><a href=/{0}>${0}.00</a></div>"
    cards = "".join(card.format(number) for number in (31, 32))
    ranges = "".join(f"<a href=/?from={number}>${number} - {number + 5}</a>" for number in (41, 46, 51, 56))
    parts = f"<div class=cards>{cards}</div><div class=ranges>{ranges}</div>"
    text = read(f"<body><h1>Kettles</h1><div>{parts}</div><div class=text>{PARAGRAPHS}</div>")
    assert "$31.00" in text
    assert "$41" not in text


def test_the_products_of_a_listing_are_what_it_is_about_beside_longer_texts(read):
    """Cards with names and prices stay in front of the texts for search engines, which are most of the page."""
    card = "<li><a href=/{0}><img src=/{0}.jpg alt=''></a><p><a href=/{0}>Kettle of steel {0}</a></p><p>${0}.00</p>"
    cards = "".join(card.format(number) for number in range(31, 41))
    page = f"<body><h1>Kettles</h1><div><ul>{cards}</ul></div><div class=text>{PARAGRAPHS * 2}</div>"
    texts = [read(page, content=content) for content in ("page", "main")]
    assert [text.count("[Kettle of steel") for text in texts] == [10, 10]
    assert [text.count(".00\n") for text in texts] == [10, 10]


@pytest.mark.parametrize(
    ("read_aloud", "expected"),
    [("current price $169.99", "$169.99"), ("$169.99.", "$169.99"), ("4.5 stars of 169", "$16999")],
)
def test_a_price_with_raised_cents_has_the_point_that_is_read_aloud(within, read_aloud, expected):
    """Cents without a point are written as screen readers say the same price, not as another number."""
    shown = "<div aria-hidden=true><span>$</span><span>169</span><span>99</span></div>"
    assert expected in within(f"<div>{shown}<span class=aloud>{read_aloud}</span></div>")
