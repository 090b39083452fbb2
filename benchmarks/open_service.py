"""As `service`, without keys, limits, cache and credits."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from benchmarks.service import main
from webdata.api import admission
from webdata.api.params import Header
from webdata.crawling.warm_crawlers import Answer, Call
from webdata.stores.interfaces import DEFAULT_ACCOUNT, DEFAULT_PLAN, Account, Caller, Key

NOW = datetime.now(UTC)
ANYBODY = Caller(Key("key_open", "open", False, NOW, ""), Account(DEFAULT_ACCOUNT, "default", DEFAULT_PLAN, NOW), 0)


class Open(admission.Admission):
    """Lets everybody in, for nothing."""

    @asynccontextmanager
    async def admitted(self, header: Header, standing: Any, endpoint: str | None = None) -> AsyncIterator[Caller]:
        """Anybody."""
        yield ANYBODY

    async def answer(self, caller: Caller, call: Call, *_: Any) -> Answer:
        """What the engine answers."""
        return await self._calls.answer(call)


admission.Admission = Open  # type: ignore[misc]  # before the service takes it

if __name__ == "__main__":
    main(["serve"])
