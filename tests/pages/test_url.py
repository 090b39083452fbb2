"""Pages at any URL: saved and generated ones, as they were sent and as Markdown."""

import sys
import time
from base64 import b64decode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.composed_pdf import PLAIN, with_pages
from webdata.domain.errors import UnsupportedContentError
from webdata.pages.url import decoded, page, removals

URL = "https://site.example.org/a/page.html"
PROSE = "A sentence of the page that is long enough to be read as prose, and then some words more than that. " * 4


def got(body, content_type="text/html", response_type="markdown", content="page", **options):
    data = body if isinstance(body, bytes) else body.encode()
    headers = {"Content-Type": content_type}
    return page(data, url=URL, status=200, headers=headers, response_type=response_type, content=content, **options)


def markdown(body, content_type="text/html; charset=utf-8"):
    return got(f"<body><article><p>{PROSE}</p>{body}</article></body>", content_type)["data"]


def test_the_full_record_has_text_headers_and_configuration():
    """The full record has the text as it was sent, lower-case header names and the query."""
    assert got("<p>ü", response_type="full") == {
        "data": "<p>ü",
        "status": 200,
        "headers": {"content-type": "text/html"},
        "config": {
            "url": URL,
            "method": "GET",
            "response_type": "full",
            "content_type": "text/html",
            "encoding": "utf-8",
        },
    }


def test_a_document_is_given_in_formats():
    """A PDF has Markdown, text and what it says of itself, and no elements: what needs those is refused by name."""
    known = {"url": "https://example.com/a.pdf", "status": 200, "headers": {}, "response_type": "markdown"}
    body = with_pages([PLAIN])
    made = page(body, **known, formats=["text", "metadata", "links"])
    assert made["text"].strip() in page(body, **known)["data"]
    assert (made["metadata"]["title"], made["links"], made["document"]["pages"]) == ("A composed document", [], 1)
    for options in ({"formats": ["html"]}, {"include": ["p"]}):
        with pytest.raises(UnsupportedContentError, match=r"which has no (HTML|elements to select)"):
            page(body, **known, **options)


def test_formats_are_made_of_one_page():
    """The record has each of them, and of Markdown what it leaves out; a page without elements has no links."""
    html = f"<title>T</title><article><h1>T</h1><p>{PROSE}<a href='b'>B</a></p></article>"
    formats = ["markdown", "html", "text", "links", "images", "metadata", "structured"]
    found = got(html, formats=formats)
    assert [*found] == ["url", "status", "content_type", *formats, "left_out"]
    assert found["markdown"].startswith(f"# T\n\n{PROSE}")
    assert (found["html"], found["links"]) == (html, [{"url": "https://site.example.org/a/b", "text": "B"}])
    assert found["text"] == f"T\n{PROSE}B\n"
    assert (found["metadata"]["title"], found["structured"]["json_ld"]) == ("T", [])
    assert got('{"a": 1}', "application/json", formats=["text", "links"])["text"] == '{"a": 1}'
    with pytest.raises(UnsupportedContentError):
        got(b"%PDF-1.7 ...", formats=["html"])


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"%PDF-1.7 ...", "text/html"),
        (b"\x89PNG\r\n\x1a\n....", "image/png"),
        (b"PK\x03\x04 rest", ""),
        (b"\0\1\2\3\4\5\6\7" * 20, "text/plain"),
        (b"RIFF1234WEBPVP8 ", "image/webp"),
        (bytes(range(256)) * 2000 + b"x", "application/octet-stream"),
    ],
)
def test_binary_content_is_base64_or_refused(body, content_type):
    """Binary content is base64 in full, and refused with its type as Markdown."""
    full = got(body, content_type, "full")
    assert b64decode(full["data"]) == body
    assert full["config"]["encoding"] == "base64"
    with pytest.raises(UnsupportedContentError) as caught:
        got(body, content_type)
    assert caught.value.content_type == full["config"]["content_type"]


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        ('{"a": "```"}', "application/json", '```json\n{"a": "```"}\n```\n'),
        ("<?xml version='1.0'?><a/>", "application/rss+xml", "```xml\n<?xml version='1.0'?><a/>\n```\n"),
        ("a,b\n1,*2*\n", "text/csv", "a,b\n1,*2*\n"),
        ("plain <b>words</b>", "text/plain", "plain <b>words</b>"),
        ("two\0words", "text/plain", "two\ufffdwords"),
        ('{"a": "\0"}', "application/json", '```json\n{"a": "\ufffd"}\n```\n'),
        ("The <html> element is the root.", "text/markdown", "The <html> element is the root."),
        ('const page = "<html>";', "text/javascript", 'const page = "<html>";'),
        ("GIF89a is a format.", "text/plain", "GIF89a is a format."),
        (")]}',\n[1]", "text/html", "```json\n)]}',\n[1]\n```\n"),
        ('{"a":"<b>"}\n{"a":NaN}\n', "text/html", '```json\n{"a":"<b>"}\n{"a":NaN}\n```\n'),
        ('{"a": "\\ud83d <b>"}', "", '```json\n{"a": "\\ud83d <b>"}\n```\n'),
    ],
)
def test_text_that_is_no_html(body, content_type, expected):
    """JSON and XML are in a block of their language; plain text is unchanged but for NUL, whatever it begins with."""
    assert got(body, content_type)["data"] == expected


