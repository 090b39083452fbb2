"""Markdown as HTML."""

from time import perf_counter

import lxml.html
import pytest

from webdata.dashboard.playground.markdown import MOST_RENDERED, rendered

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
    root = lxml.html.fromstring(f"<div>{rendered(attack)}</div>")
    assert {one.tag for one in root.iter()} <= {"div", "p", "a", "pre", "code"}
    assert {name for one in root.iter() for name in one.attrib} <= {"href", "rel", "dir"}
    for link in root.iter("a"):
        assert link.get("rel") == "noopener noreferrer nofollow"
        assert (link.get("href") or "https:").startswith("https:")


def test_what_a_page_has():
    """Headings stand below those of the page, with lists, tables, code and quotes as they are."""
    text = "# A\n\n## B\n\n- one\n- two\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n> q\n\n```\ncode\n```\n\n[l](https://a.example/)"
    root = lxml.html.fromstring(f"<div>{rendered(text)}</div>")
    assert [root.find(f".//{tag}").text for tag in ("h3", "h4", "li", "th", "td", "code", "a")] == [
        *("A", "B", "one", "x", "1", "code\n", "l")
    ]


@pytest.mark.timed
@pytest.mark.parametrize(
    "piece", ["[", "![a](", "**a", "<", "> ", "1. a\n", "- ", "&#x0;", "| a ", "`", "\\", "\u202e"]
)
def test_slow_texts_end(piece):
    """Texts that are made to take long take a moment, and give a page of bounded size."""
    began = perf_counter()
    html = rendered(piece * (1_000_000 // len(piece)))
    assert perf_counter() - began < 3
    assert len(html) < 5 * MOST_RENDERED
