"""The `/v1` service: routes made from the resources, and what one call goes through."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import orjson
from klein import Klein
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure
from twisted.web.server import Request
from werkzeug.exceptions import MethodNotAllowed, NotFound

from webdata.api.account import KEY_PAGES, KeyPage
from webdata.api.admission import Admission, Standing
from webdata.api.connections import Connections
from webdata.api.front import Front, request_id, target, wanted_type
from webdata.api.index import describe
from webdata.api.open_pages import FRESH, OpenPage
from webdata.api.params import Header, body_query, packed_query, path_query
from webdata.api.problems import INTERNAL, JSON, ProblemDetails, problem_of
from webdata.api.replies import Reply, answered, ignored_header, step_told
from webdata.api.routes import routes
from webdata.api.site import Site
from webdata.cache import CacheControl
from webdata.crawl import Call
from webdata.errors import DatabaseAwayError, FetchError
from webdata.query import Query, unpack
from webdata.resources import Resource

logger = logging.getLogger(__name__)

Answered = Callable[[str, str], None]
"""Who is told of each answer: the endpoint's name, and `ok` or the code of the error."""


class Api:
    """Answers every resource under its path, and the pages about the caller, for callers with a key.

    `deadline` is in seconds; with `sandbox_always` live keys are answered from the sandbox too. `pages` are answered
    beside the resources, for anybody. `connections` are those of all ports of the process.
    """

    def __init__(
        self,
        resources: Iterable[Resource],
        admission: Admission,
        deadline: float,
        sandbox_always: bool = False,
        pages: Sequence[OpenPage] = (),
        told: Answered | None = None,
        connections: Connections | None = None,
    ) -> None:
        self._resources = sorted(set(resources), key=lambda resource: resource.path)
        self._admission = admission
        self._deadline = deadline
        self._sandbox_always = sandbox_always
        self._pages = pages
        self._told = told
        self._front = Front(self._routes().resource(), frozenset(page.path for page in pages))
        self._connections = connections or Connections()

    def resource(self) -> Front:
        """The root of the service, for a site."""
        return self._front

    def site(self, hsts: int = 0) -> Site:
        """What a port listens for; `hsts` is told by TLS, in seconds."""
        return Site(self._front, self._connections, hsts)

    async def drain(self, within: float) -> None:
        """Answer new requests with 503 and wait until those in flight are answered, and the answers sent.

        Returns when none is left, or after `within` seconds.
        """
        self._front.stop()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._front.idle()
                await self._connections.close()

    def _routes(self) -> Klein:
        # Resources answer their own errors; what is left to Klein's are paths and methods that have none, and pages.
        app = Klein()
        app.url_map.merge_slashes = False  # a packed segment may hold a URL
        app.route("/", methods=["GET"], endpoint="index")(self._index())
        for page in self._pages:
            app.route(page.path, methods=["GET"], endpoint=page.path)(self._open(page))
        for key_page in KEY_PAGES:
            app.route(key_page.path, methods=["GET"], endpoint=key_page.path)(self._told_to_keys(key_page))
        for resource in self._resources:
            handler = self._handler(resource)
            for rule in routes(resource):
                app.route(rule, methods=[resource.method], endpoint=resource.name)(handler)
        app.handle_errors(NotFound)(self._no_endpoint)
        app.handle_errors(MethodNotAllowed)(self._no_method)
        app.handle_errors(Exception)(self._fault)
        return app

    def _index(self) -> Callable[[Request], bytes]:
        body = orjson.dumps(describe(self._resources, self._pages))

        def index(request: Request) -> bytes:
            return Reply(200, body, {"content-type": "application/json"}).put_on(request)

        return index

    def _open(self, page: OpenPage) -> Callable[[Request], "Deferred[bytes]"]:
        async def reply(request: Request) -> bytes:
            told = page.reply(_headers(request))
            return (told if isinstance(told, Reply) else await told).put_on(request)

        def show(request: Request) -> "Deferred[bytes]":
            return _uncancelled(reply(request))

        return show

    def _told_to_keys(self, page: KeyPage) -> Callable[[Request], "Deferred[bytes]"]:
        async def told(request: Request, standing: Standing) -> Reply:
            async with self._admission.admitted(_headers(request), standing) as caller:
                query, ignored = page.query.read(unpack(target(request)[1]))
                found = orjson.dumps(await page.reply(self._admission.ledger, caller, query))
                return Reply(200, found, {"content-type": JSON, **FRESH, **ignored_header(ignored)})

        def show(request: Request) -> "Deferred[bytes]":
            return _uncancelled(self._answer(None, request, lambda standing: told(request, standing)))

        return show

    def _handler(self, resource: Resource) -> Callable[..., "Deferred[bytes]"]:
        def handle(request: Request, **segments: str) -> "Deferred[bytes]":
            body = _body(request)  # now: it is gone as soon as the caller is
            called = partial(self._called, resource, request, segments, body)
            return _uncancelled(self._answer(resource, request, called))

        return handle

    async def _answer(
        self, resource: Resource | None, request: Request, called: Callable[[Standing], Awaitable[Reply]]
    ) -> bytes:
        standing = Standing()
        try:
            reply, code = await called(standing), "ok"
        except Exception as error:  # noqa: BLE001  # whatever happens, the caller is answered and the log has the rest
            problem = _problem(error, request, resource)
            reply, code = problem.reply(request_id(request), wanted_type(request)), problem.code
        if self._told and resource:
            self._told(resource.name, code)
        return replace(reply, headers={**standing.headers(), **reply.headers}).put_on(request)

    async def _called(
        self, resource: Resource, request: Request, segments: Mapping[str, str], body: bytes, standing: Standing
    ) -> Reply:
        header = _headers(request)
        async with self._admission.admitted(header, standing, resource.name) as caller:
            query, ignored = _query(resource, segments, target(request)[1], body, header)
            call = Call(resource, query, caller.key.test or self._sandbox_always, self._deadline)
            control = CacheControl.read(header("cache-control"))
            answer = await self._admission.answer(caller, call, request_id(request), control, standing)
            return answered(resource, answer, ignored)

    def _no_endpoint(self, request: Any, failure: Failure) -> bytes:
        paths = ", ".join(resource.route for resource in self._resources)
        message = f"There is no such endpoint: the endpoints are {paths}; GET / describes them."
        return _refuse(ProblemDetails("not_found", message), request)

    def _no_method(self, request: Any, failure: Failure) -> bytes:
        assert isinstance(failure.value, MethodNotAllowed)
        allowed = ", ".join(sorted(failure.value.valid_methods or ()))
        right = f"{allowed}, with a JSON object as the body" if "POST" in allowed else f"one of {allowed}"
        message = f"{request.method.decode()} is not possible here: use {right}."
        return _refuse(ProblemDetails("method_not_allowed", message, headers={"allow": allowed}), request)

    def _fault(self, request: Any, failure: Failure) -> bytes:
        logger.error("%s failed", request_id(request), exc_info=failure.value)
        return _refuse(ProblemDetails("internal", INTERNAL), request)


