"""How soon a changed page is noticed, and how often one that has not changed is taken for one that has.

`python -m benchmarks.drift [SEED]` takes the captures of each engine as what its canaries may find: each canary of a
round finds any of them. For the changes a script alters all captures of an engine in the same manner: a class or an
attribute gets another name, a block is removed, the text of elements is emptied, a key of JSON gets another name, a
place of records that are lists is emptied. One is tried once it empties a field that at least half of the pages have,
or makes pages unreadable.
"""

import asyncio
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from lxml import html

from webdata.crawling.engine import EngineSpider
from webdata.crawling.offline import SavedPage, judge, query_of
from webdata.crawling.warm_crawlers import load_spiders
from webdata.domain.errors import QueryError, RecordError
from webdata.domain.outcome import Outcome
from webdata.stores.watch.model import Measured, Round
from webdata.watch.drift import BASELINE_ROUNDS, LAST_ROUNDS, look
from webdata.watch.measuring import measured

FOLDERS = {
    "amazon_products": ("amazon", ""),
    "bing_web": ("bing", ""),
    "crossref_works": ("scholar", "crossref-"),
    "ebay_listings": ("ebay", ""),
    "google_image": ("google-image", ""),
    "google_maps": ("maps", "maps-place-"),
    "google_news": ("news", ""),
    "google_web": ("google-web", ""),
    "linkedin_jobs": ("jobs", ""),
    "openalex_works": ("scholar", "openalex-"),
    "reddit": ("reddit", ""),
}
"""The folder of an engine's captures, and how the names of its files begin."""
QUERIES = {"google_maps": {"q": "coffee"}}
"""The query of captures that do not show theirs: answers for one place."""
PAGES = Path(__file__).parents[1] / "webdata" / "pages"
CAPTURES = Path(__file__).parents[2] / "shared" / "captures"
MOST_PAGES = 12
CANARIES = 6
"""Of an engine, as many as are shipped for those with one resource."""
CHANGES = 8
"""Of an engine that are tried, where so many names that its parser reads are found."""
NULL_ROUNDS = 1000
BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
CLASS = re.compile(rb'\bclass="([^"]{1,300})"')
ATTRIBUTE = re.compile(rb'\b(data-[a-z-]{2,30}|id|itemprop|aria-label|href|src|title|alt)="')
KEY = re.compile(rb'"([a-z_]{2,30})"\s{0,2}:')
NUMBERED = re.compile(rb'"(\d{2,6})"\s{0,2}:')
BEFORE_LISTS = b")]}'"
"""What stands before the lists of some answers."""
LONG_LIST = 100
"""From which length a list is a record, each place of which is a field."""
TAG = re.compile(rb"<(?:\w+:)?([a-z]\w{2,20})[ >]")

Change = Callable[[bytes], bytes]


@dataclass
class Pool:
    """The captures of an engine that have results, and what each holds."""

    spider: type[EngineSpider]
    bodies: list[bytes] = field(default_factory=list)
    pages: list[Measured] = field(default_factory=list)


@dataclass(frozen=True)
class Trial:
    """A change, what it empties, and the rounds until it was noticed; None where it was not."""

    engine: str
    kind: str
    name: str
    emptied: str
    share: float
    rounds: int | None


def pools(captures: Path) -> list[Pool]:
    """The captures of each engine that has at least two with results."""
    found = []
    for spider in load_spiders():
        if spider.name in FOLDERS:
            pool = Pool(spider)
            for body in _bodies(captures, *FOLDERS[spider.name]):
                page = page_of(spider, body)
                if page and page.outcome == Outcome.OK and len(pool.pages) < MOST_PAGES:
                    pool.bodies.append(body)
                    pool.pages.append(page)
            if len(pool.pages) > 1:
                found.append(pool)
    return found


def page_of(spider: type[EngineSpider], body: bytes) -> Measured | None:
    """What a page holds; None for one that cannot be read at all, since its query is unknown."""
    engine = spider()
    try:
        given = QUERIES.get(spider.name, {})
        resource, _ = query_of(engine, body, given)
        verdict = asyncio.run(judge(engine, SavedPage(body), given))
    except (QueryError, RecordError, NotImplementedError):
        return None
    return measured(f"{spider.name} {resource.name}", resource, verdict["outcome"], verdict["record"], body)


