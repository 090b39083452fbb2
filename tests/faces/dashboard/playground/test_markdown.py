"""Markdown as HTML."""

from time import thread_time

import lxml.html
import pytest

from webdata.faces.dashboard.playground.markdown import MOST_BRACKETS, MOST_RENDERED, rendered
from webdata.faces.dashboard.playground.values import safe_link

ATTACKS = [
    "<script>alert(1)</script>",
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt&#58;alert(1))",
    "![a](https://a.example/x.png)",
    '![a](x" onerror="alert(1))',
    "<a href=x onclick=alert(1)>",
    "[a](data:text/html;base64,PHNjcmlwdD4=)",
    '[a](https://a.example/ "t\\" onmouseover=\\"alert(1)")',
    "```\n</code></pre><script>alert(1)</script>\n```",
    '<svg onload="alert(1)"> <iframe src="https://a.example">',
    "[a]: javascript:alert(1)\n\n[a]",
    '<style>*{display:none}</style> <form action="https://a.example">',
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_but_text_and_links_of_the_web(attack):
    """No script, style, form, picture or handler comes of a text; links go to http and https, and carry no trust."""
    root = lxml.html.fromstring(f"<div>{rendered(attack)[0]}</div>")
    assert {one.tag for one in root.iter()} <= {"div", "p", "a", "pre", "code"}
    assert {name for one in root.iter() for name in one.attrib} <= {"href", "rel", "dir"}
    for link in root.iter("a"):
        assert link.get("rel") == "noopener noreferrer nofollow"
        assert (link.get("href") or "https:").startswith("https:")


def test_what_a_page_has():
    """Headings stand below those of the page, with lists, tables, code and quotes as they are."""
    text = "# A\n\n## B\n\n- one\n- two\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n> q\n\n```\ncode\n```\n\n[l](https://a.example/)"
    root = lxml.html.fromstring(f"<div>{rendered(text)[0]}</div>")
    assert [root.find(f".//{tag}").text for tag in ("h3", "h4", "li", "th", "td", "code", "a")] == [
        *("A", "B", "one", "x", "1", "code\n", "l")
    ]


@pytest.mark.parametrize("text", ["a", "[a](https://a.example) " * 400, "a\n" * 5_000])
def test_a_text_of_usual_length_is_whole(text):
    """A page of thousands of characters and hundreds of links is shown to its end."""
    assert rendered(text)[1]


@pytest.mark.timed
@pytest.mark.parametrize(
    "piece", ["[", "![", "![a](", "[[a](b)", "**a", "<", "> ", "1. a\n", "- ", "&#x0;", "| a ", "`", "\\", "\u202e"]
)
def test_slow_texts_end(piece):
    """Texts that are made to take long take a moment, and give a page of bounded size."""
    rendered("")
    began = thread_time()
    html, is_whole = rendered(piece * (1_000_000 // len(piece)))
    assert thread_time() - began < 1.5  # a tenth of a second where no lines are counted
    assert not is_whole
    assert html.count("[") <= MOST_BRACKETS
    assert len(html) < 5 * MOST_RENDERED


@pytest.mark.parametrize("blank", ["\t", "\n", "\r", "\0", "\x01", "&Tab;", "&NewLine;", "%09", "\\t"])
@pytest.mark.parametrize("scheme", ["javascript:alert(1)", "vbscript:a", "data:text/html,x"])
def test_a_link_with_blanks_in_its_scheme_is_none(scheme, blank):
    """Browsers take tabs and lines out of a URL: no link of another scheme than http is shown, wherever they stand."""
    for url in (blank + scheme, scheme[:4] + blank + scheme[4:], scheme.replace(":", blank + ":")):
        assert safe_link(url) is None
        for text in (f"[a]({url})", f"[a](<{url}>)", f"![a](<{url}>)", f"[a]\n\n[a]: <{url}>", f"<{url}>"):
            assert "href" not in rendered(text)[0]
    assert safe_link(f"https://a.example/{blank}x") is None or blank.isprintable()
