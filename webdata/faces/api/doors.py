"""What the API and the faces behind it know of each other: a door has paths, answers and errors of its own shape."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from webdata.faces.api.problems import ProblemDetails
from webdata.runtime.server.replies import Reply


@dataclass(frozen=True)
class DoorRoute:
    """One route behind a door."""

    rule: str
    """Werkzeug's, with the prefix of the door."""
    reply: Callable[..., Coroutine[Any, Any, Reply]]
    """Answers an Incoming, with the named segments of its path. What it raises is answered as an error."""
    methods: tuple[str, ...] = ("POST",)
    of_caller: bool = False
    """Whether its key is checked, and the request counted, before it answers: it then gets the Caller, too. The calls
    that others make check and count themselves."""


@dataclass(frozen=True)
class Door:
    """Another way to the same calls, under prefixes: a protocol, or the API of another service for its clients."""

    prefixes: tuple[str, ...]
    """The first segments of its paths."""
    summary: str
    routes: Sequence[DoorRoute]
    refusal: Callable[[ProblemDetails, str], Reply]
    """The reply to a problem in the shape that its clients read, from the problem and the request id."""

    def has(self, path: str) -> bool:
        """Whether a path is one of its own."""
        return path.split("/")[1] in self.prefixes
