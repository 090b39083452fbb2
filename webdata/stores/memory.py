"""State kept in memory, for tests and trials: gone with the process."""

from collections.abc import Collection, Mapping

from webdata.stores.interfaces import Key


class MemoryKeys:
    """A KeyStore in a dictionary."""

    def __init__(self) -> None:
        self._keys: dict[str, Key] = {}

    def add(self, key: Key) -> None:
        if any(key.id == kept.id or key.digest == kept.digest for kept in self._keys.values()):
            raise ValueError(f"the key {key.id} is there already")
        self._keys[key.digest] = key

    def find(self, digest: str) -> Key | None:
        return self._keys.get(digest)

    def remove(self, key_id: str) -> bool:
        kept = {digest: key for digest, key in self._keys.items() if key.id != key_id}
        removed = len(kept) < len(self._keys)
        self._keys = kept
        return removed

    def all(self) -> list[Key]:
        return sorted(self._keys.values(), key=lambda key: (key.created, key.id))


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
        """Nothing is held open."""
