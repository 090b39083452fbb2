"""Feeds under any type, as lists of their entries."""

from html import escape
from time import process_time

import pytest

from webdata.domain.errors import UnsupportedContentError
from webdata.pages.url import page

RSS = """<?xml version="1.0"?><!-- a --><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>
<title>News &amp; more</title><link>https://e.example/</link><item><title>It&amp;#8217;s *A*</title><link>/a</link>
<pubDate>Mon, 02 Nov 2026</pubDate><description>Short.</description>
<content:encoded><![CDATA[<p>Full <b>text</b>.</p>]]></content:encoded></item>
<item><title>B</title><link>javascript:x</link></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><link rel="self" href="/f"/><link href="/"/>
<entry><title>A</title><link href="a"/><author><name>Ann</name></author><summary>1 &lt; 2</summary></entry></feed>"""


def read(body, content_type, **options):
    headers = {"Content-Type": content_type}
    return page(
        body.encode(), url="https://site.example/", status=200, headers=headers, response_type="markdown", **options
    )


@pytest.mark.parametrize("content_type", ["text/html", "application/rss+xml", "text/xml", ""])
def test_a_feed_is_a_list_of_entries(content_type):
    """Titles are links, the fullest text of an entry is its text, whatever type the feed is sent with."""
    assert read(RSS, content_type)["data"] == (
        "# [News & more](https://e.example/)\n\n"
        "- [It’s \\*A\\*](https://site.example/a): Mon, 02 Nov 2026\n\n  Full **text**.\n\n- B\n"
    )


def test_an_atom_feed_is_a_list_of_entries():
    """Text of Atom is text unless it says that it is HTML."""
    answer = read(ATOM, "text/html")
    assert answer["data"] == "# [T](https://site.example/)\n\n- [A](https://site.example/a): Ann\n\n  1 < 2\n"
    assert answer["config"]["content_type"] == "application/atom+xml"


def test_a_feed_that_takes_too_long_is_given_as_it_is():
    """A feed of many namespaces, each of which every element would repeat, is XML to whoever has no time to read it."""
    spaces = " ".join(f'xmlns:n{number}="u{number}"' for number in range(3000))
    parts = " ".join(f"<n{number % 3000}:b>x</n{number % 3000}:b>" for number in range(20_000))
    entry = f'<entry><content type="xhtml">{parts}</content></entry>'
    body = f'<feed xmlns="http://www.w3.org/2005/Atom" {spaces}>{entry}</feed>'
    began = process_time()
    given = read(body, "text/xml", bare=True)["data"]
    assert process_time() - began < 5
    assert given == f"```xml\n{body}\n```\n"


@pytest.mark.parametrize(("mark", "title"), [("", "[A](https://e.example/1)"), (" isPermaLink='false'", "A")])
def test_an_id_that_is_an_address_is_that_of_its_entry(mark, title):
    """An entry without a link has its permanent one as its id, unless it says that it is none."""
    text = f"<rss><channel><item><title>A</title><guid{mark}>https://e.example/1</guid></item></channel></rss>"
    assert read(text, "text/xml")["data"] == f"# Feed\n\n- {title}\n"


@pytest.mark.parametrize(("text", "data"), [
    ('{"a": "<p>b</p>"}', '```json\n{"a": "<p>b</p>"}\n```\n'), ("[a] <p>b</p>", "[a]\n\nb\n")
])  # fmt: skip
def test_json_as_html_is_json(text, data):
    """A body that is declared as HTML, but is JSON, is read as such; one that only begins like it is not."""
    assert read(text, "text/html")["data"] == data


def test_a_feed_of_a_broken_namespace_is_read():
    """Its elements have names that no element has."""
    assert read('<feed xmlns="{a}"><entry><title>A</title></entry></feed>', "text/xml")["data"] == "# Feed\n\n- A\n"


@pytest.mark.parametrize("content_type", ["application/pdf", "text/html", "text/plain", ""])
def test_a_document_after_empty_lines_is_a_document(content_type):
    """A PDF is one under any type, also after line ends and without a byte that no text has."""
    with pytest.raises(UnsupportedContentError):
        read("\r\n\n%PDF-1.4\n1 0 obj", content_type)


def test_a_type_of_documents_is_believed():
    """The beginning of a picture or document may look like text; a page of HTML under such a type is a page."""
    with pytest.raises(UnsupportedContentError):
        read("P6 looks like text", "image/x-portable-pixmap")
    assert read("<!doctype html><p>Not found.</p>", "application/pdf")["data"] == "Not found.\n"


