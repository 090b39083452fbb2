"""What the rules ask of a store; every store passes the same tests."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True)
class Key:
    """Who calls: everything about an API key but its secret."""

    id: str
    name: str
    test: bool
    """A test key is answered from the sandbox, a live key from the internet (contract.md 7)."""
    created: datetime
    """In UTC."""
    digest: str = field(repr=False)
    """The hash that the key is found by (see `webdata.access.digest`)."""


class KeyStore(Protocol):
    """Keys by the digest of their secret; the secret itself is never kept."""

    def add(self, key: Key) -> None:
        """Keep a key; raises ValueError if its id or digest is taken."""
        ...

    def find(self, digest: str) -> Key | None:
        """The key of this digest, as of now: a key removed by another process is not found."""
        ...

    def remove(self, key_id: str) -> bool:
        """Forget a key; tells whether it was there."""
        ...

    def all(self) -> list[Key]:
        """Every key, oldest first."""
        ...


class LinkStore(Protocol):
    """Publishers' addresses by the news aggregator's ids, kept for ever: an id never changes its meaning.

    It spares fetches and is never needed for an answer: a store that fails says so in its log and finds nothing.
    """

    def find(self, ids: Collection[str]) -> dict[str, str]:
        """The addresses of those of the ids that are known."""
        ...

    def add(self, addresses: Mapping[str, str]) -> None:
        """Keep addresses by their ids; one that is there already stays as it is."""
        ...

    def close(self) -> None:
        """Let go of every connection."""
        ...
