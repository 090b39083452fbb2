"""Results as tables on a terminal."""

import pytest

from webdata.faces.administration.result_tables import print_results
from webdata.faces.administration.tables import cut, text_width
from webdata.resources.news_search import NEWS_SEARCH
from webdata.resources.web_search import WEB_SEARCH

TITLES = [
    "Short",
    "東京のおすすめ喫茶店とコーヒー豆の選び方について" * 2,
    "Café crème " * 20,
    "قهوة" * 30,
    "👩‍👩‍👧 family",
]
RESULTS = [{"title": title, "link": f"https://a.example/{'x' * 200}", "metadata": {}} for title in TITLES]


@pytest.mark.parametrize("columns", [80, 100, 200])
def test_a_table_fits(capsys, columns):
    """No line is wider than the terminal, and the columns of all lines begin at the same place."""
    print_results(WEB_SEARCH, {"results": RESULTS}, columns)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + len(RESULTS)
    assert max(map(text_width, lines)) <= columns
    begin = lines[0].index("link")
    assert {text_width(line[: line.index("https://")]) for line in lines[1:]} == {begin}


def test_dates_and_sources_need_room(capsys):
    """They are there on a wide terminal."""
    entry = {"title": "a", "link": "https://a.example/", "published": "Fri, 16 Dec 2022", "source": {"title": "Bean"}}
    for columns, there in ((80, False), (120, True)):
        print_results(NEWS_SEARCH, {"entries": [entry]}, columns)
        out = capsys.readouterr().out
        assert ("Fri, 16 Dec 2022" in out, "Bean" in out) == (there, there)


def test_nothing_found_is_a_head(capsys):
    """A table without rows has the names of its columns."""
    print_results(WEB_SEARCH, {"results": []}, 80)
    assert capsys.readouterr().out.split() == ["#", "title", "link"]


def test_no_title_commands_the_terminal(capsys):
    """Characters that terminals obey are replaced."""
    print_results(WEB_SEARCH, {"results": [{"title": "a\x1b[31mb\u202e", "link": "https://a.example/"}]}, 80)
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("東京都", 5, "東京…"),
        ("東京都", 4, "東…"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
    ],
)
def test_a_text_is_cut_by_its_width(text, width, shown):
    """East Asian characters take two columns, combining ones none."""
    assert cut(text, width) == shown
    assert text_width(shown) <= width
