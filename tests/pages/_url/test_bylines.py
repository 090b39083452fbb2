"""The line below the headline of an article with its date and its authors."""

import pytest

ARTICLE = '<script type="application/ld+json">{"@type": "NewsArticle"}</script>'
LAST = "until it is about as long as paragraphs use to be."
TEXT = f"<div class=text>{f'<p>The page says a thing or two about its subject, {LAST}</p>' * 12}</div>"
LINE = "<div class=meta>By <a href=/ann>Ann Lee</a><button>Follow</button> on <span>May 5, 2024</span></div>"


def written(read, before, content="page"):
    """The Markdown of an article with this between its headline and its text."""
    return read(f"<title>T</title>{ARTICLE}<div class=top><h1>Machines</h1>{before}</div>{TEXT}", content=content)


@pytest.mark.parametrize(
    "lead", ["", "<p>What they can do, and what they cannot, in a few words more than this line has.</p>"]
)
def test_a_page_says_when_an_article_was_written_and_by_whom(read, lead):
    """The date below the headline is in `page` with the names beside it, once, before the text."""
    text = written(read, lead + LINE)
    assert text.startswith("# Machines\n")
    assert text.partition("The page")[0].count("By [Ann Lee](https://site.example.org/ann) on May 5, 2024") == 1
    assert "Follow" not in text


def test_what_an_article_is_about_is_its_text(read):
    """In `main` the line is left out."""
    assert "May 5, 2024" not in written(read, LINE, content="main")


@pytest.mark.parametrize(
    "before",
    [
        "<div><a href=/other>What others said, May 5, 2024</a></div>",
        "<div>For May 5</div>",
        f"{TEXT}<div class=meta>May 5, 2024</div>",
    ],
)
def test_other_dates_are_not_of_the_article(read, before):
    """The date of a link, one without a year, and one behind the text are not below the headline."""
    assert "May 5" not in written(read, before).partition("The page")[0]
