"""Parsers of result pages of other projects: `results.py NAME PACKAGE < files`."""

from collections.abc import Callable
from pathlib import Path

from measured import answer


def websearcher() -> Callable[[bytes], list[str]]:
    from WebSearcher import parse_serp

    def links(body: bytes) -> list[str]:
        found = parse_serp(body.decode("utf-8", "replace"))["results"]
        return [row["url"] for row in found if row["type"] == "general" and row["url"]]

    return links


answer(globals(), Path.read_bytes)
