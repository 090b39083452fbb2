"""The calls that a request of a dialect needs, made exactly as those of `/v1`: one, or several side by side."""

from codecs import BOM_UTF8
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import inf
from typing import Annotated, Any, TypeVar

import orjson
from pydantic import AfterValidator

from webdata.accounts.access.admission import CallRequest
from webdata.domain.errors import Problem, QueryError
from webdata.domain.query import Query, Remarks, check_known, explained, unpack
from webdata.domain.records import Record
from webdata.faces.api.calling import Called, Calling
from webdata.faces.api.misplaced_keys import check_places
from webdata.faces.api.params import check_encoding, members
from webdata.faces.api.problems import ProblemDetails, problem_of
from webdata.faces.api.replies import record_of, remark_headers
from webdata.faces.api.side_calls import COST, account_headers, side_by_side
from webdata.resources import Resource
from webdata.runtime.server.incoming import Incoming
from webdata.runtime.server.replies import JSON, Reply, new_request_id
from webdata.runtime.server.site import ascii_only

EMPTY: tuple[Any, ...] = (None, False, 0, "", [], {})
"""Values that ask for nothing."""
OF_THE_ANSWER = ("content-type", "x-upstream-status", "x-truncated", "x-left-out", "x-next-cursor")
"""Headers of a reply of `/v1` that describe its body."""
NUMBER = "num"
"""The field for the number of results, to which they are cut in any case."""


def _empty(value: object) -> object:
    if value in EMPTY:
        return value
    raise explained("is not honoured here: leave it out")


Refused = Annotated[Any, AfterValidator(_empty)]
"""An option that nothing here does; a value that asks for nothing is accepted, since clients send their defaults."""
BodyQuery = TypeVar("BodyQuery", bound=Query)
Read = Callable[[], tuple[Query, Remarks]]
"""Returns the query of a call, and what its caller learns about it; raises QueryError."""

Refusal = Callable[[ProblemDetails, str], Reply]
"""Makes the reply to a problem in the shape of a dialect, with the request's id."""


@dataclass(frozen=True)
class CallOf:
    """A call that a request needs."""

    resource: Resource
    read: Read
    seconds: float = inf
    """The most that it may take; the service's own deadline is shorter than any other."""


@dataclass(frozen=True)
class MadeCall:
    """A call that has ended."""

    resource: Resource
    called: Called

    @property
    def failed(self) -> bool:
        """Whether there is no record."""
        return isinstance(self.called.result.end, Exception)

    @cached_property
    def record(self) -> Record:
        """The record, of a call that has not failed."""
        end = self.called.result.end
        assert not isinstance(end, Exception)
        return record_of(end)

    @property
    def problem(self) -> ProblemDetails:
        """What went wrong, with a call that has failed."""
        end = self.called.result.end
        assert isinstance(end, Exception)
        return problem_of(end, self.resource)

    @property
    def engine(self) -> str:
        """The engine that answered; "" where none has."""
        return self.called.headers.get("x-engine", "")

    @property
    def headers(self) -> dict[str, str]:
        """The headers of its reply in `/v1`, without those of its body."""
        return {name: value for name, value in self.called.headers.items() if name not in OF_THE_ANSWER}

    @property
    def cost(self) -> int:
        """The credits that it cost."""
        return int(self.called.headers.get(COST, 0))

    def release(self) -> None:
        """Release what it holds."""
        self.called.release()


class DialectCalls:
    """Makes calls, with the key and the cache control of the request that needs them."""

    def __init__(self, calls: Calling, resources: Iterable[Resource]) -> None:
        self._calls = calls
        self.resources = {resource.name: resource for resource in resources}

    async def one(self, incoming: Incoming, call: CallOf) -> MadeCall:
        """Make one call, which has the id of its request."""
        return MadeCall(call.resource, await self._calls.called(_request(incoming, call, incoming.id)))

    async def refuse(self, incoming: Incoming, resource: Resource, error: QueryError, refusal: Refusal) -> Reply:
        """The reply to a request whose parameters are wrong: its key is checked first, as that of any call."""

        def read() -> tuple[Query, Remarks]:
            raise error

        return refused([await self.one(incoming, CallOf(resource, read))], refusal)

    async def several(self, incoming: Incoming, calls: Sequence[CallOf], *, further: bool = False) -> list[MadeCall]:
        """Make calls side by side, AT_ONCE at a time.

        The first has the id of the request, unless they are `further` calls of it; all others have ids of their own.
        """
        ids = [new_request_id() if number or further else incoming.id for number in range(len(calls))]
        requests = [_request(incoming, call, call_id) for call, call_id in zip(calls, ids, strict=True)]
        made = await side_by_side(self._calls, requests)
        return [MadeCall(call.resource, called) for call, called in zip(calls, made, strict=True) if called]


def _request(incoming: Incoming, call: CallOf, call_id: str) -> CallRequest:
    header, check = incoming.header, partial(check_places, incoming)
    return CallRequest(call_id, call.resource, header, call.read, lambda: incoming.gone, None, check, call.seconds)


