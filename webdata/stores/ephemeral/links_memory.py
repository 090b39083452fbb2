"""Resolved links in the memory of this process, for the sandbox."""

from collections.abc import Collection, Mapping


class MemoryLinks:
    """A LinkStore in a dictionary."""

    def __init__(self) -> None:
        self._addresses: dict[str, str] = {}

    def find(self, ids: Collection[str]) -> dict[str, str]:
        return {one: self._addresses[one] for one in ids if one in self._addresses}

    def add(self, addresses: Mapping[str, str]) -> None:
        for one, address in addresses.items():
            self._addresses.setdefault(one, address)

    def close(self) -> None:
        """There is nothing to close."""
