"""Blocks before and after the text of an article."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml.html import document_fromstring

from webdata.pages._url.dropping import Removals
from webdata.pages._url.ends import trimmed
from webdata.pages._url.page_kinds import PageKind

TABLE = "<table><tr><th>A<th>B<tr><td>1<td>2<tr><td>3<td>4</table>"
FOUR = "".join(f"<li><a href='/{number}'>Page {number}</a>" for number in range(4))


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"<h2>Prices</h2>{TABLE}", "## Prices\n\n| A | B |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"),
        ("<h2>Cities</h2><ul><li>Rome<li>Paris</ul>", "## Cities\n\n- Rome\n- Paris"),
        ("<h2>Files</h2><ul><li><a href='http://x.example/'>A</a></ul>", "## Files\n\n- [A](http://x.example/)"),
        ("<p>Call 123.</p>", "Call 123."),
        ("<p><a href='tel:+12'>+12</a></p>", "[+12](tel:+12)"),
        (
            "<p>Source: <a href='https://x.example/'>The other paper</a></p>",
            "Source: [The other paper](https://x.example/)",
        ),
        ("<p>See <a href='/x'>https://site.example.org/x</a></p>", "See <https://site.example.org/x>"),
        ("<p>€ 49.90</p><p>In stock</p>", "€ 49.90\n\nIn stock"),
        ("<dl><dt>Weight<dd>2 kg</dl>", "**Weight**\n\n2 kg"),
        ("<figure><img src='http://x.example/p' alt=A><figcaption>Cap", "![A](http://x.example/p)\n\nCap"),
        ("<details><summary>More</summary><p>Inside.</p></details>", "**More**\n\nInside."),
        ("<h2>Conclusion</h2><p>Buy now.</p>", "## Conclusion\n\nBuy now."),
        ("<h2>Update</h2><p>Sold out.</p>", "## Update\n\nSold out."),
        ("<blockquote><p>Short.</p><footer>Who said it</footer></blockquote>", "> Short.\n>\n> Who said it"),
    ],
)
def test_content_after_an_article_is_not_removed(after, html, expected):
    """Short facts, tables, lists, terms, captions and details after an article stay, with their headings."""
    assert after(html) == expected


def test_the_only_link_of_a_record_stays_with_its_title(after):
    """Behind an article a link below a heading is where that leads."""
    records = "".join(f"<div><div><h3>Part {n}</h3></div><p><a href='/{n}'>Learn more</a></p></div>" for n in range(2))
    more = "[Learn more](https://site.example.org"
    assert after(records) == f"### Part 0\n\n{more}/0)\n\n### Part 1\n\n{more}/1)"


@pytest.mark.parametrize(
    "html",
    [
        "<p><a href='/t'>One tag</a>, <a href='/u'>another</a></p>",
        "<h3>Next</h3><p><a href='/n'>The next story</a></p>",
        f"<h3>Related</h3><ul>{FOUR}</ul>",
        "<table><tr><td><div><a href='/'>To the first page</a></div></table>",
        "<nav>Chrome</nav><div class=share>Chrome</div><div class='shareButtons'>Chrome</div>",
    ],
)
def test_chrome_after_an_article_is_removed(after, html):
    """Lines of links and named chrome after an article are removed, with headings that nothing follows then."""
    assert after(html) == ""


def test_links_before_an_article_are_removed(read):
    """A line of links before the text is removed; a date and a place are not."""
    text = "A sentence of the page that is long enough to count as prose, because prose is known by its length. "
    html = f"<h1>T</h1><p><a href='/n'>News</a> / <a href='/c'>City</a></p><p>Lisbon, May 4</p><p>{text * 9}</p>"
    assert read(f"<article>{html}</article>").startswith("# T\n\nLisbon, May 4\n\nA sentence")


def test_links_between_listings_are_within_the_text(read):
    """A listing is text: a line of links behind the first one is no chrome before the prose."""
    text = "A sentence of the page that is long enough to count as prose, because prose is known by its length. "
    code = f"<pre>{'print(1)  # a line of code' * 9}</pre>"
    html = f"<h1>T</h1><p><a href='/n'>News</a></p>{code}<p><a href='/2'>May 4</a></p>{code}<p>{text * 9}</p>"
    written = read(f"<article>{html}</article>")
    assert ("News" in written, "May 4" in written) == (False, True)


def test_the_canonical_host_is_the_sites(read):
    """Links to the canonical host of a saved page are links to its site."""
    text = "A sentence of the page that is long enough to count as prose, because prose is known by its length. "
    html = f"<p>{text * 9}</p><p><a href='https://www.home.example/2'>Other page</a></p>"
    assert "Other page" in read(html)
    assert "Other page" not in read(f"<link rel=canonical href='https://home.example/1'>{html}")


@given(st.lists(st.sampled_from(["<p>Short", "<p>" + "long words " * 9, "<h2>Head", "<ul><li>item", "<dl><dd>fact"])))
def test_no_text_outside_links_is_lost(parts):
    """Nothing is removed from a page without links and labels."""
    part = document_fromstring(f"<body><div>{'</p>'.join(parts)}</div>" + "<p>" + "long words " * 99)
    words = part.text_content()
    trimmed(part, {"site.example.org"}, PageKind.ARTICLE, None, Removals())
    assert part.text_content() == words


def test_the_dates_of_the_first_and_the_last_post_stay(read):
    """A line of a post that is a link to it says when it was written, before the first text and behind the last."""
    text = "The machine of the house says a thing or two about itself, and goes on for some more words until it ends. "
    posts = "".join(f"<div class=post><p><a href=/p/{n}>5 May 202{n}</a></p><p>{text * 3}</p></div>" for n in range(4))
    page = f"<title>T</title><h1>T</h1><div class=bbp-topic>{posts}<p><a href=/p/9>6 June 2025</a></p></div>"
    assert [date for date in ("5 May 2020", "6 June 2025") if date not in read(page)] == []


def test_the_last_lines_of_documentation_stay(read):
    """A reference at the end of a section of documentation is a part of it; the same behind another text is not."""
    text = "The command of the tool says a thing or two about itself, and goes on for some more words until it ends. "
    page = f"<title>T</title><h1>T</h1><div>{f'<p>{text * 3}</p>' * 4}<p>See <a href=/ref>the reference</a>.</p></div>"
    assert "See [the reference]" in read(f"<meta name=generator content='Sphinx 8'>{page}")
    assert "See [the reference]" not in read(page)
