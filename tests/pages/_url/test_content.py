"""The element of a page's content."""


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
