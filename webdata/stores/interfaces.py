"""What the rules ask of a store; every store passes the same tests."""

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
