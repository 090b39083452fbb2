"""Lists of results as a model reads them."""

import orjson
import pytest

from webdata.domain.errors import QueryError
from webdata.faces.mcp.results import ListShape, listed
from webdata.faces.mcp.tools import tools_of
from webdata.resources.maps_search import MAPS_SEARCH
from webdata.resources.news_search import NEWS_SEARCH
from webdata.resources.web_search import WEB_SEARCH

TOOLS = tools_of([WEB_SEARCH, NEWS_SEARCH, MAPS_SEARCH])
WEB, NEWS, PLACES = TOOLS["web_search"], TOOLS["news_search"], TOOLS["places_search"]
MOST_TOKENS, MOST_TOKENS_OF_ALL = 1000, 20_000
"""Of ten results as text, and of any answer; a token has four bytes."""


def result(number, **more):
    return {
        "title": f"A title of usual length, by number {number}, which says much",
        "link": f"https://www.example.com/a/path/of/usual/length/{number}/and-words-of-the-title.html",
        "description": "A snippet of words about what the page holds, and what else it may hold. " * 3,
        "metadata": {"date": "Nov 26, 2026", "source": "An Example", **more},
    }


def record(count=1, **more):
    return {"query": "a", "results": [result(number, **more) for number in range(count)], "answers": [{"answer": "42"}]}


def answer(tool, found, **arguments):
    return listed(tool, found, ListShape.read(tool, arguments))


def tokens(value):
    return len(orjson.dumps(value)) / 4


def test_a_result_has_what_a_model_needs():
    """Title, address, date, publisher and snippet, and nothing else."""
    (shown,) = answer(WEB, record()).structured["results"]
    assert set(shown) == {"title", "url", "date", "source", "snippet"}
    assert shown["url"] == "https://www.example.com/a/path/of/usual/length/0/and-words-of-the-title.html"
    assert shown["date"] == "Nov 26, 2026"


def test_the_text_says_the_same_within_a_frame():
    """The text has the results between two marks, and names the other parts of the page behind them."""
    text = answer(WEB, record()).text
    first, begin, title, url, facts, end, others = text.split("\n")
    assert first.startswith("1 of 1 results.")
    assert begin.replace("begin", "end") == end
    assert (title, url) == ("1. A title of usual length, by number 0, which says much", result(0)["link"])
    assert facts.startswith("Nov 26, 2026 · An Example · A snippet of words")
    assert others == "The page has more, for `fields`: answers."


def test_ten_results_are_short():
    """Ten results of usual length have at most 1,000 tokens as text, and as data, by shorter snippets."""
    shown = answer(WEB, record(30))
    assert (shown.structured["found"], len(shown.structured["results"])) == (30, 10)
    assert tokens(shown.text) <= MOST_TOKENS
    assert tokens(shown.structured) <= MOST_TOKENS


def test_no_answer_is_long():
    """A hundred results with all that they have are cut off, and the text says how many there are."""
    shown = answer(WEB, record(100, text="x" * 5000), max_results=100, fields=["metadata", "title", "answers"])
    count = len(shown.structured["results"])
    assert 1 < count < 100
    assert shown.text.startswith(f"{count} of 100 results.")
    assert tokens(shown.text) + tokens(shown.structured) <= MOST_TOKENS_OF_ALL


def test_further_fields_are_shown_as_they_are():
    """Fields of the results stand in them, parts of the page beside them."""
    shown = answer(WEB, record(2), max_results=1, fields=["metadata", "answers"])
    (one,) = shown.structured["results"]
    assert one["metadata"] == {"date": "Nov 26, 2026", "source": "An Example"}
    assert shown.structured["page"] == {"answers": [{"answer": "42"}]}
    assert 'metadata: {"date":"Nov 26, 2026"' in shown.text
    assert '{"answers":[{"answer":"42"}]}' in shown.text


def test_a_summary_that_is_the_title_again_is_left_out():
    """Feeds of news repeat the title and the publisher as a summary."""
    entry = {
        "title": "A storm - The Post",
        "link": "https://a.example/",
        "summary": '<a href="https://a.example/">A storm</a>&nbsp;<font>The Post</font>',
        "source": {"title": "The Post"},
    }
    (shown,) = answer(NEWS, {"entries": [entry]}).structured["results"]
    assert shown == {"title": "A storm - The Post", "url": "https://a.example/", "source": "The Post"}


def test_of_several_paths_the_first_with_a_value_counts():
    """A place without a website has its address on the map."""
    place = {"name": "Café", "website": None, "google_maps_url": "https://maps.example/", "address": "1 Mill Lane"}
    (shown,) = answer(PLACES, {"places": [place]}).structured["results"]
    assert shown == {"title": "Café", "url": "https://maps.example/", "snippet": "1 Mill Lane"}


def test_an_address_is_whole_or_absent():
    """A cut address would lead nowhere."""
    found = {"results": [{"title": "a", "link": "https://a.example/" + "x" * 3000}]}
    assert answer(WEB, found).structured["results"] == [{"title": "a"}]


def test_nothing_found_is_said():
    """An empty list says that the site said so."""
    shown = answer(WEB, {"results": []})
    assert shown.structured == {"found": 0, "results": []}
    assert shown.text == "Nothing was found: the site itself says so. Try other words."


def test_a_page_without_results_has_other_parts():
    """A page that has an answer instead of results is not one on which nothing was found."""
    shown = answer(WEB, {"results": [], "answers": [{"answer": "42"}]})
    assert shown.text == "The page lists no results.\nThe page has more, for `fields`: answers."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_results": 0}, "max_results is no whole number from 1 to 100"),
        ({"max_results": True}, "max_results is no whole number from 1 to 100"),
        ({"max_results": "few"}, "max_results is no whole number from 1 to 100"),
        ({"fields": "title"}, "fields is no list of names of fields"),
        ({"fields": [1]}, "fields is no list of names of fields"),
        ({"fields": ["rating"]}, "fields cannot have 'rating': the fields are title, description"),
    ],
)
def test_a_wrong_shape_is_refused(arguments, message):
    """The message names the argument, and what would be right."""
    with pytest.raises(QueryError, match=message):
        ListShape.read(WEB, arguments)
