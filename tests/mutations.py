"""Pages that are changed at random, for tests of what reads a stranger's bytes."""

import json
import random
import re
from collections.abc import Sequence

from hypothesis import strategies as st

TAG = re.compile(rb"<([a-zA-Z][\w-]*)[^<>]{0,300}>")

TOKENS = (
    b"<", b">", b'"', b"'", b"&#0;", b"&#xD800;", b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"</div>", b"<div>" * 250,
    b"<table>" * 50, b"</script>", b"<script>", b"<!--", b"]]>", b"\\ud800", b"null", b"[]", b"{}", b"-1", b"1e999",
    b"NaN", b"9" * 30, b'""', b"[" * 300, b'{"a":' * 300, b"javascript:alert(1)", b"http://[::1", b"http://a:99999/",
    b"&#27;[2J&#155;", b"&#x202e;", b"java&#10;script:x", b"<base href='javascript:x'>", b"<template>", b"//", b"%zz",
    "٣".encode(), b"2026-13-45", b"0001-01-01T00:00:00Z", b" href=''", b" class=''",
)  # fmt: skip
"""What is inserted into pages."""
VALUES = (
    None, [], {}, "", 0, -1, 1e308, 10**30, True, "x" * 1000, [[]], {"a": None}, "http://[::1", "\x00", [None] * 5,
    "١٢", "1e9", 1e-320, float("nan"), float("inf"), "javascript:alert(1)", "a\x1b[2Jb\x85c", "\ud800", "<b>x</b>",
    "data:text/html,x", "2026-02-30T25:61:61Z", "9" * 5000,
)  # fmt: skip
"""What values of JSON are replaced with."""
RIGHT_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=9) | st.sampled_from(["http://[::1", "\x00", "9" * 5000, "1e9"]),
    lambda one: st.lists(one, max_size=3) | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), one),
    max_leaves=5,
)  # fmt: skip
"""Values that JSON has."""
ANY_VALUE = RIGHT_VALUE | st.sampled_from(VALUES) | st.text(max_size=9) | st.integers() | st.floats()
"""Those, and what programs write that is none."""


def as_json(value) -> bytes:
    """JSON as other programs may write it, with what is none: NaN, halves of pairs."""
    return json.dumps(value, default=str).encode()


def mutated(chance: random.Random, body: bytes, others: Sequence[bytes] = ()) -> bytes:
    """A page with some bytes, elements, attributes or values changed, or with blocks of others."""
    if not body:
        return chance.choice(TOKENS)
    if others and chance.random() < 0.1:
        body = transplanted(chance, body, chance.choice(others))
    value = json_of(body)
    if value is not None and chance.random() < 0.6:
        return json.dumps(mutated_value(chance, value, chance.choice((0.002, 0.02, 0.1)))).encode()
    for _ in range(chance.choice((1, 1, 2))):
        body = chance.choice(BYTES)(chance, body) or b"<"
    return body


def json_of(body: bytes):
    try:
        return json.loads(body.removeprefix(b")]}'"))
    except ValueError:
        return None


def mutated_value(chance: random.Random, value, share: float):
    if chance.random() < share:
        return chance.choice((*VALUES, [value], {"x": value}))
    if isinstance(value, dict):
        return {key: mutated_value(chance, one, share) for key, one in value.items() if chance.random() > share / 2}
    return [mutated_value(chance, one, share) for one in value] if isinstance(value, list) else value


def span(chance: random.Random, body: bytes, most: int) -> tuple[int, int]:
    start = chance.randrange(len(body))
    return start, min(len(body), start + chance.randrange(1, most))


def flipped(chance: random.Random, body: bytes) -> bytes:
    changed = bytearray(body)
    for _ in range(chance.choice((1, 5, 50, 500))):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def cut(chance: random.Random, body: bytes) -> bytes:
    return body[: chance.randrange(len(body))]


def dropped(chance: random.Random, body: bytes) -> bytes:
    start, end = span(chance, body, chance.choice((2, 20, 500, 5000)))
    return body[:start] + body[end:]


def doubled(chance: random.Random, body: bytes) -> bytes:
    start, end = span(chance, body, 20_000)
    return body[:end] + body[start:end] * chance.choice((1, 3, 10)) + body[end:]


def inserted(chance: random.Random, body: bytes) -> bytes:
    for _ in range(chance.choice((1, 3, 20))):
        at = chance.randrange(len(body))
        body = body[:at] + chance.choice(TOKENS) + body[at:]
    return body


