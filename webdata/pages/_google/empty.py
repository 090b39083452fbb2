"""Whether the page itself reports that a search has no results, or no more results.

An empty list of results is no evidence of that: it takes the page's own message, on a page that links to no site but
Google's, since unparsed results have links. The structure of the message is the same in every language: a heading
that repeats the search terms, in `#topstuff` or `#botstuff`, above a list of advice without links. The message on the
page without JavaScript is recognised by its text, or by the terms in an element within a line of a box without links.
"""

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from webdata.pages._elements import lines, visible_text
from webdata.pages._google.links import GOTO, host, is_paid, outside
from webdata.pages._google.tree import GooglePage
from webdata.pages._text import folded, largest_number

NOTICES = ("#topstuff", "#botstuff")
MESSAGES = ", ".join(f"{notice} {part}" for notice in NOTICES for part in ("[role=heading]", "p", ".card-section"))
TERMS = "em, b"
TOTAL = "#result-stats, #resultStats"
EXCLUDED = ("ad_area", "text_ad", "product_ad", "popup")
GOOGLE_SITES = re.compile(
    r"https?://(?:[^/?#]*\.)?(?:google\.[a-z]{2,3}(?:\.[a-z]{2})?|goo\.gl)(?=[/?#]|$)(?!/goto\?)|[^#]*[?&]tab=w"
)
"""Google's own sites, and the products in its old header, without its opaque links."""
SEVERAL = 3
BRACKETED = re.compile(r"[(（][^()（）]*[)）]")
EMPHASIS = "span, b, em"

MESSAGE = re.compile(
    r"did not match any documents|not serve more than|aren.t any (?:great )?matches"
    r"|stimmt mit keinem|keine .{0,60}übereinstimmenden|nicht mehr als .{0,12}ergebnisse"
    r"|aucun document ne correspond|ne correspond.{0,20}à aucun document"
    r"|no (?:se ha encontrado|obtuvo) ning|no encontramos|non ha prodotto risultati"
    r"|não encontrou nenhum documento|não produziu resultados|komt niet overeen|geen documenten"
    r"|matchade inte några|matchede ikke nogen|ga ingen treff|ei löytynyt|nie została odnaleziona"
    r"|ничего не найдено|не найдено ни одного|нічого не знайдено|neodpovídají žádné"
    r"|hiçbir .{0,20}eşleşmedi|ile ilgili hiçbir|一致する情報は見つかりませんでした"
    r"|일치하는 검색결과가 없습니다|找不到和您查询的|找不到符合|ไม่ตรงกับเอกสารใด"
    r"|không khớp với bất|tidak cocok dengan dokumen|لم تتطابق|से कोई .{0,20}मेल",
    re.IGNORECASE,
)
"""The text of the message in some languages; in all others its structure decides."""


def reports_no_results(page: GooglePage, *queries: str | None) -> bool:
    """Whether the page reports no results for any of `queries`."""
    sites = set(_sites(page))
    if len(sites) >= SEVERAL or any(not GOTO.match(site) for site in sites):
        return False
    terms = [key for query in queries if (key := folded(query))]
    if total(page) == 0 or any(_is_message(node, terms) for node in page.root.css(MESSAGES)):
        return True
    return any(_is_plain_message(mark.node, terms) for mark in page.of("plain_box"))


def is_partly_parsed(page: GooglePage, parsed: str) -> bool:
    """Whether a page without results links to several sites that are not in `parsed`, the text of its parts."""
    return len({site for site in _sites(page) if site not in parsed}) >= SEVERAL


def _sites(page: GooglePage) -> Iterator[str]:
    """The sites that a page links to, or its opaque links, without Google's own and those of ads."""
    for link in page.of("link"):
        away = outside(link.attribute("href")) if not link.is_within(EXCLUDED) else None
        if away and not is_paid(link.node) and not GOOGLE_SITES.match(away):
            yield host(away) or away


def _is_message(node: LexborNode, terms: list[str]) -> bool:
    """Whether an element is a message with a known text, or one with the terms and a list of advice below it."""
    if MESSAGE.search(visible_text(node)):
        return True
    advice = node.parent.css("li") if node.parent is not None else []
    plain = len(advice) > 1 and all(item.css_first("a") is None for item in advice)
    return plain and any(_repeats(visible_text(part), terms) for part in node.css(TERMS))


def _repeats(text: str, terms: list[str]) -> bool:
    """Whether a text equals the search terms; a message may truncate long ones."""
    key = folded(text.removesuffix("...").removesuffix("…"))
    return bool(key) and any(term == key or (len(key) >= 30 and term.startswith(key)) for term in terms)


def _is_plain_message(box: LexborNode, terms: list[str]) -> bool:
    if box.css_first("a") is not None:
        return False
    rows = lines(box)
    marked = (text for part in box.css(EMPHASIS) if (text := visible_text(part)) not in rows)
    return MESSAGE.search(visible_text(box)) is not None or any(_repeats(text, terms) for text in marked)


def total(page: GooglePage) -> int | None:
    """The number of results according to the page: the largest number of its line, without the time."""
    line = page.root.css_first(TOTAL)
    if line is None:
        return None
    return largest_number(BRACKETED.sub("", visible_text(line).replace(visible_text(line.css_first("nobr")), "", 1)))
