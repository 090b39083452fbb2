"""What the API and the faces behind it know of each other: a door has paths, answers and errors of its own shape."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from webdata.domain.query import Query
from webdata.faces.api.problems import ProblemDetails
from webdata.runtime.server.replies import JSON, Reply

BASE_ENDS = (2, 3)
"""Before which parts of a path a base URL may end: behind the door's prefix, or behind a version."""


@dataclass(frozen=True)
class RouteContract:
    """What a route takes and gives, for the OpenAPI document of the doors."""

    summary: str
    query: type[Query] = Query
    """The members of its body, or with GET the parameters of its URL. One without a description is not described."""
    example: Mapping[str, Any] = field(default_factory=dict)
    """A body that works."""
    body_type: str = JSON
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Further parameters of the URL, named segments of the path among them, with what they are."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Request headers, with what they are."""
    gives: tuple[str, ...] = (JSON,)
    """The media types of its answers."""
    needs_key: bool = True


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
    contract: RouteContract | None = None
    """None for a further path of a route that has one."""

    @property
    def rules(self) -> list[str]:
        """Its rule, and those for a base URL that its user has ended with a slash."""
        segments = self.rule.split("/")
        ends = [end for end in BASE_ENDS if any(segments[end:])]
        return [self.rule, *("/".join([*segments[:end], "", *segments[end:]]) for end in ends)]

    @property
    def heeds_last_slash(self) -> bool:
        """Whether a slash at the end of its path belongs to what is asked for."""
        return "<path:" in self.rule


@dataclass(frozen=True)
class Door:
    """Another way to the same calls, under prefixes: a protocol, or the API of another service for its clients."""

    prefixes: tuple[str, ...]
    """The first segments of its paths."""
    summary: str
    routes: Sequence[DoorRoute]
    refusal: Callable[[ProblemDetails, str], Reply]
    """The reply to a problem in the shape that its clients read, from the problem and the request id."""

    @property
    def described(self) -> list[str]:
        """The paths of its routes, each once."""
        return [route.rule for route in self.routes if route.contract]

    def has(self, path: str) -> bool:
        """Whether a path is one of its own."""
        return path.split("/")[1] in self.prefixes
