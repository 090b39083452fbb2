"""Texts that stand twice in a line, and facts without a space between them."""

import pytest


@pytest.mark.parametrize(
    "html",
    [
        "<div><span>Used</span><span class=clipped>Used</span></div>",
        "<div><span class=value>Used<span class=clipped>Used</span></span></div>",
        "<h3><span class=short>Used kettle</span><span class=whole>Used kettle</span></h3>",
        "<div><a href=/c><span aria-hidden=true><span>Used</span></span><span class=clipped>Used</span></a></div>",
    ],
)
def test_a_text_that_follows_itself_at_once_is_once(within, html):
    """A text for eyes and the same for screen readers, one right behind the other, is one text."""
    assert within(html).count("Used") == 1


@pytest.mark.parametrize(
    "html",
    [
        "<p>It was <em>very</em> <em>very</em> cold</p>",
        "<p>Write <code><span>init</span><span>init</span></code> so</p>",
        "<table><tr><td>0.50<td>0.50<tr><td>0.50<td>0.50</table>",
    ],
)
def test_words_that_repeat_stay(after, html):
    """A word that a sentence repeats, code and the cells of a table are no twins."""
    assert sum(after(html).count(word) for word in ("very", "init", "0.50")) in (2, 4)


def test_facts_of_one_line_are_apart(after):
    """Elements of one class that style sheets set apart do not run together."""
    facts = "".join(f"<span class=fact>{fact}</span>" for fact in ("2026", "1h 54m", "R"))
    assert after(f"<div>{facts}</div>") == "2026 1h 54m R"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<span>SKU: KETTLE</span><span>MFR: 2020</span>", "SKU: KETTLE MFR: 2020"),
        ("<span><span>$98.00</span></span><span class=old><span>$130.00</span></span>", "$98.00 $130.00"),
        ("<span class=now>$123.95</span><span class=old>Was $154.95</span>", "$123.95 Was $154.95"),
        ("<h3><span class=brand>Acme</span><span class=title>Kettle 20</span></h3>", "Acme Kettle 20"),
        ("<span class=text>I love it.</span><span class=rating>5</span>", "I love it. 5"),
        ("<span class=value>86x</span><span class=label>return on spend</span>", "86x return on spend"),
    ],
)
def test_facts_of_several_kinds_are_apart(after, html, text):
    """A price and the one before, a brand and a title, a review and its rating do not run together."""
    assert text in after(f"<div>{html}</div>")


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<div><span class=a>Kettle</span><span class=b>Land</span></div>", "KettleLand"),
        ("<div><span class=sign>$</span><span class=amount>98.00</span></div>", "$98.00"),
        ("<div><span class=r>Securi</span><span class=r>ng</span></div>", "Securing"),
        ("<p><span class=r>In Java</span><span class=r>Script alone</span></p>", "In JavaScript alone"),
        ("<div><span class=n>10</span><span class=s>th time of all</span></div>", "10th time of all"),
        ("<div><span class=n>19</span><span class=n>99</span></div>", "1999"),
        ("<div><code><span class=k>let</span><span class=k>Name</span></code></div>", "`letName`"),
    ],
)
def test_parts_of_words_stay_together(after, html, text):
    """Parts of a word or of a number, words of a sentence and code are not set apart."""
    assert after(html) == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<span aria-hidden=true>$<b>79</b>.99</span><span>Price $ 79.99</span>", "$**79**.99"),
        ("<span aria-hidden=true>$79.99</span><span>Price $ 98.00</span>", "$79.99 Price $ 98.00"),
        ("<span aria-hidden=true>50</span><i>Up to 50 % off</i>", "50*Up to 50 % off*"),
    ],
)
def test_numbers_that_are_read_aloud_are_shown_once(after, html, text):
    """What only screen readers read behind a number that they leave out goes, if it has the same numbers."""
    assert after(f"<div>{html}</div>") == text


@pytest.mark.parametrize(
    ("html", "count"),
    [
        ("<div class=now>$98.00</div><div class=sale><s></s><b>$98.00</b></div>", 1),
        ("<div class=now>$98.00</div><div class=now>$98.00</div>", 2),
        ("<div class=now>98 kg</div><div class=sale>98 kg</div>", 2),
        ("<div class=now>$98.00</div> or <div class=sale>$98.00</div>", 2),
    ],
)
def test_a_price_with_and_without_a_sale_is_once(after, html, count):
    """Of two parts with one price and different classes, of which style sheets hide one, the first stays."""
    assert after(f"<div>{html}</div>").count("98") == count


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<a href=/r><div></div><span>4.9</span><i></i><span>1,113 reviews</span></a>", "[4.9 1,113 reviews]"),
        ("<div>Published by:<a href=/v>Valve</a></div>", "Published by: [Valve]"),
        ("<div><span class=at>2 May, 9:47</span><a href=/a>View all</a></div>", "2 May, 9:47 [View all]"),
        ("<div><span><svg></svg><span>In stock</span></span><span>Free delivery</span></div>", "In stock Free"),
    ],
)
def test_facts_beside_icons_links_and_names_are_apart(within, html, text):
    """Neither an icon, an empty element nor a link among facts makes them run together, nor a name with a colon."""
    assert text in within(html)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<div>std::<a href=/v>Vector</a></div>", "std::[Vector]"),
        ("<div>12:<span>30</span></div>", "12:30"),
        ("<p>Kettle<a href=/l>Land</a></p>", "Kettle[Land]"),
    ],
)
def test_names_of_code_times_and_words_stay_together(within, html, text):
    """A name with two colons, a time and a word of which a part is a link are not set apart."""
    assert text in within(html)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<span><price><div>$</div><b>549</b><div>.00</div></price></span>", "$549.00"),
        ("<div><i></i>$<strong>698</strong><sup>.00</sup></div>", "$698.00"),
        ("<div><div><sup>$</sup></div><div>49</div><div>/mo</div></div>", "$49/mo"),
        ("<table><tr><td>$<td>5.00<tr><td>$<td>6.00</table>", "| $ | 5.00 |"),
    ],
)
def test_a_price_is_in_one_line(within, html, text):
    """The sign, the amount and the cents of a price that are blocks of their own are one line, but cells stay cells."""
    assert text in within(html)
