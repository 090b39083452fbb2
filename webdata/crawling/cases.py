"""Cases: pages of our own making, each in one file with the query that it answers and its reviewed record or error.

`fixtures/<engine>/<case>.case` is a JSON object (`query`, `response`, and `expected` or `error`), a line `---`, and the
page, whose bytes are as they came.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

SUFFIX = ".case"
SEPARATOR = b"\n---\n"
ENDS = ("expected", "error", "unread")


@dataclass(frozen=True)
class Case:
    """A page, its query, what is known of its response, and the record or the error that it has."""

    query: dict[str, str]
    response: dict[str, Any]
    """`origin`, `url`, `status` and `headers`."""
    body: bytes
    expected: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    """`outcome`, `kind` and `reason`."""
    unread: bool = False
    """Whether its record or error is what a parser says, which nobody has read: its test fails."""

    @classmethod
    def read(cls, path: Path) -> Self:
        """The case of a file; raises ValueError for a file that is none."""
        head, separator, body = path.read_bytes().partition(SEPARATOR)
        if not separator:
            raise ValueError(f"{path} is no case: it has no line `---` between a JSON object and a page")
        read = json.loads(head)
        return cls(
            read["query"], read["response"], body, read.get("expected"), read.get("error"), read.get("unread", False)
        )

    def written(self) -> bytes:
        """The content of its file."""
        ends = {"unread": self.unread, "expected": self.expected, "error": self.error}
        head = {"query": self.query, "response": self.response, **{key: end for key, end in ends.items() if end}}
        return json.dumps(head, indent=2, ensure_ascii=False).encode() + SEPARATOR + self.body
