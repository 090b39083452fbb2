"""Parts of a page that say nothing new: copies of its texts, and what stands around the text of each post of a thread.

Both are known by repetition alone. A copy has the text of an earlier part. Around the text of posts, the parts of one
place in the markup have short facts about the author and names of controls in every post, or the same signature.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator
from itertools import islice
from urllib.parse import unquote

from lxml.html import HtmlElement

from webdata.pages._text import date
from webdata.pages._url.weights import BLOCKS, HEADINGS, PROSE, Weights, size

Form = tuple[HtmlElement | None, str, str]
"""The parent, the tag and the first class of an element."""
COPIED = 20
"""Characters from which a repeated text is a copy, not a common word."""
SEVERAL = 3
"""Siblings of one form from which they are records."""
TWICE = 2
"""Parts of one place in the markup from which each post has one."""
MOST = 0.5
"""The share of the parts of one place with a text that others have, too, from which they are signatures."""
RECORDS = 5
"""Records of the smallest page whose parts are compared."""
MOST_LEVELS = 20
"""Elements around a part within its record."""
MOST_OF_RECORDS = 0.9
"""The share of the records with a text from which it tells none from another."""
MUCH = 0.3
"""The share of a page's text from which the parts of one place are the posts themselves."""
SOME = 0.15
"""The share of a page's prose behind posts from which it may be posts of another form."""
WHOLES = frozenset(["dl", "figure", "pre", "table"])
"""Elements whose parts may have the same text and are facts of their own."""
QUOTED = frozenset(["blockquote", "ol", "pre", "table"])
"""Elements within posts, of which no part is a label."""
NUMBERS = re.compile(r"[\d.,]+k?")
LONGEST = 300
"""Characters of the longest text that is compared without its numbers."""
NAMED = 1000
"""Characters of class names that are read."""
LONGEST_DATE = 40
SHORTEST = 3
"""Letters of the shortest name that the address of a link has, too."""
YEAR = re.compile(r"\d{4}|\d[-/.]\d{1,2}[-/.]\d{2}")
SUFFIX = re.compile(r"/$|\.\w{1,5}$")
LABEL = re.compile(r"\s*[^\d:]{1,40}:\s")
"""Words before a fact."""
NEAR = 10
"""Elements between a picture and the name of whom it shows."""
NAMING = HEADINGS | {"time"}
"""Elements that say whose a post is, and of when."""
PARTS = BLOCKS - {"blockquote", "li", "ol", "p", "pre", "td", "th", "tr"}
"""Elements that hold the labels of a post."""
RECORDED = PARTS - WHOLES - HEADINGS - {"caption", "dd", "dt", "tbody", "tfoot", "thead"} | {"a", "li", "p"}
"""Elements that a record may have in common with the others."""


def copies(weights: Weights, *, of_records: bool) -> Iterator[HtmlElement]:
    """The blocks with the text of an earlier one; facts that records of one kind share are copies if `of_records`.

    Of a text before the headline and again behind it the first is the copy: it is a preview; so it is of two headlines
    before the text, as of a bar that stays in sight. Records of one author share what is known of them, but not whose
    each is.
    """
    named = _around_names(weights) if of_records else {}
    signatures = _signatures(weights.elements)
    siblings = Counter(form(element) for element in weights.elements)
    firsts: dict[int, HtmlElement] = {}
    before: set[HtmlElement] = set()
    is_before, has_begun = bool(weights.headed), False
    for element in _blocks(weights.elements[1:], lambda one: one.tag in WHOLES):
        is_before = is_before and not (element.tag == "h1" and element in weights.headed)
        has_begun = has_begun or weights.own_prose[element] > 0
        if weights.text[element] < COPIED or element.tag == "li" or (not of_records and _is_linked(element, weights)):
            continue
        first = firsts.setdefault(signatures[element], element)
        if is_before and element not in weights.headed:
            before.add(element)
        if first is element or (not of_records and _are_of_records(first, element, siblings)):
            continue
        if element in named and (named.get(first, 0) < named[element] or _are_of_records(first, element, siblings)):
            firsts[signatures[element]] = element
            continue
        is_headline = not has_begun and first in weights.headed and element in weights.headed
        if is_headline or (first in before and not is_before):
            firsts[signatures[element]] = element
            yield first
        else:
            yield element


def _is_linked(element: HtmlElement, weights: Weights) -> bool:
    """Whether an element is a heading that leads to another page: the title of a record is a copy only with that."""
    if element.tag not in HEADINGS:
        return False
    return weights.links[element] > 0 or next(element.iterancestors("a"), None) is not None


