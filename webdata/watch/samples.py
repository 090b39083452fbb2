"""Keeps the pages that no parser knew, for study (contract.md 3).

The folder is one that the sandbox can replay: the pages, and an `INDEX.jsonl` that tells of each.
"""

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

MOST = 100
"""Pages that are kept; the oldest go first."""


@dataclass(frozen=True)
class KeptPages:
    """A folder of pages, which processes may share. The same page is kept once."""

    folder: Path
    most: int = MOST

    def keep(self, engine: str, body: bytes, **told: Any) -> Path:
        """Keep a page and what is `told` of it (`url`, `status`, `reason`, …); returns where it is."""
        path = self.folder / f"{engine}-{sha256(body).hexdigest()[:16]}.html"
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            with self._alone():
                path.write_bytes(body)
                self._list([*self._rows(), {"file": path.name, "engine": engine, **told}])
        return path

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other processes from the index meanwhile."""
        with (self.folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _rows(self) -> list[dict[str, Any]]:
        index = self.folder / "INDEX.jsonl"
        lines = index.read_text(encoding="utf-8").splitlines() if index.exists() else []
        return [json.loads(line) for line in lines]

    def _list(self, rows: list[dict[str, Any]]) -> None:
        for row in rows[: -self.most]:
            (self.folder / row["file"]).unlink(missing_ok=True)
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows[-self.most :])
        new = self.folder / "INDEX.new"
        new.write_text(text, encoding="utf-8")
        new.replace(self.folder / "INDEX.jsonl")  # whole, or not at all