@pytest.mark.parametrize(
    "content_type", ["*/*", "unknown/unknown", "application/octet-stream", "text/plain, text/html"]
)
def test_markup_of_no_known_type_is_a_page(content_type):
    """A page whose header names no type, or that of a page last, is read as one."""
    assert got("<p>some <b>words</b></p>", content_type)["data"] == "some **words**\n"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h2>Part</h2>", "## Part"),
        ('<p>See <a href="../b?x=(1)">this</a>.</p>', "[this](https://site.example.org/b?x=%281%29)"),
        ('<p><a href="javascript:go()">Run</a></p>', "\nRun\n"),
        ('<img src="data:," data-src="/i.png" alt="A cat">', "![A cat](https://site.example.org/i.png)"),
        (
            '<a href="/wiki/File:I.jpg"><img src="/t/I.jpg/9px-I.jpg"></a>',
            "[![](https://site.example.org/t/I.jpg/9px-I.jpg)](https://site.example.org/wiki/File:I.jpg)",
        ),
        ('<img src="/i.png" alt="IMG_3886.jpg">', "![](https://site.example.org/i.png)"),
        ('<a href="/i.jpg?x"><img src="/i-300.jpg" alt="A cat"></a>', "![A cat](https://site.example.org/i.jpg?x)"),
        (
            '<a href="/cat"><img src="/i.jpg"></a>',
            "[![](https://site.example.org/i.jpg)](https://site.example.org/cat)",
        ),
        ('word<a href="#gone">[4]</a>', "word[4]\n"),
        ("<ol><li>one<li>two</ol>", "1. one\n2. two"),
        ("<ul><li>one</li><ul><li>inner</li></ul></ul>", "- one\n  - inner"),
        ("<table><tr><th>A<th>B<tr><td>1<td>2</table>", "| A | B |\n| --- | --- |\n| 1 | 2 |"),
        ("<table><tr><td><table><tr><td>x<td>y</table></table>", "| x | y |"),
        ('<pre class="language-py">a\n  <span>b</span></pre>', "```py\na\n  b\n```"),
        ('<p>word<sup><a href="#n">[1]</a></sup></p><ol><li id="n">The note.</li></ol>', "[^1]: The note."),
        (
            '<p>word<sup><a href="#n">1</a><a href="#m">2</a></sup></p><p id="n">One.</p><p id="m">Two.</p>',
            "word[^1][^2]",
        ),
        ("<p>So <math><mfrac><mi>a</mi><mi>b</mi></mfrac></math>.</p>", r"$\frac{a}{b}$"),
        ("<p><math><mi>k</mi></math>heads</p>", "$k$ heads"),
        ("<p><math><mtable><mtr><mi>a</mi><mi>b</mi></mtr></mtable></math>", r"\begin{matrix} a & b \end{matrix}"),
        ('<p><math><mfrac linethickness="0"><mi>n</mi><mi>k</mi></mfrac></math>', r"$\binom{n}{k}$"),
        ('<h2 id="x"><a href="#x">Part</a></h2>', "## Part\n"),
        ("<ul><li>one<li> <li>two</ul>", "- one\n- two"),
        ('<p><math><annotation encoding="application/x-tex">x^2</annotation></math></p>', "$x^2$"),
    ],
)
def test_markup_of_content_is_converted(html, expected):
    """Headings, absolute links, pictures, lists, tables, listings, footnotes and formulas are converted."""
    assert expected in markdown(html)


