"""The `/v1` service: routes made from the resources, and what one call goes through."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any

import orjson
from klein import Klein
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure
from twisted.web.server import Request
from werkzeug.exceptions import MethodNotAllowed, NotFound

from webdata.access import Access
from webdata.api.front import Front, request_id, target, wanted_type
from webdata.api.index import describe
from webdata.api.params import Header, packed_query, path_query
from webdata.api.problems import ProblemDetails, problem_of
from webdata.api.replies import Reply, answered
from webdata.api.routes import routes
from webdata.api.site import Site
from webdata.crawl import Call, Calls
from webdata.errors import FetchError
from webdata.query import Query
from webdata.resources import Resource

logger = logging.getLogger(__name__)


class Api:
    """Answers every resource under its path, for callers with a key.

    `deadline` is in seconds; with `sandbox_always` live keys are answered from the sandbox too.
    """

    def __init__(
        self,
        resources: Iterable[Resource],
        calls: Calls,
        access: Access,
        deadline: float,
        sandbox_always: bool = False,
    ) -> None:
        self._resources = sorted(set(resources), key=lambda resource: resource.path)
        self._calls = calls
        self._access = access
        self._deadline = deadline
        self._sandbox_always = sandbox_always
        self._front = Front(self._routes().resource())
        self._site = Site(self._front)

    def resource(self) -> Front:
        """The root of the service, for a site."""
        return self._front

    def site(self) -> Site:
        """What a port listens for."""
        return self._site

    async def drain(self, within: float) -> None:
        """Answer new requests with 503 and wait until those in flight are answered, and the answers sent.

        Returns when none is left, or after `within` seconds.
        """
        self._front.stop()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._front.idle()
                await self._site.close()

    def _routes(self) -> Klein:
        # Every handler answers its own errors; what is left to Klein's are paths and methods that have none.
        app = Klein()
        app.url_map.merge_slashes = False  # a packed segment may hold a URL
        app.route("/", methods=["GET"], endpoint="index")(self._index())
        for resource in self._resources:
            handler = self._handler(resource)
            for rule in routes(resource):
                app.route(rule, methods=["GET"], endpoint=resource.name)(handler)
        app.handle_errors(NotFound)(self._no_endpoint)
        app.handle_errors(MethodNotAllowed)(self._no_method)
        return app

    def _index(self) -> Callable[[Request], bytes]:
        body = orjson.dumps(describe(self._resources))

        def index(request: Request) -> bytes:
            return Reply(200, body, {"content-type": "application/json"}).put_on(request)

        return index

    def _handler(self, resource: Resource) -> Callable[..., "Deferred[bytes]"]:
        def handle(request: Request, **segments: str) -> "Deferred[bytes]":
            return _uncancelled(self._answer(resource, request, segments))

        return handle

    async def _answer(self, resource: Resource, request: Request, segments: Mapping[str, str]) -> bytes:
        try:
            reply = await self._called(resource, request, segments)
        except Exception as error:  # noqa: BLE001  # whatever happens, the caller is answered and the log has the rest
            reply = _problem(error, request, resource)
        return reply.put_on(request)

    async def _called(self, resource: Resource, request: Request, segments: Mapping[str, str]) -> Reply:
        header = _headers(request)
        key = self._access.authenticate(header)
        query, ignored = _query(resource, segments, target(request)[1], header)
        sandbox = key.test or self._sandbox_always
        answer = await self._calls.answer(Call(resource, query, sandbox, self._deadline))
        return answered(answer, ignored)

    def _no_endpoint(self, request: Any, failure: Failure) -> bytes:
        paths = ", ".join(resource.route for resource in self._resources)
        message = f"There is no such endpoint: the endpoints are {paths}; GET / describes them."
        return _refuse(ProblemDetails("not_found", message), request)

    def _no_method(self, request: Any, failure: Failure) -> bytes:
        assert isinstance(failure.value, MethodNotAllowed)
        allowed = ", ".join(sorted(failure.value.valid_methods or ()))
        message = f"{request.method.decode()} is not possible here: use one of {allowed}."
        return _refuse(ProblemDetails("method_not_allowed", message, headers={"allow": allowed}), request)


def _uncancelled(answer: Coroutine[Any, Any, bytes]) -> "Deferred[bytes]":
    """The answer as a Deferred. Klein cancels it when the caller hangs up; the call itself goes on to its end."""
    outer: Deferred[bytes] = Deferred()
    deferred_from_coro(answer).chainDeferred(outer)
    return outer


def _headers(request: Request) -> Header:
    def header(name: str) -> str | None:
        value = request.getHeader(name.encode("ascii"))
        return None if value is None else value.decode("utf-8", "replace")

    return header


def _query(resource: Resource, segments: Mapping[str, str], query: str, header: Header) -> tuple[Query, list[str]]:
    if resource.packed:
        return packed_query(resource, segments.get("segment", ""), query, header)
    return path_query(resource, segments, query, header)


def _problem(error: Exception, request: Request, resource: Resource) -> Reply:
    problem = problem_of(error, resource.bad_query_status)
    if isinstance(error, FetchError):
        logger.info("%s %s (%s): %r", request_id(request), problem.code, error.kind, error.reason)
    elif problem.code == "internal":
        logger.error("%s failed", request_id(request), exc_info=error)
    return problem.reply(request_id(request), wanted_type(request))


def _refuse(problem: ProblemDetails, request: Request) -> bytes:
    return problem.reply(request_id(request), wanted_type(request)).put_on(request)
