"""The keys of an account that a form offers."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from webdata.accounts.access.api_keys import check_usable
from webdata.domain.errors import UnauthorizedError
from webdata.stores.accounts.model import Key
from webdata.stores.accounts.sql import KeyStore


async def usable_keys(keys: KeyStore, account_id: str, resource: str | None = None) -> list[Key]:
    """The keys that open a resource, or any; test keys first, the last used before others."""
    now = datetime.now(UTC)
    found = [key for key in await keys.of(account_id) if _opens(key, now, resource)]
    return sorted(found, key=lambda key: (not key.test, -(key.last_used or key.created).timestamp()))


def key_options(keys: Sequence[Key]) -> list[tuple[str, str]]:
    """Their ids, each with its name; the beginning of the secret tells those of one name apart."""
    names = Counter(key.name for key in keys)
    return [(key.id, _label(key, is_alone=names[key.name] == 1)) for key in keys]


def _label(key: Key, *, is_alone: bool) -> str:
    known = key.name if key.name and is_alone else f"{key.name} {key.prefix}…".strip()
    return f"{known} ({'test' if key.test else 'live'})"


def _opens(key: Key, now: datetime, resource: str | None) -> bool:
    try:
        check_usable(key, now, resource)
    except UnauthorizedError:
        return False
    return True