def _uncancelled(answer: Coroutine[Any, Any, bytes]) -> "Deferred[bytes]":
    """The answer as a Deferred. Klein cancels it when the caller hangs up; the call itself goes on to its end."""
    told: Deferred[bytes] = Deferred()

    def tell(task: "asyncio.Task[bytes]") -> None:
        try:
            told.callback(task.result())
        except Exception:  # noqa: BLE001  # whatever it is, Klein answers and logs it
            told.errback(Failure())

    asyncio.ensure_future(answer).add_done_callback(tell)
    return told


def _headers(request: Request) -> Header:
    def header(name: str) -> str | None:
        value = request.getHeader(name.encode("ascii"))
        return None if value is None else value.decode("utf-8", "replace")

    return header


def _query(
    resource: Resource, segments: Mapping[str, str], query: str, body: bytes, header: Header
) -> tuple[Query, list[str]]:
    if resource.method == "POST":
        return body_query(resource, body, query, header)
    if resource.packed:
        return packed_query(resource, segments.get("segment", ""), query, header)
    return path_query(resource, segments, query, header)


def _body(request: Request) -> bytes:
    assert request.content
    request.content.seek(0)
    body: bytes = request.content.read()
    return body


def _problem(error: Exception, request: Request, resource: Resource | None) -> ProblemDetails:
    problem = problem_of(error, resource)
    if isinstance(error, FetchError):
        steps = ", ".join(map(step_told, error.steps)) or "none has ended"
        logger.info("%s %s (%s): %r; steps: %s", request_id(request), problem.code, error.kind, error.reason, steps)
    elif isinstance(error, DatabaseAwayError):
        logger.error("%s: the database does not answer: %s", request_id(request), error)
    elif problem.code == "internal":
        logger.error("%s failed", request_id(request), exc_info=error)
    return problem


def _refuse(problem: ProblemDetails, request: Request) -> bytes:
    return problem.reply(request_id(request), wanted_type(request)).put_on(request)