def labels(weights: Weights) -> Iterator[HtmlElement]:
    """The parts of a thread's posts that have no prose in any of them or the same text in most, and asides without any.

    Texts that differ in numbers are the same. Headings and times stay, as they say whose a post is, and of when; a time
    in an aside is that of a member.
    """
    signatures, templates = _signatures(weights.elements), _signatures(weights.elements, exact=False)
    named = [*_naming(weights)]
    naming = {around for name in named for around in (name, *name.iterancestors())}
    headed = {e for name in named if name.tag != "time" for e in (*name.iter("*"), *name.iterancestors())}
    for aside in weights.elements:
        if aside.tag == "aside" and not weights.prose[aside] and not is_quotation(aside):
            yield from (element for element in aside.iter("*") if element not in headed)
    for parts in _places(weights, naming).values():
        if len(parts) < TWICE or sum(weights.text[part] for part in parts) > MUCH * weights.whole:
            continue
        are_short = all(weights.text[part] <= LONGEST for part in parts)
        compared = templates if are_short else signatures
        if not any(weights.prose[part] for part in parts) or _are_repeated(compared[part] for part in parts):
            yield from parts


def heads_of_posts(weights: Weights) -> frozenset[HtmlElement]:
    """The parts of a thread's posts that say whose each is, and of when; short posts have them like the others.

    Posts are siblings of one form, at least two of them with prose.
    """
    posts = _posts_of_one_form(weights)
    found: set[HtmlElement] = set()
    for name in _naming(weights):
        around = [name, *name.iterancestors()]
        outer = next((number for number, element in enumerate(around) if element in posts), 0)
        found.update(around[:outer])
    return frozenset(found)


def _posts_of_one_form(weights: Weights) -> set[HtmlElement]:
    blocks = (element for element in weights.elements if weights.prose[element] and _is_record(element))
    forms = Counter(form(element) for element in blocks)
    return {element for element in weights.elements if forms.get(form(element), 0) >= TWICE}


def _is_record(element: HtmlElement) -> bool:
    return bool(_first_name(element)) or element.tag in ("article", "li")


def behind_posts(weights: Weights) -> list[HtmlElement]:
    """What stands behind the posts of a thread, such as other threads; nothing where it is much.

    The posts are siblings of one form around the middle of the page's prose.
    """
    middle = _middle(weights)
    posts = None if middle is None else _posts(middle, weights)
    if posts is None:
        return []
    found: list[HtmlElement] = []
    for around in (posts, *posts.iterancestors()):
        if around is weights.elements[0]:
            break
        found += (element for element in around.itersiblings() if element not in weights.headed)
    is_much = sum(weights.text[element] for element in found) >= MUCH * weights.whole
    return [] if is_much or sum(weights.share(element) for element in found) >= SOME else found


def of_each_record(weights: Weights) -> Iterator[HtmlElement]:
    """The controls and notes that all records of a page say alike: `Quick view`, how to rate this.

    A fact has a number, a name has the text that it names behind it, and a link that no other of its record stands
    beside is the way to its page. Records are siblings of one form.
    """
    signatures = _signatures(weights.elements)
    siblings = Counter(form(element) for element in weights.elements if weights.text[element])
    for parts in _alike(weights).values():
        signature, count = Counter(signatures[part] for part in parts).most_common(1)[0]
        records = _records(parts)
        if not records or records is parts or count < MOST_OF_RECORDS * max(len(parts), siblings[form(records[0])]):
            continue
        for part, record in zip(parts, records, strict=True):
            if signatures[part] == signature and _is_control(part, record, weights):
                yield part


def _is_control(part: HtmlElement, record: HtmlElement, weights: Weights) -> bool:
    if size(part.tail) or _ends_sentence(part) or 0 < weights.linked[record] <= weights.linked[part]:
        return False
    if weights.linked[part] == weights.text[part] or weights.text[part] >= PROSE:
        return True
    following = part.getnext()
    is_name = following is not None and weights.text[following] > 0
    return not is_name and not any(map(str.isdigit, part.text_content()))


def _ends_sentence(part: HtmlElement) -> bool:
    """Whether an element stands right behind text in its line."""
    before, around = part.getprevious(), part.getparent()
    text = before.tail if before is not None else around.text if around is not None else None
    return part.tag not in BLOCKS and size(text) > 0


