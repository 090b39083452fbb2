"""Links that say nothing of their own: to the content from before it, and to where the title of a record leads already.

Both are known by where they lead and where they stand, never by their words.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import islice, takewhile
from urllib.parse import urljoin, urlsplit

from lxml.html import HtmlElement

from webdata.pages._url.weights import BLOCKS, HEADINGS, Weights, size

SEVERAL_LINKS = 3
"""Links with one text from which it is no title of a page: `Read more`."""
LONGEST_LABEL = 40
"""Characters of the longest of these texts."""
LONGEST_TITLE = 500
SEVERAL_LANGUAGES = 3
LEVELS = 3
"""Elements around a link in a list."""
MOST_OF_PLACE = 0.8
"""The share of the links of one place with one text from which it tells no record from another."""
HALF_OF_PAGE = 0.5
"""The share of a page's text in the part that a link before the content skips to."""
TARGETS = frozenset(["main", "nav", "search", "footer"])
TARGET_ROLES = frozenset(["main", "navigation", "search", "contentinfo"])

NOWHERE = ("#", "javascript:")

Place = tuple[tuple[str, str], ...]
"""The tags and classes of a link and of the elements around it."""


def unlink_headlines(root: HtmlElement, url: str) -> None:
    """Make the links of headlines to their own page text, in place; others make them headlines of other pages."""
    named = root.xpath('//link[@rel="canonical"]/@href')
    own = {_page(address, url) for address in (url, *named[:1])} - {""}
    for headline in root.iter("h1") if own else ():
        for tag, links in (("span", headline.iter("a")), ("div", headline.iterancestors("a"))):
            for link in [*links]:
                if _page(link.get("href", "").strip(), url) in own:
                    link.tag = tag


def _page(address: str, base: str) -> str:
    """The path and the query of an address; empty for that of a whole site, and for a place within a page."""
    try:
        parts = urlsplit(urljoin(base, address or "/"))
    except ValueError:
        return ""
    return f"{parts.path.rstrip('/')}?{parts.query}" if parts.path.strip("/") and not parts.fragment else ""


def skip_links(weights: Weights) -> Iterator[HtmlElement]:
    """The links before the content of a page that lead to it or to a landmark, and those behind it that lead back."""
    identified = {name: element for element in reversed(weights.elements) if (name := element.get("id"))}
    identified.setdefault(
        "top", weights.elements[0]
    )  # https://html.spec.whatwg.org/#the-indicated-part-of-the-document
    for elements in (weights.elements, reversed(weights.elements)):
        for element in takewhile(lambda one: not weights.own_prose[one] and one.tag != "h1", elements):
            address = element.get("href", "") if element.tag == "a" else ""
            target = identified.get(address[1:]) if address.startswith("#") else None
            if target is not None and _is_skipped_to(target, weights):
                yield element


def _is_skipped_to(target: HtmlElement, weights: Weights) -> bool:
    if target.tag in TARGETS or target.get("role") in TARGET_ROLES:
        return True
    return weights.text[target] >= HALF_OF_PAGE * weights.whole and (not weights.headed or target in weights.headed)


def repeated_links(weights: Weights) -> Iterator[HtmlElement]:
    """The links of one place with the text of most of them, to a page to which another link has a text of its own."""
    links = [element for element in weights.elements if element.tag == "a" and _is_last(element, weights)]
    addresses: defaultdict[str, set[str]] = defaultdict(set)
    places: defaultdict[Place, Counter[str]] = defaultdict(Counter)
    named = [(link, link.get("href", "").strip(), _folded(link, weights)) for link in links]
    named = [one for one in named if one[1] and not one[1].startswith(NOWHERE)]
    for link, address, text in named:
        addresses[address].add(text)
        places[_place(link)][text] += 1
    uniform = {place: texts.most_common(1)[0][0] for place, texts in places.items() if _is_uniform(texts)}
    common = frozenset(uniform.values())
    titled = {address for address, texts in addresses.items() if not texts <= common}
    for link, address, text in named if uniform else ():
        if uniform.get(_place(link)) == text and address in titled and not _is_heading(link):
            yield link


def links_again(weights: Weights) -> Iterator[HtmlElement]:
    """The links of a card that say and lead to the same as the one before or behind them, without a text between.

    The first that is a heading stays, else the first of all.
    """
    run: list[HtmlElement] = []
    for link in weights.elements:
        if link.tag == "a" and weights.text[link]:
            if run and not (_is_same(run[0], link, weights) and _is_next(run[-1], link)):
                yield from _again(run, weights)
                run = []
            run.append(link)
    yield from _again(run, weights)


def _is_next(before: HtmlElement, link: HtmlElement) -> bool:
    """Whether no text stands between the end of an element and the beginning of a later one."""
    here = before
    while here is not link:
        inner = next(iter(here), None) if here is not before else None
        while inner is None:
            if size(here.tail):
                return False
            inner = here.getnext()
            if inner is None:
                outer = here.getparent()
                if outer is None:
                    return False
                here = outer
        here = inner
        if here is not link and size(here.text):
            return False
    return True


def other_languages(weights: Weights) -> Iterator[HtmlElement]:
    """The lists of links to a page in other languages, all of which say theirs.

    https://html.spec.whatwg.org/#attr-hyperlink-hreflang
    """
    found: defaultdict[HtmlElement, Counter[str]] = defaultdict(Counter)
    for link in weights.elements:
        if link.tag == "a" and (language := link.get("hreflang")):
            for around in islice(link.iterancestors(), LEVELS):
                found[around][language] += 1
    for element, languages in found.items():
        is_all = languages.total() == weights.links.get(element)
        if is_all and len(languages) >= SEVERAL_LANGUAGES and not weights.prose[element]:
            yield element


def _is_same(one: HtmlElement, other: HtmlElement, weights: Weights) -> bool:
    if one.get("href") != other.get("href") or weights.text[one] != weights.text[other]:
        return False
    return _folded(one, weights) == _folded(other, weights) != ""


def _again(run: list[HtmlElement], weights: Weights) -> Iterator[HtmlElement]:
    if not run[1:]:
        return
    stays = next((link for link in run if _is_heading(link)), run[0])
    for link in run:
        around = link.getparent()
        is_all = around is not None and around.tag in HEADINGS and weights.text[around] == weights.text[link]
        if link is not stays:
            yield around if is_all and around is not None else link


def _is_last(link: HtmlElement, weights: Weights) -> bool:
    """Whether a link has a text, and is no word of a sentence that goes on behind it."""
    return weights.text[link] > 0 and not size(link.tail)


def _folded(link: HtmlElement, weights: Weights) -> str:
    """The text of a link; all that are longer than titles are one."""
    return " ".join(link.text_content().split()).casefold() if weights.text[link] <= LONGEST_TITLE else ""


def _place(link: HtmlElement) -> Place:
    around = islice(link.iterancestors(), 2)
    return tuple((str(element.tag), element.get("class", "")) for element in (link, *around))


def _is_uniform(texts: Counter[str]) -> bool:
    text, count = texts.most_common(1)[0]
    if not 0 < len(text) <= LONGEST_LABEL or any(map(str.isdigit, text)):
        return False
    return count >= max(SEVERAL_LINKS, MOST_OF_PLACE * texts.total())


def _is_heading(link: HtmlElement) -> bool:
    """Whether a link is a heading, or more than a line of text."""
    if next(link.iterdescendants("img", *BLOCKS), None) is not None:
        return True
    around = link.getparent()
    return around is not None and around.tag in HEADINGS
