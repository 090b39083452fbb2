"""Frames, videos, audio and documents in a page, replaced by links to them."""

import re

from lxml.html import HtmlElement

from webdata.pages._url.cleaning import is_hidden
from webdata.pages._url.dropping import drop
from webdata.pages._url.links import address

NAMES = {
    "amp-audio": "Audio",
    "amp-iframe": "Frame",
    "amp-video": "Video",
    "audio": "Audio",
    "embed": "Document",
    "frame": "Frame",
    "iframe": "Frame",
    "object": "Document",
    "video": "Video",
}
"""The text of the link where the page has no title for it."""
PLAYERS = re.compile(r"//[\w.-]*(?:youtube|youtu\.be|vimeo|dailymotion|twitch|rutube|bilibili|wistia|brightcove)")
MAPS = re.compile(r"//[\w.-]*(?:google\.[a-z.]+/maps|maps\.google|openstreetmap|bing\.com/maps)")
SERVICES = re.compile(
    r"doubleclick|googlesyndication|googletagmanager|adservice|amazon-adsystem|taboola|outbrain|criteo|recaptcha"
    r"|facebook\.com/(?:plugins|tr|v\d)|platform\.twitter(?!\.com/embed/Tweet)|accounts\.google|disqus|/ads?[/._-]|[./]ads?\.|//ads?\d*\."
    r"|\.swf(?:[?#]|$)",
)
"""Addresses of frames without content of the page: advertisements, counters, buttons, and Flash, which none shows."""
PICTURES = ("amp-anim", "amp-img")
NOTHING = ("about:", "data:")
"""The beginnings of addresses that stand until a script loads the document."""
TINY = frozenset(["0", "1", "2", "0px", "1px"])
LONGEST_FALLBACK = 600
"""Characters of a text for browsers that cannot show a document; more is the page behind one whose end is missing."""
YOUTUBE = "https://www.youtube.com/embed/"


def link_embedded(root: HtmlElement, base: str) -> None:
    """Replace, in place, embedded documents by links, and the picture elements of AMP by `img`."""
    for picture in root.iter(*PICTURES):
        drop([*picture.iterchildren("noscript")])
        picture.tag = "img"
    for element in [*root.iter("amp-youtube", *NAMES)]:
        source = address(_source(element), base)
        if source and source.startswith(("http:", "https:")) and _is_visible(element) and not SERVICES.search(source):
            _link(element, source)


def _source(element: HtmlElement) -> str | None:
    if element.tag == "amp-youtube":
        video = element.get("data-videoid")
        return f"{YOUTUBE}{video}" if video else None
    named = (element.get(name) for name in ("src", "data", "data-src"))
    return next((one for one in named if one and not one.startswith(NOTHING)), None) or next(
        (inner.get("src") for inner in element.iter("source")), None
    )


def _is_visible(element: HtmlElement) -> bool:
    if TINY & {element.get("width"), element.get("height")} or element.get("hidden") is not None:
        return False
    if element.get("aria-hidden") == "true" or is_hidden(element):
        return False
    return not any(around.tag in ("a", "noscript", *NAMES) for around in element.iterancestors())


def _link(element: HtmlElement, source: str) -> None:
    name = NAMES.get(str(element.tag), "Video")
    if name == "Frame" and PLAYERS.search(source):
        name = "Video"
    elif name == "Frame" and MAPS.search(source):
        name = "Map"
    title = element.get("title") or element.get("aria-label") or (element.get("name") if name == "Frame" else None)
    tail = element.tail
    fallback = [*element] if len(element.text_content()) > LONGEST_FALLBACK else []
    element.clear(keep_tail=False)
    element.tag, element.tail = "figure", tail
    link = element.makeelement("a", {"href": source})
    link.text = " ".join((title or "").split()) or name
    element.extend([link, *fallback])
