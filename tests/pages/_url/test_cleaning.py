"""The removal of chrome from a page."""

import pytest

FOUR = "".join(f"<li><a href='/{number}'>Page {number}</a>" for number in range(4))
CELLS = "".join(f"<td><a href='/{number}'>{number}</a>" for number in range(5))
NOTE = "I had the same on two machines of mine, and what helped was to take the newer one of both and wait. "


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"<h2>Downloads</h2><ul>{FOUR}</ul>", "Page 3"),
        (f"<details><summary>S</summary><ul>{FOUR}</ul></details>", "Page 3"),
        (f"<table><tr><th>A<th>B<th>C<th>D<th>E<tr>{CELLS}</table>", "[4]("),
        ("<table><tr><th>A<th>B<tr class=promo><td class=share>cell<td>other</table>", "cell"),
        ("<figure><img src='/i.png' alt=x><figcaption class=social>Caption</figcaption></figure>", "Caption"),
        ("<div class='elementor-widget'><p>Words.</p></div>", "Words."),
        ("<div class='footer-note'>Words.</div>", "Words."),
        ("<div class='rating'>4.5 out of 5</div>", "4.5 out of 5"),
        ("<aside><p>Mind the step.</p></aside>", "Mind the step."),
        ("<div role=alert>Mind the step.</div>", "Mind the step."),
        ("<p class=paywall>For subscribers.</p>", "For subscribers."),
        ("<h2>Comments</h2><p>Comments begin with a hash sign.</p>", "## Comments"),
        ("<p aria-hidden=true>For subscribers.</p>", "For subscribers."),
        ("<picture><source srcset=b.webp><img src='/s.jpg' alt=pic></picture>", "![pic]"),
    ],
)
def test_content_is_not_removed(within, html, expected):
    """Parts of tables, details and figures, titled lists of links, remarks and page builders' wrappers are content."""
    assert expected in within(html)


@pytest.mark.parametrize(
    "html",
    [
        f"<ul>{FOUR}</ul>",
        f"<h3>More from this site</h3><ul>{FOUR}</ul>",
        f"<h3>Das könnte Sie auch interessieren</h3><ul>{FOUR}</ul>",
        "<div class='widget widget_text'><p>Chrome.</p></div>",
        "<aside><p>Chrome with <a href='/x'>a link</a>.</p></aside>",
        "<amp-ad>Chrome</amp-ad><amp-sidebar>Chrome</amp-sidebar>",
        "<div class='site-footer'>Chrome</div>",
        "<div class='paywall-barrier'>Chrome</div>",
        "<div class='author-box'><p>Chrome about the author.</p></div>",
        "<div class='sidebar'><a href='/other'><h1>Another page</h1><p>Chrome</p></a></div>",
        "<p>Kommentare insgesamt: 0</p><p>12 comments</p><p>Comments (3)</p>",
        "<p><span class='x-vh'>Chrome</span></p>",
    ],
)
def test_chrome_is_removed(within, html):
    """Lists of other pages with their headings, widgets, asides with links and advertisements are chrome."""
    assert within(html) == ""


def test_comments_on_an_article_are_removed(read):
    """Comments are removed if an article remains without them."""
    text = read(f"<body><div><p>{NOTE * 9}</p></div><div id=comments><div class=comment><p>I agree. {NOTE}</p></div>")
    assert "I agree" not in text
    assert NOTE.strip() in text


@pytest.mark.parametrize(
    "html",
    [
        f"<p>How does it work?</p><div id=comments><div class=comment><p>So. {NOTE}</p></div></div>",
        f"<div class=question>{NOTE * 9}</div><div id=comments><div class=comment><p>So. {NOTE}</p></div></div>",
        f"<div itemtype='https://schema.org/QAPage'><p>{NOTE * 9}</p><div class=comments><p>So. {NOTE}</div></div>",
    ],
)
def test_answers_are_not_removed(read, html):
    """Answers are content with any class name: below a short question, and on a page with the type of one."""
    assert "So. I had the same" in read(f"<body><h1>Question</h1>{html}")


@pytest.mark.parametrize("name", ["paywall-text", "teaser", "sidebar"])
def test_what_half_of_the_page_is_named_is_content(read, name):
    """A name of chrome on nearly every paragraph is one of content there, though each has little of the page."""
    text = read(f"<title>T</title><h1>T</h1><p>{NOTE}</p>" + f"<div class='{name}'><p>{NOTE}</p></div>" * 20)
    assert text.count(NOTE.strip()) == 21


def test_what_the_publisher_declares_as_paid_is_content(read):
    """The class in `cssSelector` of a page's structured data marks content, whatever its name and however hidden."""
    data = '{"isAccessibleForFree": false, "hasPart": {"@type": "WebPageElement", "cssSelector": ".promo-text"}}'
    text = read(
        f"<script type='application/ld+json'>{data}</script><h1>T</h1><div><p>{NOTE * 3}</p><p>{NOTE * 3}</p>"
        f"<div class='promo-text' style='display: none'><p>For subscribers.</p></div><p>{NOTE * 3}</p></div>"
    )
    assert "For subscribers." in text