def _alike(weights: Weights) -> dict[int, list[HtmlElement]]:
    """Links and blocks with text by their place, of each that several have."""
    numbers: dict[tuple[int, str, str], int] = {}
    place: dict[HtmlElement, int] = {}
    found: defaultdict[int, list[HtmlElement]] = defaultdict(list)
    for element in weights.elements[1:]:
        around = element.getparent()
        key = (place.get(around, 0) if around is not None else 0, str(element.tag), _first_name(element))
        place[element] = numbers.setdefault(key, len(numbers) + 1)
        if element.tag in RECORDED and 0 < weights.text[element] <= LONGEST:
            found[place[element]].append(element)
    return {number: parts for number, parts in found.items() if len(parts) >= RECORDS}


def _records(parts: list[HtmlElement]) -> list[HtmlElement]:
    """The records that the parts of one place are in, as far above them as those of the first two; none far above."""
    records = parts
    for _ in range(MOST_LEVELS):
        if records[0].getparent() is records[1].getparent():
            return records
        records = [around for record in records if (around := record.getparent()) is not None]
    return []


def _around_names(weights: Weights) -> dict[HtmlElement, float]:
    """The elements without prose with a short name of an author in them, and how much prose is before each."""
    found: dict[HtmlElement, float] = {}
    for name in _naming(weights):
        if weights.text[name] < COPIED and name.tag != "time" and not _is_date(name, weights):
            found.update((e, 0.0) for e in name.iterancestors() if not weights.prose.get(e, PROSE))
    written = 0.0
    for element in weights.elements:
        written += weights.own_prose[element]
        if element in found:
            found[element] = written
    return found


def _middle(weights: Weights) -> HtmlElement | None:
    """The element in which the first half of a page's prose ends."""
    prose = 0.0
    for element in weights.elements:
        prose += weights.own_prose[element]
        if prose > weights.total / 2:
            return element
    return None


def _posts(inner: HtmlElement, weights: Weights) -> HtmlElement | None:
    """The outermost element whose children have the form of the one that `inner` is in; paragraphs are no posts."""
    found = None
    for element in (inner, *inner.iterancestors()):
        around = element.getparent()
        if around is None or around not in weights.text:
            break
        own = form(element)
        if element.tag in PARTS and any(form(e) == own and weights.text[e] for e in around if e is not element):
            found = around
    return found


def _naming(weights: Weights) -> Iterator[HtmlElement]:
    """What says whose a post is, and of when: times, headings, linked terms of facts, but no rank below a name.

    Also the names of authors by schema.org, or else their first links, those beside their pictures, and those at the
    end of their links' addresses, and on a page without a time for each the dates.
    """
    yield from _authors(weights)
    times = (time for time in weights.elements[0].iter("time") if weights.text[time])
    if len([*islice(times, TWICE)]) < TWICE:
        yield from (element for element in weights.elements if _is_date(element, weights))
    name = ""
    for element in weights.elements:
        tag = str(element.tag)
        if tag in HEADINGS and name and name < tag and _is_rank(element, weights):
            continue
        name = tag if tag in HEADINGS else "" if weights.own_prose[element] else name
        if tag in NAMING or (tag == "dt" and weights.links[element]):
            yield element


def _authors(weights: Weights) -> Iterator[HtmlElement]:
    """The elements with the name that the picture before them or their address has, and those of authors in microdata.

    A picture in one link with its name is a button.
    """
    name, left, link = "", 0, None
    posts = _posts_of_one_form(weights)
    for element in weights.elements:
        left -= 1
        if element.tag == "img" and (alt := element.get("alt")):
            name, left, link = _folded(alt), NEAR, next(element.iterancestors("a"), None)
        elif left > 0 and weights.text[element] == size(name) and _folded(element.text) == name:
            left = 0
            if link is None or link not in (element, *element.iterancestors()):
                yield element
        elif element.tag == "a" and _is_named_by_address(element) and not posts.isdisjoint(element.iterancestors()):
            yield element
        elif element.get("itemprop") == "author":
            named = [inner for inner in element.iter("*") if inner.get("itemprop") == "name"]
            yield from named or islice((link for link in element.iter("a") if weights.text[link]), 1)


def _is_named_by_address(link: HtmlElement) -> bool:
    """Whether the address of a link ends with its text, as that of a member does: `/users/12/ann-smith`."""
    address = SUFFIX.sub("", link.get("href", ""))
    if "#" in address or "=" in address or any(picture.get("alt") for picture in link.iter("img")):
        return False
    name, address = _letters(link.text_content()), _letters(address)
    return len(name) >= SHORTEST and address.endswith(name)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, unquote(text[-NAMED:]))).casefold()