def read_query(
    resource: Resource, values: Mapping[str, Any], names: Mapping[str, str] | None = None, ignored: Collection[str] = ()
) -> tuple[Query, Remarks]:
    """The query of a resource with these fields; one that is None is absent.

    Raises QueryError that lists every wrong field, called as the dialect's `names` say. `ignored` are the dialect's
    own names of what has no effect.
    """
    given = {name: value for name, value in values.items() if value is not None}
    headers = resource.query.header_names()
    pairs = [(name, value) for name, value in given.items() if name not in headers]
    try:
        query, remarks = resource.query.read(pairs, {name: given.get(name) for name in headers})
    except QueryError as error:
        raise QueryError([_renamed(problem, resource, names or {}) for problem in error.problems]) from None
    return query, remarks._replace(ignored=(*ignored, *remarks.ignored))


def search_query(
    resource: Resource, values: Mapping[str, Any], names: Mapping[str, str], preferences: Collection[str] = ()
) -> tuple[Query, Remarks]:
    """The query of a search, as `read_query`; raises QueryError also for a field that the search does not have.

    One of the `preferences` that it does not have is named as ignored, since clients send them with every search.
    """
    fields = resource.query.fields()
    lacking = [name for name, value in values.items() if value is not None and name not in fields]
    for name in lacking:
        if name not in (NUMBER, *preferences):
            called = names.get(name, name)
            raise wrong(called, f"{called} is nothing that {resource.path} knows: leave it out, or search elsewhere")
    ignored = dict.fromkeys(names.get(name, name) for name in lacking if name != NUMBER)
    return read_query(resource, {name: values[name] for name in values if name in fields}, names, tuple(ignored))


def located(resource: Resource, country: str | None) -> dict[str, str | None]:
    """The field for a country: the region, where a search has no countries, but is told apart by region."""
    by_region = "gl" not in resource.query.fields() and "X-Proxy-Location" in resource.query.heeded()
    return {"region": country.upper()} if country and by_region else {"gl": country}


def _renamed(problem: Problem, resource: Resource, names: Mapping[str, str]) -> Problem:
    *place, sent_as = problem["loc"]
    fields = {header: name for name, header in resource.query.header_names().items()}
    name = names.get(fields.get(str(sent_as), str(sent_as)))
    if name is None:
        return problem
    message = problem["msg"].replace(str(sent_as), name, 1).replace(f" {sent_as}=", f" {name}=")
    return {**problem, "loc": [*place, name], "msg": message}


def read_body(query: type[BodyQuery], incoming: Incoming, right: str) -> BodyQuery:
    """The members of a JSON object and the parameters of the URL; raises QueryError, also for each that `query` lacks.

    An empty text is an absent one, since clients send the fields of their forms so. `right` is a body that would do.
    """
    check_encoding(incoming.query)
    given = members(incoming.body, f"send a JSON object such as {right}") if incoming.body else []
    pairs = [*given, *unpack(incoming.query)]
    check_known((name for name, _ in pairs), query.keys())
    return query.read(stated(query, pairs))[0]


def form_text(body: bytes) -> str:
    """A form as a query string, also one whose client has encoded nothing, as `curl -d` does."""
    return ascii_only(body).decode("ascii")


def in_array(body: bytes) -> list[bytes] | None:
    """The members of an array in JSON, each as a body of its own; None for any other body."""
    try:
        found = orjson.loads(body.removeprefix(BOM_UTF8))
        return [orjson.dumps(one) for one in found] if isinstance(found, list) else None
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):  # it writes fewer levels than it reads
        return None


def stated(query: type[Query], pairs: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """These fields without empty texts, where a field need not be given."""
    return [(name, value) for name, value in pairs if value != "" or query.model_fields[name].is_required()]


def wrong(name: str, message: str, kind: str = "not_honoured") -> QueryError:
    """The error of one parameter of a dialect."""
    return QueryError([{"loc": ["body", name], "msg": message, "type": kind}])


def answered(made: Sequence[MadeCall], body: object, content_type: str = JSON) -> Reply:
    """The reply to a request with the calls that it needed, all that cost something with their sum."""
    data = body if isinstance(body, bytes) else orjson.dumps(body)
    return Reply(200, data, {**headers_of(made), "content-type": content_type}, lambda: _release(made))


def refused(made: Sequence[MadeCall], refusal: Refusal) -> Reply:
    """The reply to a request whose first call failed, in the shape of a dialect."""
    _release(made)
    reply = refusal(made[0].problem, made[0].called.headers["x-request-id"])
    return Reply(reply.status, reply.body, {**headers_of(made), **reply.headers})


def headers_of(made: Sequence[MadeCall]) -> dict[str, str]:
    """The headers of one call as in `/v1`; of several what the caller's limit, credits and parameters are."""
    if len(made) == 1:
        return made[0].headers
    remarks = [one.called.result.remarks for one in made]
    ignored = dict.fromkeys(name for one in remarks for name in one.ignored)
    adjusted = dict.fromkeys(name for one in remarks for name in one.adjusted)
    headers = account_headers([one.called for one in made])
    return headers | remark_headers(Remarks(tuple(ignored), tuple(adjusted)))


def _release(made: Iterable[MadeCall]) -> None:
    for one in made:
        one.release()
