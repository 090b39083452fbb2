"""The metadata and the structured data of a page."""

import pytest

from webdata.pages._url.facts import lists_and_facts
from webdata.pages._url.selection import Selection, TooComplexError

HTML = (
    '<html lang="de"><head><title> A  title </title><link rel="shortcut icon" href="/i.png">'
    '<link rel="canonical" href="/page"><meta name="Description" content="short">'
    '<meta property="og:description" content="long"><meta property="og:image" content="/a.png">'
    '<meta property="og:image" content="/b.png"><meta name="twitter:card" content="summary">'
    '<meta property="article:published_time" content="2026-11-01"></head>'
    '<body><a href="x">X</a> <a href="x"> X </a> <a href="#">top</a> <a href="javascript:go()">go</a>'
    '<img src="data:image/gif;base64,R0" data-src="/p.png" alt="A pot"><p><a href="/y">Y</a></p></body>'
)


def made(html=HTML, **selectors):
    return lists_and_facts(html, "https://a.example/d/", "utf-8", Selection(**selectors))


def test_metadata_are_what_the_page_says_of_itself():
    """The best of several names counts; addresses are absolute, and what is unknown is null."""
    found = made()["metadata"]
    assert {name: value for name, value in found.items() if value} == {
        "title": "A title",
        "language": "de",
        "canonical": "https://a.example/page",
        "description": "short",
        "published": "2026-11-01",
        "image": "https://a.example/a.png",
        "icon": "https://a.example/i.png",
    }
    assert found["author"] is None


METAS = '<meta name="{}" content="{}">'


@pytest.mark.parametrize(
    ("metas", "author"),
    [
        ([("author", "By Ann Lee")], "Ann Lee"),
        ([("author", "by: Ann"), ("author", "Bob"), ("author", "Bob")], "Ann, Bob"),
        ([("author", "https://a.example/ann"), ("author", "Ann")], "Ann"),
        ([("article:author", "//a.example/ann"), ("citation_author", "Lee, Ann")], "Lee, Ann"),
        ([("article:author", "https://a.example/ann")], None),
        ([("author", ". ."), ("author", "{{ author }}"), ("dc.creator", "Ann")], "Ann"),
        ([("author", "Byron")], "Byron"),
    ],
)
def test_authors_are_names(metas, author):
    """All of them, without the word before a name; addresses and what a program has not filled are none."""
    assert made("".join(METAS.format(*meta) for meta in metas))["metadata"]["author"] == author


@pytest.mark.parametrize("name", ["og:article:published_time", "parsely-pub-date", "citation_date", "DC.date.issued"])
def test_dates_have_the_names_of_many_programs(name):
    """What the page was last changed on is never when it was published."""
    html = METAS.format("article:modified_time", "2026-11-05") + METAS.format(name, "2026-11-01")
    found = made(html)["metadata"]
    assert (found["published"], found["modified"]) == ("2026-11-01", "2026-11-05")
    assert made(METAS.format("article:modified_time", "2026-11-05"))["metadata"]["published"] is None


def test_terms_of_libraries_are_known():
    """Dublin Core has a title and an abstract in names of its own: https://www.dublincore.org/schemas/"""
    found = made(METAS.format("DCTERMS.title", "A") + METAS.format("DCTERMS.abstract", "On B"))["metadata"]
    assert (found["title"], found["description"]) == ("A", "On B")


def test_metadata_have_what_only_structured_data_say():
    """Elements meta come first, as the page's own words for it."""
    article = (
        '{"@type": "Article", "headline": "A", "author": [{"name": "Ann"}, {"name": "Bob"}], "publisher": "Journal", '
        '"datePublished": "2026-11-01", "image": "/a.png", "description": "long"}'
    )
    found = made(f'<script type="application/ld+json">{article}</script>{METAS.format("description", "short")}')
    assert {name: value for name, value in found["metadata"].items() if value} == {
        "title": "A",
        "description": "short",
        "author": "Ann, Bob",
        "published": "2026-11-01",
        "site": "Journal",
        "image": "https://a.example/a.png",
    }


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ('<title> </title><meta property="og:title" content="Of meta"><h1>Shown</h1>', "Of meta"),
        ("<h1> </h1><h1>Shown</h1>", "Shown"),
        ("<h1>One</h1><h1>Two</h1>", None),
    ],
)
def test_a_page_without_a_title_has_that_of_its_headline(html, title):
    """The only one, unless its elements meta have a title."""
    assert made(html)["metadata"]["title"] == title


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ('<html xml:lang="de">', "de"),
        ('<html lang=""><body lang="de">', "de"),
        (f"<html>{METAS.format('og:locale', 'en_GB')}{METAS.format('DC.language', 'de')}", "de"),
    ],
)
def test_a_language_may_stand_elsewhere(html, language):
    """On the elements around the text, else in an element meta."""
    assert made(html)["metadata"]["language"] == language


def test_values_of_meta_are_texts():
    """Programs write them with names of characters and markup; a site is no address."""
    html = METAS.format("description", "Salt &amp;amp; pepper&amp;#8230; by &lt;b&gt;Ann&lt;/b&gt;")
    html += METAS.format("og:site_name", "https://a.example") + METAS.format("application-name", "a.example")
    found = made(html + METAS.format("og:image", "/a.png?a=1&amp;amp;b=2"))["metadata"]
    assert found["description"] == "Salt & pepper… by Ann"
    assert (found["site"], found["image"]) == ("a.example", "https://a.example/a.png?a=1&b=2")


def test_an_element_meta_may_have_several_properties():
    """RDFa has them in one attribute."""
    found = made('<meta property="og:title  dc:creator" content="Both">')
    assert (found["metadata"]["title"], found["metadata"]["author"]) == ("Both", "Both")
    assert found["structured"]["opengraph"] == {"og:title": "Both"}


def test_structured_data_are_grouped_by_their_kind():
    """A name with several values has a list of them."""
    found = made()["structured"]
    assert found["opengraph"]["og:image"] == ["/a.png", "/b.png"]
    assert (found["twitter"], found["meta"]) == ({"twitter:card": "summary"}, {"description": "short"})
    assert (found["json_ld"], found["unread"], found["microdata"]) == ([], 0, [])


def test_links_and_pictures_are_listed_once():
    """Links to documents, and pictures that scripts would load, with absolute addresses."""
    found = made()
    assert found["links"] == [
        {"url": "https://a.example/d/x", "text": "X"},
        {"url": "https://a.example/y", "text": "Y"},
    ]
    assert found["images"] == [{"url": "https://a.example/p.png", "alt": "A pot"}]


def test_lists_are_of_the_selected_parts():
    """What the page says of itself does not depend on selectors."""
    found = made(include=["p"])
    assert [link["text"] for link in found["links"]] == ["Y"]
    assert (found["images"], found["metadata"]) == ([], made()["metadata"])


def test_a_page_beyond_the_bounds_is_refused():
    """Its parsing could take minutes."""
    with pytest.raises(TooComplexError):
        made("<p>" * 90_000)


def test_addresses_of_a_page_have_room_together():
    """Thousands of links and pictures relative to a long address would be a hundred times as long as their page."""
    found = made(f'<base href="/{"y" * 3900}/">' + "".join(f"<a href={n}>x</a><img src={n}>" for n in range(4000)))
    assert all(1000 < len(found[name]) < 3000 for name in ("links", "images"))
