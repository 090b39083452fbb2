"""When an article was written and by whom, as it says between its headline and its text.

These stand in a line that is short, named as chrome and outside of the text, so that other rules leave it out.
"""

import re
from copy import deepcopy
from itertools import islice

from lxml.html import HtmlElement

from webdata.pages._text import date
from webdata.pages._url.dropping import drop
from webdata.pages._url.opening import HEADINGS
from webdata.pages._url.weights import BLOCKS, Weights

LONGEST_DATE = 60
LONGEST_LINK = 22
"""Characters of a link that is a date; a longer one is the title of another page."""
LONGEST = 120
"""Characters of the longest line with the authors and the date of an article."""
LEADS = 2
"""Paragraphs that may stand between the headline and the date."""
NEAR = 60
"""Elements between the headline and the date."""
YEAR = re.compile(r"\b(?:19|20)\d{2}\b")
UNSAID = ("button", "img", "input", "select", "textarea")


def byline(weights: Weights) -> HtmlElement | None:
    """A copy of the line below the first headline that has a date with its year; None where there is none."""
    headline = next((e for e in weights.elements if e.tag == "h1" and e in weights.headed), None)
    found = None if headline is None else _dated(headline, weights)
    if found is None:
        return None
    line = _line(found, weights)
    copied = deepcopy(line)
    copied.tail = None
    drop([*copied.iter(*UNSAID)])
    copied.tag = "p" if next(copied.iterdescendants(*BLOCKS), None) is None else "div"
    return copied


def insert(line: HtmlElement, part: HtmlElement) -> None:
    """Put a line below the headline in the part with the text, or before its text, unless that has its words."""
    texts = " ".join(line.text_content().split())
    if texts in " ".join(part.text_content().split()):
        return
    headline = next(part.iterdescendants("h1"), None)
    if headline is None:
        part.insert(0, line)
    else:
        line.tail, headline.tail = headline.tail, None
        headline.addnext(line)


def _dated(headline: HtmlElement, weights: Weights) -> HtmlElement | None:
    leads = 0
    begin = weights.elements.index(headline) + 1
    for element in islice(weights.elements, begin, begin + NEAR):
        leads += weights.own_prose[element] > 0
        if leads > LEADS:
            return None
        if _is_dated(element, weights):
            return element
    return None


def _is_dated(element: HtmlElement, weights: Weights) -> bool:
    if not 0 < weights.text[element] <= LONGEST_DATE or next(element.iterdescendants(*BLOCKS), None) is not None:
        return False
    if element.tag in HEADINGS or any(around.tag in (*HEADINGS, "a", "li") for around in element.iterancestors()):
        return False
    if weights.text[element] == weights.linked[element] > LONGEST_LINK:
        return False
    text = " ".join(element.text_content().split())
    return YEAR.search(text) is not None and date(text[-40:]) is not None


def _line(dated: HtmlElement, weights: Weights) -> HtmlElement:
    """The largest element around a date that is still a line of its own, with the names of the authors."""
    line = dated
    while (around := line.getparent()) is not None and around in weights.text and around not in weights.headed:
        if weights.text[around] > LONGEST or weights.own_prose[around]:
            break
        line = around
    return line