def _bodies(captures: Path, folder: str, prefix: str) -> Iterator[bytes]:
    index = (captures / folder / "INDEX.jsonl").read_text(encoding="utf-8")
    for row in map(json.loads, index.splitlines()):
        if row["file"].startswith(prefix) and row.get("expect") in (None, "ok"):
            yield (captures / folder / row["file"]).read_bytes()


def false_alarms(pool: Pool, rounds: int, dice: random.Random) -> tuple[int, list[str]]:
    """How often an unchanged engine drifts in so many rounds, and what by."""
    alarms, fields = 0, list[str]()
    history = [_round(pool.pages, number, dice) for number in range(BASELINE_ROUNDS)]
    for number in range(rounds):
        history = [*history[-BASELINE_ROUNDS - LAST_ROUNDS :], _round(pool.pages, number + BASELINE_ROUNDS, dice)]
        if drift := look(history, None):
            alarms += 1
            fields += [loss.field for loss in drift.losses]
    return alarms, fields


def noticed(before: Sequence[Measured], after: Sequence[Measured], dice: random.Random) -> int | None:
    """The rounds until a change is noticed; None where the last of them does not."""
    history = [_round(before, number, dice) for number in range(BASELINE_ROUNDS)]
    for number in range(LAST_ROUNDS):
        history.append(_round(after, number + BASELINE_ROUNDS, dice))
        if look(history, None):
            return number + 1
    return None


def _round(pages: Sequence[Measured], number: int, dice: random.Random) -> Round:
    found = [dice.choice(pages) for _ in range(CANARIES)]
    named = [
        Measured(f"canary {place}", one.outcome, one.results, one.fields, one.layout) for place, one in enumerate(found)
    ]
    return Round(BEGUN + timedelta(hours=number), named)


def trials(pool: Pool, most: int, dice: random.Random) -> Iterator[Trial]:
    """Changes that empty a field of an engine, one of each kind for a field, with the rounds until each is noticed."""
    candidates = list(_candidates(pool))
    dice.shuffle(candidates)
    kinds, tried = Counter[str](), set[tuple[str, str]]()
    place = max(range(len(pool.pages)), key=lambda index: _filled(pool.pages[index]))
    for kind, name, change in candidates:
        if kinds.total() == most:
            return
        if kinds[kind] > most / 3:
            continue
        probe = page_of(pool.spider, change(pool.bodies[place]))  # most changes take nothing from any page
        if probe and _filled(probe) >= _filled(pool.pages[place]):
            continue
        pages = [page for body in pool.bodies if (page := page_of(pool.spider, change(body)))]
        emptied, share = _emptied(pool.pages, pages)
        if emptied and (kind, emptied) not in tried and len(pages) == len(pool.pages):
            kinds[kind] += 1
            tried.add((kind, emptied))
            yield Trial(pool.spider.name, kind, name, emptied, share, noticed(pool.pages, pages, dice))


def _filled(page: Measured) -> int:
    return sum(filled > 0 for filled, _ in page.fields.values())


def _emptied(before: Sequence[Measured], after: Sequence[Measured]) -> tuple[str | None, float]:
    """A field that at least half of the pages had, and none of the readable ones has; `page` where none is readable."""
    readable = [one for one in after if one.outcome == Outcome.OK]
    if len(readable) <= len(before) / 2:
        return "page", 1.0
    had = Counter(path for one in before for path, (filled, _) in one.fields.items() if filled)
    has = Counter(path for one in readable for path, (filled, _) in one.fields.items() if filled)
    lost = [path for path, number in had.most_common() if number >= len(before) / 2 and not has[path]]
    return (lost[0], had[lost[0]] / len(before)) if lost else (None, 0.0)


def _candidates(pool: Pool) -> Iterator[tuple[str, str, Change]]:
    """Changes to names that at least half of the pages have, and that the parser reads."""
    source = _source(pool.spider.name)
    for kind, name, change in _all_candidates(pool.bodies):
        if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", source):
            yield kind, name, change


