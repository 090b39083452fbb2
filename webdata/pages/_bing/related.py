"""Related searches: their links have a form of their own, `QSRE` and a number, in all layouts and languages."""

import re

from selectolax.lexbor import LexborNode

from webdata.domain.records import RelatedSearch
from webdata.pages._bing.links import target
from webdata.pages._elements import attribute
from webdata.pages._text import clean
from webdata.pages._urls import query, split

FORM = re.compile(r"QSRE\d+")


def related_searches(root: LexborNode) -> list[RelatedSearch]:
    """The searches that the page proposes, each once; their texts are from the addresses, for shown ones are cut."""
    found: dict[str, str] = {}
    for anchor in root.css("a[href]"):
        address = target(attribute(anchor, "href"))
        parts = split(address or "")
        values = query(parts) if parts else {}
        if FORM.fullmatch(values.get("FORM", "")) and (text := clean(values.get("q", ""))):
            found.setdefault(text, f"{address}")
    return [
        {"position": position, "text": text, "link": link, "result_type": "related_search"}
        for position, (text, link) in enumerate(found.items(), 1)
    ]
