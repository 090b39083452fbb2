"""Whether the page itself says that nothing was found, or that the results end here.

An empty list of results is never a sign of that; what counts is the page's own message, on a page that leads to no
site but Google's: results that were merely missed lead somewhere. The message's place and build are the same in every
language: a heading that repeats the search terms, in `#topstuff` or `#botstuff`, above plain words of advice. Only the
page without JavaScript needs its words, or the terms set apart within a line of a box without links.
"""

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from webdata.pages._elements import lines, visible_text
from webdata.pages._google.links import GOTO, host, is_paid, outside
from webdata.pages._google.tree import Page
from webdata.pages._text import clean, folded

NOTICES = ("#topstuff", "#botstuff")
MESSAGES = ", ".join(f"{notice} {part}" for notice in NOTICES for part in ("[role=heading]", "p", ".card-section"))
TERMS = "em, b"
TOTAL = "#result-stats"
BESIDES = ("ad_area", "text_ad", "product_ad", "popup")
OWN = re.compile(
    r"https?://(?:[^/?#]*\.)?(?:google\.[a-z]{2,3}(?:\.[a-z]{2})?|goo\.gl)(?=[/?#]|$)(?!/goto\?)|[^#]*[?&]tab=w"
)
"""Google's own sites, and the products that its old header leads to; not its links that hide where they lead."""
SEVERAL = 3
BRACKETED = re.compile(r"[(（][^()（）]*[)）]")
SET_APART = "span, b, em"

SAID = re.compile(
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
"""What the message says in some languages; its build counts in all others."""


def says_so(page: Page, *queries: str | None) -> bool:
    """Whether the page says that nothing was found for any of `queries`."""
    sites = set(_sites(page))
    if len(sites) >= SEVERAL or any(not GOTO.match(site) for site in sites):
        return False
    terms = [key for query in queries if (key := folded(query))]
    if total(page) == 0 or any(_is_message(node, terms) for node in page.root.css(MESSAGES)):
        return True
    return any(_is_plain_message(mark.node, terms) for mark in page.of("plain_box"))


def is_partly_read(page: Page, told: str) -> bool:
    """Whether a page without results leads to several sites that are not in what was `told` of it."""
    return len({site for site in _sites(page) if site not in told}) >= SEVERAL


def _sites(page: Page) -> Iterator[str]:
    """The sites that a page leads to, or the links that hide them, Google's own and those of ads aside."""
    for link in page.of("link"):
        away = outside(link.attribute("href")) if not link.stands_in(BESIDES) else None
        if away and not is_paid(link.node) and not OWN.match(away):
            yield host(away) or away


def _is_message(node: LexborNode, terms: list[str]) -> bool:
    """A message in words we know, or one that repeats the terms and is followed by a list of advice."""
    if SAID.search(visible_text(node)):
        return True
    advice = node.parent.css("li") if node.parent is not None else []
    plain = len(advice) > 1 and all(item.css_first("a") is None for item in advice)
    return plain and any(_repeats(visible_text(part), terms) for part in node.css(TERMS))


def _repeats(text: str, terms: list[str]) -> bool:
    """Whether a text is the search terms; a message may cut long ones."""
    key = folded(text.removesuffix("...").removesuffix("…"))
    return bool(key) and any(term == key or (len(key) >= 30 and term.startswith(key)) for term in terms)


def _is_plain_message(box: LexborNode, terms: list[str]) -> bool:
    if box.css_first("a") is not None:
        return False
    alone = lines(box)
    apart = (text for part in box.css(SET_APART) if (text := visible_text(part)) not in alone)
    return SAID.search(visible_text(box)) is not None or any(_repeats(text, terms) for text in apart)


def total(page: Page) -> int | None:
    """The number of results that the page says there are: the largest number of its line, the time aside."""
    line = page.root.css_first(TOTAL)
    if line is None:
        return None
    text = BRACKETED.sub("", clean(visible_text(line).replace(visible_text(line.css_first("nobr")), "", 1)))
    numbers = [int(re.sub(r"\D", "", digits)) for digits in re.findall(r"\d[\d.,'’٬   ]*", text)]
    return max(numbers, default=None)