def _source(engine: str) -> str:
    """The code of an engine's page module, and of the modules of its family."""
    families = {engine.split("_", maxsplit=1)[0], *engine.split("_")}
    files = [PAGES / f"{engine}.py", *(path for one in families for path in sorted((PAGES / f"_{one}").glob("*.py")))]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def _all_candidates(bodies: Sequence[bytes]) -> Iterator[tuple[str, str, Change]]:
    classes = _common(bodies, lambda body: {name for one in CLASS.findall(body) for name in one.split()})
    for name in classes:
        yield (
            "class renamed",
            name.decode("latin-1"),
            partial(_rename, rb'(\bclass="[^"]*?(?<![\w-]))%s(?![\w-])', name),
        )
        yield "block removed", name.decode("latin-1"), partial(_alter, _drop, name.decode("latin-1"))
        yield "text emptied", name.decode("latin-1"), partial(_alter, _empty, name.decode("latin-1"))
    for name in _common(bodies, lambda body: set(ATTRIBUTE.findall(body))):
        yield "attribute moved", name.decode("latin-1"), partial(_rename, rb'(\s)%s(?==")', name)
    for name in _common(bodies, lambda body: set(KEY.findall(body)) if body[:1] in b"{[" else set()):
        yield "key renamed", name.decode("latin-1"), partial(_rename, rb'(")%s(?="\s*:)', name)
    for name in _common(bodies, lambda body: set(NUMBERED.findall(body))):
        yield "key renamed", name.decode("latin-1"), partial(_rename, rb'(")%s(?="\s*:)', name)
    for place in _common(bodies, _filled_places):
        yield "place emptied", place.decode("ascii"), partial(_without_place, int(place))
    for name in _common(bodies, lambda body: set(TAG.findall(body)) if body[:5] == b"<?xml" else set()):
        yield "element renamed", name.decode("latin-1"), partial(_rename, rb"(</?(?:\w+:)?)%s(?=[ />])", name)


def _common(bodies: Sequence[bytes], names: Callable[[bytes], set[bytes]]) -> list[bytes]:
    counted = Counter(name for body in bodies for name in names(body))
    return sorted(name for name, number in counted.items() if number >= len(bodies) / 2)


def _rename(pattern: bytes, name: bytes, body: bytes) -> bytes:
    return re.sub(pattern % re.escape(name), lambda found: found[1] + b"zq" + name[::-1], body)


def _alter(alter: Callable[[html.HtmlElement], None], name: str, body: bytes) -> bytes:
    tree = html.document_fromstring(body)
    for element in tree.find_class(name):
        alter(element)
    return html.tostring(tree)


def _filled_places(body: bytes) -> set[bytes]:
    """The indices at which long lists have a value."""
    return {b"%d" % index for one in _long_lists(_tree(body)) for index, value in enumerate(one) if value is not None}


def _without_place(index: int, body: bytes) -> bytes:
    tree = _tree(body)
    for one in _long_lists(tree):
        if index < len(one):
            one[index] = None
    return json.dumps(tree).encode()


def _tree(body: bytes) -> Any:
    text = body.removeprefix(BEFORE_LISTS).lstrip()
    return json.loads(text) if text.startswith(b"[") else None


def _long_lists(tree: Any) -> Iterator[list[Any]]:
    if isinstance(tree, list):
        if len(tree) > LONG_LIST:
            yield tree
        for one in tree:
            yield from _long_lists(one)


def _drop(element: html.HtmlElement) -> None:
    if element.getparent() is not None:
        element.drop_tree()


def _empty(element: html.HtmlElement) -> None:
    for one in element.iter():
        one.text = None
        if one is not element:
            one.tail = None


def main(seed: int) -> None:
    """Print the changes with the rounds until each was noticed, and the false alarms of each engine."""
    known = pools(CAPTURES)
    print(f"{'engine':17}{'change':17}{'name':26}{'emptied':40}{'pages':>7}{'rounds':>8}")
    missed = tried = 0
    for pool in known:
        for trial in trials(pool, CHANGES, random.Random(f"{seed} {pool.spider.name}")):
            print(
                f"{trial.engine:17}{trial.kind:17}{trial.name[:24]:26}{trial.emptied[:38]:40}{trial.share:7.0%}"
                f"{trial.rounds or 'missed':>8}",
                flush=True,
            )
            missed, tried = missed + (trial.rounds is None), tried + 1
    print(f"{tried} changes, {missed} missed")
    rounds = NULL_ROUNDS // len(known) + 1
    for pool in known:
        alarms, fields = false_alarms(pool, rounds, random.Random(seed))
        print(
            f"{pool.spider.name:17}{len(pool.pages):4} pages{rounds:6} rounds{alarms:4} false alarms {fields}",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