@pytest.mark.parametrize(
    "html",
    [
        "<nav>Chrome</nav>",
        "<script>Chrome</script>",
        "<style>Chrome</style>",
        "<!-- Chrome -->",
        '<div role="navigation">Chrome</div>',
        '<div class="cookieBanner cookie-consent">Chrome</div>',
        '<div hidden>Chrome</div><p style="display : none">Chrome</p>',
    ],
)
def test_chrome_is_left_out(html):
    """Navigation, banners, scripts and hidden elements are left out; the prose beside them is not."""
    text = markdown(html)
    assert "Chrome" not in text
    assert PROSE.strip()[:60] in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("so *this* is 2*3*4", r"so \*this\* is 2\*3\*4"),
        ("a * b, and one star*", "a * b, and one star*"),
        ("snake_case_name and __init__", r"snake_case_name and \_\_init\_\_"),
        ("type `x`", r"type \`x\`"),
        ("a &lt;div&gt; and 1 &lt; 2", "a &lt;div> and 1 < 2"),
        ("[text](address) of [two]", r"[text\](address) of [two]"),
        ("<code>a*b*_c_</code>", "`a*b*_c_`"),
        ("<math><msub><mi>a</mi><mi>b</mi></msub></math> *x*", r"$a_{b}$ \*x\*"),
        ('<a href="/x">a](b) *c*</a>', r"[a\](b) \*c\*](https://site.example.org/x)"),
    ],
)
def test_characters_that_would_be_markup_are_escaped(text, expected):
    """Text that is markup in Markdown is escaped; code, formulas and lone signs are not."""
    assert f"\n{expected}\n" in markdown(f"<p>{text}</p>")


STORY = "".join(
    f"<p>The paragraph number {n} of the story tells what happened on that day in the town.</p>" for n in range(20)
)


def story(before="", after="", title="The story of the town"):
    body = f"<h1>{title}</h1><div>{before}</div>{STORY}<div>{after}</div>"
    return got(f"<title>{title}</title><body><div><article>{body}</article></div></body>")["data"]


def test_short_blocks_around_an_article_are_left_out():
    """The title and long blocks are not left out."""
    text = story(
        "<p>Filed: <a href='/n'>News</a></p>",
        f"<p>12 views</p><h4>More</h4><p><a href='/2'>Other</a></p><p>{PROSE}</p>",
    )
    assert text.startswith("# The story of the town")
    assert "number 0 of" in text
    assert "number 19 of" in text
    assert PROSE.strip() in text


@pytest.mark.parametrize(
    "end",
    [
        "<pre>x = 1</pre>",
        "<table><tr><th>A<th>B<tr><td>1<td>2</table>",
        "<ul><li>short one</li><li>" + PROSE + "</li></ul>",
    ],
)
def test_content_at_the_end_of_an_article_is_not_left_out(end):
    """Listings, tables and lists with prose are content."""
    assert story(after=end).count("\n") > story().count("\n")


def test_the_block_of_the_pages_description_is_content():
    """The block with the text of the page's description is content with any class name."""
    words = "The note is about the weather of the week in the mountains and the valleys."
    meta = f'<meta property="og:description" content="{words}">'
    text = got(f"{meta}<body><div><p>{PROSE * 5}</p></div><div class='comment-body'><p>{words} {PROSE}</p></div>")[
        "data"
    ]
    assert words in text


def test_comments_are_left_out():
    """Comments are left out of what a page is about even if they are as long as the text, and told as a share."""
    html = f"<body><div>{STORY}</div><div id='comments'>{STORY.replace('story', 'comment')}</div>"
    whole, main = got(html), got(html, content="main")
    assert [text in whole["data"] for text in ("of the story", "of the comment")] == [True, True]
    assert [text in main["data"] for text in ("of the story", "of the comment")] == [True, False]
    assert [round(found["config"]["left_out"], 1) for found in (whole, main)] == [0.0, 0.5]


def test_each_part_that_is_left_out_has_its_rule():
    """The parts that are not in the Markdown are listed with the rule of each."""
    body = f"<body><nav>Home</nav><div>{STORY}</div><button>Buy</button>".encode()
    found = removals(body, "text/html", URL, "page")
    assert [*found] == [("control", "Buy"), ("landmark", "Home")]
    assert removals(b"a,b", "text/csv", URL, "page") == ()


def test_links_are_relative_to_the_base_element():
    """A page's base element is the base of its links."""
    text = got('<base href="/deep/"><p><a href="x">link</a></p>')["data"]
    assert "(https://site.example.org/deep/x)" in text


def test_a_page_without_content_is_converted_as_a_whole():
    """A page of links only has all of them in its Markdown."""
    text = got("<title>T</title><nav><a href='/1'>First</a></nav>")["data"]
    assert "[First](https://site.example.org/1)" in text


def test_the_title_is_without_the_sites_name():
    """The title of the metadata is used, which lacks the site's name."""
    head = '<title>The title | Site</title><meta property="og:title" content="The title">'
    assert got(f"{head}<p>{PROSE}")["data"].startswith("# The title\n\n")


