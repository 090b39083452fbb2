"""What one face asks of another that answers calls: the dashboard of the API."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from webdata.accounts.access.admission import CallRequest, CallResult


@dataclass(frozen=True)
class Called:
    """A call that has ended, with the response that its caller would have had by HTTP.

    Whoever gets it releases it when the answer is read.
    """

    result: CallResult
    status: int
    headers: Mapping[str, str]
    body: bytes | memoryview

    def release(self) -> None:
        """Release what it holds."""
        if self.result.share:
            self.result.share.release()


class Calling(Protocol):
    """Runs calls exactly as those that come by HTTP."""

    async def called(self, request: CallRequest) -> Called:
        """Run a call: limits, credits, cache, metrics and logs are those of any other. Raises nothing."""
        ...