def _is_date(element: HtmlElement, weights: Weights) -> bool:
    """Whether all of an element's text is a date with its year, without a label: `Joined: 5/3/2024` is a member's."""
    if not 0 < weights.text[element] <= LONGEST_DATE or any(weights.text[child] for child in element):
        return False
    text = " ".join(element.itertext())
    around, before = element.getparent(), element.getprevious()
    label = (around.text if before is None else before.tail) if around is not None else ""
    if element.tag == "dd" or LABEL.match(text) or (label or "").rstrip().endswith(":"):
        return False
    return date(text) is not None and YEAR.search(text) is not None


def _is_rank(heading: HtmlElement, weights: Weights) -> bool:
    """Whether a heading without a link stands in an element without prose."""
    around = heading.getparent()
    return not weights.links[heading] and around is not None and not weights.prose.get(around)


def _signatures(elements: list[HtmlElement], *, exact: bool = True) -> dict[HtmlElement, int]:
    """A number for each element, the same for those with the same texts and pictures in elements of the same order.

    Without pictures, and for texts that differ in numbers, too, if not `exact`.
    """
    folded = _folded if exact else _unnumbered
    found: dict[HtmlElement, int] = {}
    for element in reversed(elements):  # what is in an element comes before it
        pieces: list[object] = [folded(element.text), element.get("src", "") if exact and element.tag == "img" else ""]
        for child in element:
            pieces += (found[child], folded(child.tail) if child.tail else "")
        found[element] = hash(tuple(piece for piece in pieces if piece != ""))
    return found


def _folded(text: str | None) -> str:
    return " ".join(text.split()).casefold() if text else ""


def _unnumbered(text: str | None) -> str:
    return _folded(NUMBERS.sub("", text)) if text else ""


def is_quotation(element: HtmlElement) -> bool:
    """Whether an element is an aside around a quotation with whom it quotes, as posts have it."""
    return element.tag == "aside" and element.find("blockquote") is not None


def _is_quoted(element: HtmlElement, weights: Weights, texts: Container[HtmlElement | None]) -> bool:
    """Whether an element is a quotation, also with whom it quotes, a list or a glossary in a post.

    But neither all posts nor a member's facts. A list is in a post beside a paragraph of it; `texts` are the elements
    with such paragraphs.
    """
    if element.tag == "dl":
        return weights.prose[element] > 0
    if element.tag == "aside":
        return is_quotation(element)
    if element.tag == "ul":
        return element.getparent() in texts and weights.share(element) < MOST
    return element.tag in QUOTED and weights.share(element) < MOST


def _blocks(elements: Iterable[HtmlElement], is_whole: Callable[[HtmlElement], bool]) -> Iterator[HtmlElement]:
    """The blocks among elements in the order of the page that are neither wholes nor in one."""
    within: set[HtmlElement | None] = set()
    for element in elements:
        if element.getparent() in within or is_whole(element):
            within.add(element)
        elif element.tag in BLOCKS:
            yield element


def form(element: HtmlElement) -> Form:
    """What siblings of one kind share."""
    return element.getparent(), str(element.tag), _first_name(element)


def _are_of_records(one: HtmlElement, other: HtmlElement, siblings: Counter[Form]) -> bool:
    """Whether two elements stand in different siblings of at least three of one form."""
    around = {inner.getparent(): inner for inner in (one, *one.iterancestors())}
    for inner in (other, *other.iterancestors()):
        beside = around.get(inner.getparent())
        if beside is not None:
            return form(beside) == form(inner) and siblings[form(inner)] >= SEVERAL
    return False


def _places(weights: Weights, naming: Container[HtmlElement]) -> dict[int, list[HtmlElement]]:
    """The parts with text and without names by their place: the tags and first classes of them and of those around."""
    numbers: dict[tuple[int, str, str], int] = {}
    place: dict[HtmlElement, int] = {}
    found: defaultdict[int, list[HtmlElement]] = defaultdict(list)
    texts = {element.getparent() for element in weights.elements if element.tag == "p" and weights.own_prose[element]}
    for element in _blocks(weights.elements[1:], lambda one: _is_quoted(one, weights, texts)):
        around = element.getparent()
        key = (place.get(around, 0) if around is not None else 0, str(element.tag), _first_name(element))
        place[element] = numbers.setdefault(key, len(numbers) + 1)
        if element.tag in PARTS and element not in naming and weights.text[element]:
            found[place[element]].append(element)
    return found


def _first_name(element: HtmlElement) -> str:
    """The first class of an element without a number, which would be that of one post."""
    names = (name for name in element.get("class", "")[:NAMED].split() if not any(map(str.isdigit, name)))
    return next(names, "")


def _are_repeated(signatures: Iterable[int]) -> bool:
    counts = Counter(signatures)
    return sum(count for count in counts.values() if count > 1) >= MOST * counts.total()