def renumbered(chance: random.Random, body: bytes) -> bytes:
    return re.sub(rb"\d+", lambda digits: chance.choice((digits[0], digits[0], b"9" * 30, b"-1", b"0", b"")), body)


def emptied(chance: random.Random, body: bytes) -> bytes:
    """Some attributes, and some texts, are empty or odd."""
    odd = (b'=""', b"", b'="http://[::1"', b'="//"', b'="javascript:x"', b'=" "')
    body = re.sub(rb'="[^"]{0,200}"', lambda one: one[0] if chance.random() > 0.03 else chance.choice(odd), body)
    return re.sub(rb">[^<>]{1,200}<", lambda one: one[0] if chance.random() > 0.03 else b"><", body)


def transplanted(chance: random.Random, body: bytes, other: bytes) -> bytes:
    """The page with an element of another in it."""
    at, block = chance.randrange(len(body)), element(chance, other)
    return body[:at] + (other[block] if block else other[:5000]) + body[at:]


def nested(chance: random.Random, body: bytes) -> bytes:
    """An element of the page repeated, in itself or beside itself."""
    if not (place := element(chance, body)):
        return body
    block, times = body[place], chance.choice((1, 5, 30))
    if chance.random() < 0.5:
        return body[: place.start] + block * times + body[place.start :]
    tag = TAG.match(block)
    assert tag
    return body[: place.start] + tag[0] * times + block + (b"</%b>" % tag[1]) * times + body[place.stop :]


def element(chance: random.Random, body: bytes) -> slice | None:
    """The place of an element of the page; None where none is found."""
    start = TAG.search(body, chance.randrange(len(body))) if body else None
    if not start:
        return None
    opened, end = 0, re.compile(rb"<(/?)%b[\s>]" % re.escape(start[1]))
    for tag in end.finditer(body, start.start(), start.start() + 100_000):
        opened += -1 if tag[1] else 1
        if not opened:
            return slice(start.start(), body.find(b">", tag.start()) + 1 or len(body))
    return slice(*start.span())


def retagged(chance: random.Random, body: bytes) -> bytes:
    """Elements of one name have another of the page, all of them or some."""
    names = [tag[1] for tag in TAG.finditer(body, chance.randrange(len(body)))]
    if not names:
        return body
    old, new = chance.choice(names), chance.choice((*names, b"template", b"svg", b"x-y"))
    share = chance.choice((0.2, 1))
    of_it = re.compile(rb"(</?)%b(?=[\s>])" % re.escape(old))
    return of_it.sub(lambda tag: tag[1] + new if chance.random() < share else tag[0], body)


def moved(chance: random.Random, body: bytes) -> bytes:
    """Values of attributes stand in others."""
    values = ATTRIBUTE.findall(body)
    if not values:
        return body
    share = chance.choice((0.01, 0.1))
    return ATTRIBUTE.sub(lambda one: chance.choice(values) if chance.random() < share else one[0], body)


def recoded(chance: random.Random, body: bytes) -> bytes:
    """The page in another charset than it says."""
    if chance.random() < 0.4:
        return re.sub(rb"(?i)charset=[\"']?[\w-]+", b"charset=" + chance.choice(CHARSETS).encode(), body)
    return body.decode("utf-8", "replace").encode(chance.choice(CHARSETS), "replace")


def odd_island(chance: random.Random, body: bytes) -> bytes:
    """A script of JSON in the page has other values."""
    islands = [one for one in ISLAND.finditer(body) if json_of(one[1]) is not None]
    if not islands:
        return inserted(chance, body)
    island = chance.choice(islands)
    value = mutated_value(chance, json_of(island[1]), chance.choice((0.01, 0.1)))
    return body[: island.start(1)] + json.dumps(value).encode() + body[island.end(1) :]


ATTRIBUTE = re.compile(rb'="[^"<>]{0,300}"')
ISLAND = re.compile(rb"<script[^<>]*>\s*([{\[][^<]*[}\]])\s*</script")
CHARSETS = ("utf-16", "utf-16-be", "latin-1", "shift_jis", "gb18030", "euc_kr", "iso2022_jp", "utf-7", "cp037")
BYTES = (
    flipped, cut, dropped, doubled, inserted, inserted, renumbered, emptied, emptied, nested, nested, retagged, moved,
    moved, recoded, odd_island, odd_island,
)  # fmt: skip
