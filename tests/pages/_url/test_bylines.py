"""Who wrote a page and when, where only its text has it marked."""

import pytest

from webdata.pages._url.facts import lists_and_facts
from webdata.pages._url.selection import Selection

TIME = '<time class="published" datetime="2026-11-0{}">x</time>'


def metadata(html):
    return lists_and_facts(html, "https://a.example/d/", "utf-8", Selection())["metadata"]


@pytest.mark.parametrize(
    ("html", "author"),
    [
        ('<a rel="author" href="/ann">Ann Lee</a>', "Ann Lee"),
        ('<a rel="nofollow author" href="/ann">By Ann Lee</a>', "Ann Lee"),
        ('<a rel="author" href="/ann"><img src="a.png"></a><a rel="author" href="/ann">Ann</a>', "Ann"),
        ('<a rel="author" href="/ann">Ann</a><a rel="author" href="/ann">More by Ann</a>', "Ann"),
        ('<a rel="author" href="/ann">Ann</a><a rel="author" href="/bob">Bob</a>', None),
        (f'<a rel="author" href="/ann">{"word " * 50}</a>', None),
        ('<p><meta itemprop="author" content="Ann"></p>', "Ann"),
        ('<div itemscope><meta itemprop="author" content="Ann"></div>', None),
        ('<meta name="author" content="Bob"><a rel="author" href="/ann">Ann</a>', "Bob"),
    ],
)
def test_the_only_author_that_links_name_is_that_of_the_page(html, author):
    """Links to several are those of a list; elements meta and items come first."""
    assert metadata(html)["author"] == author


@pytest.mark.parametrize(
    ("html", "published"),
    [
        ('<time datetime="2026-11-01T10:00:00Z" pubdate>Sunday</time>', "2026-11-01T10:00:00Z"),
        ('<time class="entry-date published" datetime="2026-11-01">1 November</time>', "2026-11-01"),
        ('<time class="updated" datetime="2026-11-01">1 November</time>', None),
        ('<time datetime="2026-11-01">1 November</time>', None),
        (f"{TIME.format(1)}{TIME.format(2)}", None),
        ('<p><meta itemprop="datePublished" content="2026-11-01"></p>', "2026-11-01"),
    ],
)
def test_the_only_day_that_is_marked_as_that_of_publication_is_the_page_s(html, published):
    """A time that is marked as nothing else may be that of an event."""
    assert metadata(html)["published"] == published