def item(inside, namespaces=""):
    """The answer of a feed with one entry."""
    return read(f"<rss {namespaces}><channel><item>{inside}</item></channel></rss>", "application/rss+xml")["data"]


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("<title>Caf&eacute; &ndash; A & B</title>", "- Café – A & B\n"),
        ("<link>https://a.example/?a=1&b=2</link><title>T</title>", "- [T](https://a.example/?a=1&b=2)\n"),
        ("<title>T<![CDATA[ &amp; R]]></title>", "- T & R\n"),
        ("<title><![CDATA[A <b>bold</b> one]]></title>", "- A **bold** one\n"),
        ("<title>The &lt;b&gt; element</title>", "- The &lt;b> element\n"),
        ('<title>T</title><enclosure url="/e.mp3"/>', "- T\n\n  [e.mp3](https://site.example/e.mp3)\n"),
        ('<title>T</title><enclosure url="http://[x/e.mp3?a=/b"/>', "- T\n\n  e.mp3\n"),
        ("<title>1 < 2, 3 <4 &#X41;</title>", "- 1 < 2, 3 <4 A\n"),
        (
            "<title>A <b>bold</b> one</title><description>Now <i>this</i></description>",
            "- A **bold** one\n\n  Now *this*\n",
        ),
        ("<title>A<!-- no --> B</title>", "- A B\n"),
        ("<link>https://a.example/</link><title>&lt;a href='/x'&gt;T&lt;/a&gt;</title>", "- [T](https://a.example/)\n"),
        ("<title>T</title><body><p>Text</p></body>", "- T\n\n  Text\n"),
        ("<title>T</title><description>One\n\nTwo\n2</description>", "- T\n\n  One\n\n  Two 2\n"),
        ("<title>T</title><author>a@a.example (A)</author><author>B</author>", "- T: a@a.example (A), B\n"),
        ("<title>T - Paper</title><source>Paper</source>", "- T - Paper\n"),
        ("<title>T</title><source url='/'>Paper</source>", "- T: Paper\n"),
        ("<title>T</title><source><title>Paper</title><id>1</id></source>", "- T: Paper\n"),
        (
            "<title>T</title><link type='application/json' href='/j'/><link href='/h'/>",
            "- [T](https://site.example/h)\n",
        ),
        ("<title>T</title><id>https://a.example/1</id>", "- [T](https://a.example/1)\n"),
    ],
)
def test_texts_of_an_entry_are_whole(inside, expected):
    """Names of characters and lone signs are text, pairs of tags are markup, files of an entry are links."""
    assert item(inside) == f"# Feed\n\n{expected}"


def test_elements_of_extensions_do_not_replace_those_of_the_feed():
    """The title of an episode's player and the words of its picture are other than those of the entry."""
    spaces = 'xmlns:m="http://search.yahoo.com/mrss/" xmlns:i="http://www.itunes.com/dtds/podcast-1.0.dtd"'
    picture = "<m:content><m:description>picture</m:description></m:content>"
    found = item(f"<i:title>Short</i:title><title>T</title>{picture}<description>Words</description>", spaces)
    assert found == "# Feed\n\n- T\n\n  Words\n"
    group = "<m:group><m:title>V</m:title><m:description>About it</m:description></m:group>"
    assert item(f"<title>T</title>{group}", spaces) == "# Feed\n\n- T\n\n  About it\n"


def test_links_are_relative_to_the_base_of_their_element():
    """`xml:base` of a feed, an entry and its content is that of the links in them."""
    body = '<content type="html" xml:base="z/">&lt;a href="q"&gt;q&lt;/a&gt;</content>'
    entry = f'<entry xml:base="y/"><title>A</title><link href="one"/>{body}</entry>'
    feed = f'<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://b.example/x/">{entry}</feed>'
    found = read(feed, "application/atom+xml")["data"]
    assert found == "# Feed\n\n- [A](https://b.example/x/y/one)\n\n  [q](https://b.example/x/y/z/q)\n"


def test_a_feed_after_a_warning_of_its_server_is_read():
    """What a server has written before the document does not hide its entries; all authors are named."""
    authors = "<author><name>Ann</name></author><author><name>Bob</name></author>"
    feed = f"<b>Warning</b>: x\n<?xml version='1.0'?><feed><entry><title>A</title>{authors}</entry></feed>"
    assert read(feed, "application/atom+xml")["data"] == "# Feed\n\n- A: Ann, Bob\n"


def test_extensions_without_a_declaration_are_read():
    """Many feeds do not declare the prefix of an extension: its elements are those that everyone means."""
    inside = (
        "<title>T</title><itunes:title>Short</itunes:title><dc:creator>Ann</dc:creator><dc:date>2026-01-02</dc:date>"
        "<content:encoded>&lt;p&gt;Full&lt;/p&gt;</content:encoded><description>Short</description>"
    )
    assert item(inside) == "# Feed\n\n- T: 2026-01-02, Ann\n\n  Full\n"


def test_comments_before_a_feed_may_have_markup():
    """An example in a comment is neither a page before the feed nor its root."""
    text = "<?xml version='1.0'?><!-- <p>like <rss></p> --><rss><channel><title>T</title></channel></rss>"
    assert read(text, "text/xml")["data"] == "# T\n"


