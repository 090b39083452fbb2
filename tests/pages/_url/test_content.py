"""The element of a page's content."""

import pytest


def test_a_page_of_short_facts_is_content(read):
    """The Markdown of a product page whose only prose is a review has price, stock and specifications."""
    text = read(
        "<title>Grinder | Shop</title><header><form><input><button>Search</button></form></header>"
        "<div class=breadcrumb><a href='/'>Home</a></div><div class=product><h1>Grinder</h1>"
        "<div class=price>€ 49.90</div>"
        "<button>Add</button><p>In stock</p><ul><li>Weight: 2 kg<li>Power: 150 W</ul><p>Delivery in 2 days</p></div>"
        "<div class=reviews><h2>Reviews</h2><div class=comment><p>Bought it twice for my family and friends, and never "
        "looked back since then.</p></div></div><div class=related><a href='/x'>Other grinder</a></div>"
    )
    for fact in ("# Grinder", "€ 49.90", "In stock", "- Power: 150 W", "Delivery in 2 days", "never looked back"):
        assert fact in text
    for chrome in ("Search", "Home", "Add", "Other grinder"):
        assert chrome not in text


LEAD = "What the town decided on Monday night, and why it will not be the end of it for those who live there."


@pytest.mark.parametrize("lead", [f"<h2>{LEAD}</h2>", f"<p class=deck>{LEAD}</p>", f"<div>{LEAD}</div>"])
def test_the_lead_between_headline_and_text_is_content(read, lead):
    """The lead stands outside the element of the text; bylines and buttons between them are left out."""
    text = read(
        f"<title>T</title><div><div class=top><h1>The bridge</h1>{lead}<div>By A. Miller</div>"
        "<p><a href='/a'>Miller and Sons, all about bridges</a> <a href='/b'>All pages of the series</a></p></div>"
        f"<div class=story>{'<p>' + LEAD.replace('Monday', 'Tuesday') * 12 + '</p>'} {'<p>More.</p>' * 3}</div></div>"
    )
    assert text.startswith("# The bridge\n\n")
    assert LEAD in text
    assert "Miller" not in text


def test_far_more_than_a_lead_before_the_text_is_not_added(read):
    """A list of teasers between a headline and the text is no lead."""
    text = read(
        f"<title>T</title><div><div><h1>The bridge</h1>{f'<p>{LEAD}</p>' * 9}</div></div>"
        f"<div class=story>{'<p>' + LEAD.replace('Monday', 'Tuesday') * 60 + '</p>'}</div>"
    )
    assert LEAD not in text