def test_the_headline_is_the_title_where_the_metadata_has_the_sites_name():
    """A headline outside of the text is its title, also where the text has one of its own and the metadata the site."""
    name = "How the kettle came to be a machine &mdash; Ann Lee"
    head = f"<title>{name}</title><meta property=og:title content='{name}'><meta property=og:type content=article>"
    text = f"<article><p>{PROSE * 5}</p><h1>Of steam</h1><p>{PROSE * 5}</p></article>"
    page = f"{head}<div><h1>How the kettle came to be a machine</h1></div><div>{text}</div>"
    assert got(page)["data"].startswith(f"# How the kettle came to be a machine\n\n{PROSE[:10]}")


def test_a_second_heading_that_is_the_title_is_the_headline():
    """A page without a first heading is headed by the second one with the title, which is said once."""
    page = f"<title>Of steam</title><p>{{}}</p><h2>Of steam</h2><p>{PROSE * 5}</p>"
    assert [line for line in got(page.format("News"))["data"].split("\n") if line[:1] == "#"] == ["# Of steam"]
    headed = got(page.replace("<h2>", "<h1>On kettles</h1><h2>", 1).format("News"))["data"]
    assert [line for line in headed.split("\n") if line[:1] == "#"] == ["# On kettles", "## Of steam"]


def test_the_title_is_first():
    """The Markdown begins with the title if the content has no heading of its own."""
    assert got(f"<title>The title</title><p>{PROSE}")["data"].startswith("# The title\n\n")


@pytest.mark.timed
@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 100_000 + "deep",
        "<p " + " ".join(f"a{number}=1" for number in range(100_000)) + ">attributes",
        '<a href="/">x</a>' * 300_000,
        "<script>" * 300_000 + "x",
        "<template>" * 50_000 + "x",
        "<!-- " * 500_000,
        "&#xD800;" * 50_000,
        '<img src="data:image/png;base64,' + "A" * 3_000_000 + '">',
        "<table><tr><td colspan=99999999 rowspan=9999>x</table>" * 200,
        "\0<p>x</p>",
        f"<article {{a=1><p {{}}=2 }}:x=3>{PROSE * 5}</p></article>",
        "",
    ],
)
def test_hostile_pages_are_converted_quickly(body):
    """No content of a page makes the conversion slow."""
    started = time.monotonic()
    got(body)
    assert time.monotonic() - started < 4


@settings(deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["", "text/html", "text/html; charset=utf-16", "x; charset=none"]))
def test_any_bytes_give_a_record_or_are_refused(body, content_type):
    """Any bytes are refused only because of their type."""
    assert isinstance(got(body, content_type, "full")["data"], str)
    try:
        assert isinstance(got(body, content_type)["data"], str)
    except UnsupportedContentError as error:
        assert error.content_type  # noqa: PT017  both ends are right for random bytes


@pytest.mark.slow
@pytest.mark.captures
def test_real_pages_are_converted(captures):
    """Every saved page has Markdown."""
    for file in sorted((captures / "fetch").glob("*.html")):
        assert got(file.read_bytes())["data"].strip(), file.name


@pytest.mark.timed
@pytest.mark.slow
@pytest.mark.captures
def test_real_pages_are_converted_within_a_second(captures):
    """No saved page takes a second of the processor, which coverage slows down."""
    seconds = 3 if sys.gettrace() else 1
    for file in sorted((captures / "fetch").glob("*.html")):
        started = time.process_time()
        got(file.read_bytes())
        assert time.process_time() - started < seconds, file.name


@pytest.mark.captures
def test_real_pages_are_decoded_in_their_charset(captures):
    """Every saved page of another charset has its text."""
    for file in sorted((captures / "fetch").glob("enc-*")):
        truth = (captures / "fetch" / "truth" / f"{file.stem}.truth.txt").read_text()
        text, _ = decoded(file.read_bytes(), None)
        assert text.split() == truth.removeprefix("\ufeff").split(), file.name


@pytest.mark.parametrize(
    "written", ["&#27;", "&#x1b;", "&#01e", "&#27e", "\x1b", "&#&#27;27;", "&\x08#27;", "&#2\x007;", "&#x1\ufdd0b;"]
)
def test_controls_are_lost_however_they_are_written(written):
    """A page with references to controls, whole or such that their removal makes one, is read without them."""
    found = got(f"<body>{written}<script>1</script>{written}<p title='{written}'>{'Words ' * 99}{written}.")["data"]
    assert "Words" in found
    assert not {"\x01", "\x1b"} & {*found}