def test_what_a_feed_is_about_is_markup():
    """Descriptions of feeds are HTML as those of entries are; its author is whose entries name none."""
    about = "<description>&lt;p&gt;About &lt;b&gt;us&lt;/b&gt;&lt;/p&gt;</description><author>Ann</author>"
    feed = f"<rss><channel><title>T</title>{about}<item><title>A</title></item></channel></rss>"
    assert read(feed, "text/xml")["data"] == "# T\n\nAbout **us**\n\nAnn\n\n- A\n"
    older = "<feed xmlns='http://purl.org/atom/ns#'><title>T</title><tagline>About</tagline></feed>"
    assert read(older, "text/xml")["data"] == "# T\n\nAbout\n"


def test_elements_of_xhtml_may_have_a_prefix():
    """Their names are those of HTML without it, and a text that says that it is XML needs none of them."""
    inner = "<h:div>One <h:a href='/q'>l</h:a><h:ul><h:li>a</h:li><h:li>b</h:li></h:ul></h:div>"
    entry = f"<entry><title type='application/xhtml+xml'>A</title><content type='xhtml'>{inner}</content></entry>"
    spaces = "xmlns='http://www.w3.org/2005/Atom' xmlns:h='http://www.w3.org/1999/xhtml'"
    found = read(f"<feed {spaces}>{entry}</feed>", "text/xml")["data"]
    assert found == "# Feed\n\n- A\n\n  One [l](https://site.example/q)\n\n  - a\n  - b\n"
    assert item("<description>A <x:b>b</x:b> <:>c</:></description>") == "# Feed\n\n- A **b** c\n"


def test_links_of_rss_are_relative_to_the_page_of_their_entry():
    """RSS has no base for the links in its texts, which come from that page; what says its own base keeps it."""
    text = "&lt;a href='x'&gt;x&lt;/a&gt; &lt;a href='#y'&gt;y&lt;/a&gt;"
    link = "<title>A</title><link>https://blog.example/posts/1</link>"
    head = "# Feed\n\n- [A](https://blog.example/posts/1)\n\n  "
    assert "[x](https://blog.example/posts/x)" in item(f"{link}<description>{text}</description>")
    based = f"<description xml:base='https://b.example/'>{text}</description>"
    assert item(link + based).startswith(f"{head}[x](https://b.example/x)")


def test_sounds_and_films_of_an_entry_are_links_once():
    """Those of Media RSS are files of it, of a group one; its pictures are beside it, its text has lines."""
    space = 'xmlns:media="http://search.yahoo.com/mrss/"'
    files = (
        '<enclosure url="https://a.example/1.mp3"/><media:content url="https://a.example/1.mp3" type="audio/mpeg"/>'
        '<media:content url="https://a.example/2.jpg" medium="image"/><media:group><media:title>V</media:title>'
        '<media:content url="https://a.example/3.mp4" medium="video"/><media:content url="https://a.example/4.mp4" '
        'medium="video"/><media:description>1 &lt; 2\n3</media:description></media:group>'
    )
    assert item(files, space) == (
        "# Feed\n\n- V\n\n  1 < 2  \n  3\n\n  [1.mp3](https://a.example/1.mp3)\n\n  [3.mp4](https://a.example/3.mp4)\n"
    )
    outside = "<content src='https://a.example/1.mp4' type='video/mp4'/>"
    assert "[1.mp4](https://a.example/1.mp4)" in item(f"<title>T</title>{outside}")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<b>One", "**One**"),
        ("One <a href='https://a.example/'>two", "One [two](https://a.example/)"),
        ("One <a href='https://a.example/", "One"),
        ("One <!-- two", "One"),
        ("One <script>two", "One"),
        ("<textarea>One", "One"),
        ("</div></li></ul><p>One", "One"),
    ],
)
def test_the_text_of_an_entry_ends_with_it(text, shown):
    """Many are cut off: what is open in one is not open in the next entries, nor are these lost in it."""
    entries = f"<item><title>A</title><description>{escape(text)}</description></item><item><title>B</title></item>"
    found = read(f"<rss><channel>{entries}</channel></rss>", "text/xml")["data"]
    assert found == f"# Feed\n\n- A\n\n  {shown}\n\n- B\n"


def test_a_feed_of_more_tags_than_a_page_is_a_list():
    """Of the texts of its last entries the words are read."""
    entry = f"<item><title>A</title><description>{escape('<b>x</b> & <p>y</p>' * 100)}</description></item>"
    found = read(f"<rss><channel>{entry * 300}</channel></rss>", "text/xml")["data"]
    assert found.count("- A\n") == 300
    assert found.startswith("# Feed\n\n- A\n\n  **x** &\n\n  y\n\n")
    assert found.endswith("x & y x & y\n")
