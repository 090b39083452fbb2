"""Links to the documents embedded in a page."""

import pytest

SITE = "https://site.example.org"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<iframe src='//www.youtube.com/embed/abc'></iframe>", "[Video](https://www.youtube.com/embed/abc)"),
        ("<iframe src='/f' title='A chart'></iframe>", f"[A chart]({SITE}/f)"),
        ("<iframe src='https://www.google.com/maps/embed?x'></iframe>", "[Map](https://www.google.com/maps/embed?x)"),
        ("<iframe src='/f' style='border: none'></iframe>", f"[Frame]({SITE}/f)"),
        (
            "<iframe src='https://platform.twitter.com/embed/Tweet.html?id=1'></iframe>",
            "[Frame](https://platform.twitter.com/embed/Tweet.html?id=1)",
        ),
        ("<video><source src=v.mp4>Your browser is old.</video>", f"[Video]({SITE}/a/v.mp4)"),
        ("<audio src='/a.mp3'></audio>", f"[Audio]({SITE}/a.mp3)"),
        ("<object data='/d.pdf'>None.</object>", f"[Document]({SITE}/d.pdf)"),
        ("<amp-youtube data-videoid=x></amp-youtube>", "[Video](https://www.youtube.com/embed/x)"),
        ("<amp-img src='/p.jpg' alt=P><noscript><img src='/p.jpg'></noscript></amp-img>", f"![P]({SITE}/p.jpg)"),
    ],
)
def test_embedded_documents_are_links(within, html, expected):
    """A frame, video, audio or document is replaced by a link, and a picture of AMP is a picture."""
    assert within(html) == expected


@pytest.mark.parametrize(
    "html",
    [
        "<iframe src='https://www.googletagmanager.com/ns.html'></iframe>",
        "<iframe src='/ads/banner.html'></iframe>",
        "<object data='/film.swf?v=1'></object>",
        "<iframe src='javascript:x'></iframe><video src='blob:https://x.example/1'></video><iframe></iframe>",
        "<iframe src='/pixel' width=1 height=1></iframe><iframe src='/h' style='display:none'></iframe>",
        "<noscript><iframe src='/n'></iframe></noscript>",
    ],
)
def test_invisible_documents_are_removed(within, html):
    """Advertisements, counters, hidden frames and elements without an address have no link."""
    assert within(html) == ""


def test_a_page_of_frames_is_a_list_of_links(read):
    """The Markdown has the title and a link to each frame."""
    html = "<title>Frames</title><frameset><frame src=menu.html name=menu><frame src=main.html></frameset>"
    assert read(html) == f"# Frames\n\n[menu]({SITE}/a/menu.html)\n\n[Frame]({SITE}/a/main.html)\n"
