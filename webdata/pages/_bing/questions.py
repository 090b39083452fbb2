"""Questions that people also ask: each box names its question in an attribute and holds the answer with its source."""

from selectolax.lexbor import LexborNode

from webdata.domain.records import RelatedQuestion
from webdata.pages._bing.links import leads_away, target
from webdata.pages._elements import attribute, visible_text
from webdata.pages._text import clean

QUESTION = "[data-tag='RelatedQnA.Item'][data-query]"
DETAILS = "[data-tag='RelatedQnA.ItemDetails']"
CREDIT = ".rwrl_cred"
"""The source below an answer, inside its details in the layouts until about 2022."""


def related_questions(root: LexborNode) -> list[RelatedQuestion]:
    """The questions of the page, each once."""
    boxes: dict[str, LexborNode] = {}
    for box in root.css(QUESTION):
        if question := clean(attribute(box, "data-query")):
            boxes.setdefault(question, box)
    return [_question(box, question, position) for position, (question, box) in enumerate(boxes.items(), 1)]


def _question(box: LexborNode, question: str, position: int) -> RelatedQuestion:
    details = box.css_first(DETAILS)
    source = next((link for link in box.css("a[href]") if leads_away(target(attribute(link, "href")))), None)
    return {
        "position": position,
        "question": question,
        "answer": _answer(details) or None,
        "title": visible_text(source) or None,
        "link": target(attribute(source, "href")) if source else None,
        "list": [],
        "table": [],
    }


def _answer(details: LexborNode | None) -> str:
    """The text of an answer without its source and without the link to all results for the question."""
    text = visible_text(details)
    for end in reversed(details.css(f"{CREDIT}, a[href*='/search?']") if details else []):
        text = text.removesuffix(visible_text(end)).rstrip()
    return text
