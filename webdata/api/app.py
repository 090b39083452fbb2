"""The `/v1` service: routes made from the resources, and what one call goes through."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import orjson
from werkzeug.exceptions import MethodNotAllowed, NotFound
from werkzeug.routing import Map, Rule

from webdata.access.admission import Admission, Standing
from webdata.access.cache import CacheControl
from webdata.api import refusals
from webdata.api.account import KEY_PAGES, KeyPage
from webdata.api.front import Front
from webdata.api.incoming import LONGEST_READ, Incoming
from webdata.api.index import describe
from webdata.api.open_pages import FRESH, OpenPage
from webdata.api.params import body_query, packed_query, path_query
from webdata.api.problems import INTERNAL, JSON, ProblemDetails, problem_of
from webdata.api.replies import Reply, answered, ignored_header, step_told
from webdata.api.routes import routes
from webdata.crawling.warm_crawlers import Call
from webdata.domain.errors import DatabaseAwayError, FetchError
from webdata.domain.query import Query, unpack
from webdata.resources import Resource
from webdata.server.connections import Connections
from webdata.server.site import Site

logger = logging.getLogger(__name__)

MOST_ROUTED = 1000
"""Paths that are remembered with what answers them."""

Handler = Callable[[Incoming, Mapping[str, str]], Awaitable[Reply]]
"""Answers a request; it is given the segments of its path by their names."""
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
        self._front = Front(self._respond, frozenset(page.path for page in pages))
        self._connections = connections or Connections()
        self._match = self._map().bind("any-host").match
        self._matched = lru_cache(MOST_ROUTED)(self._match)

    def resource(self) -> Front:
        """The root of the service, for a site."""
        return self._front

    def site(self, hsts: int = 0) -> Site:
        """What a port listens for; `hsts` is told by TLS, in seconds."""
        return Site(self._front, self._connections, refusals, hsts)

    async def drain(self, within: float) -> None:
        """Answer new requests with 503 and wait until those in flight are answered, and the answers sent.

        Returns when none is left, or after `within` seconds.
        """
        self._front.stop()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._front.idle()
                await self._connections.close()

    def _map(self) -> Map:
        own = {"/": self._index(), **{page.path: self._open(page) for page in self._pages}}
        own |= {page.path: self._told_to_keys(page) for page in KEY_PAGES}
        rules = [Rule(path, methods=["GET"], endpoint=handler) for path, handler in own.items()]
        for resource in self._resources:
            handler = self._handler(resource)
            rules += [Rule(rule, methods=[resource.method], endpoint=handler) for rule in routes(resource)]
        return Map(rules, merge_slashes=False)  # a packed segment may hold a URL

    async def _respond(self, incoming: Incoming) -> Reply:
        try:
            match = self._matched if len(incoming.path) <= LONGEST_READ else self._match
            handler, segments = match(incoming.path, incoming.method)
            reply: Reply = await handler(incoming, segments)
        except NotFound:
            return self._no_endpoint(incoming)
        except MethodNotAllowed as error:
            return self._no_method(incoming, error)
        except Exception:
            logger.exception("%s failed", incoming.id)
            return _told(ProblemDetails("internal", INTERNAL), incoming)
        return reply

    def _index(self) -> Handler:
        body = orjson.dumps(describe(self._resources, self._pages))

        async def index(*_: Any) -> Reply:
            return Reply(200, body, {"content-type": "application/json"})

        return index

    def _open(self, page: OpenPage) -> Handler:
        async def reply(incoming: Incoming, _: Any) -> Reply:
            told = page.reply(incoming.header)
            return told if isinstance(told, Reply) else await told

        return reply

    def _told_to_keys(self, page: KeyPage) -> Handler:
        async def told(incoming: Incoming, standing: Standing) -> Reply:
            async with self._admission.admitted(incoming.header, standing) as caller:
                query, ignored = page.query.read(unpack(incoming.query))
                found = orjson.dumps(await page.reply(self._admission.ledger, caller, query))
                return Reply(200, found, {"content-type": JSON, **FRESH, **ignored_header(ignored)})

        def show(incoming: Incoming, _: Any) -> Awaitable[Reply]:
            return self._answer(None, incoming, partial(told, incoming))

        return show

    def _handler(self, resource: Resource) -> Handler:
        def handle(incoming: Incoming, segments: Mapping[str, str]) -> Awaitable[Reply]:
            return self._answer(resource, incoming, partial(self._called, resource, incoming, segments))

        return handle

    async def _answer(
        self, resource: Resource | None, incoming: Incoming, called: Callable[[Standing], Awaitable[Reply]]
    ) -> Reply:
        standing = Standing()
        try:
            reply, code = await called(standing), "ok"
        except Exception as error:  # noqa: BLE001  # whatever happens, the caller is answered and the log has the rest
            problem = _problem(error, incoming, resource)
            reply, code = _told(problem, incoming), problem.code
        if self._told and resource:
            self._told(resource.name, code)
        return Reply(reply.status, reply.body, {**standing.headers(), **reply.headers})

    async def _called(
        self, resource: Resource, incoming: Incoming, segments: Mapping[str, str], standing: Standing
    ) -> Reply:
        async with self._admission.admitted(incoming.header, standing, resource.name) as caller:
            query, ignored = _query(resource, segments, incoming)
            call = Call(resource, query, caller.key.test or self._sandbox_always, self._deadline)
            control = CacheControl.read(incoming.header("cache-control"))
            answer = await self._admission.answer(caller, call, incoming.id, control, standing)
            return answered(resource, answer, ignored)

    def _no_endpoint(self, incoming: Incoming) -> Reply:
        paths = ", ".join(resource.route for resource in self._resources)
        message = f"There is no such endpoint: the endpoints are {paths}; GET / describes them."
        return _told(ProblemDetails("not_found", message), incoming)

    def _no_method(self, incoming: Incoming, error: MethodNotAllowed) -> Reply:
        allowed = ", ".join(sorted(error.valid_methods or ()))
        right = f"{allowed}, with a JSON object as the body" if "POST" in allowed else f"one of {allowed}"
        message = f"{incoming.method} is not possible here: use {right}."
        return _told(ProblemDetails("method_not_allowed", message, headers={"allow": allowed}), incoming)


def _query(resource: Resource, segments: Mapping[str, str], incoming: Incoming) -> tuple[Query, list[str]]:
    if resource.method == "POST":
        return body_query(resource, incoming.body, incoming.query, incoming.header)
    if resource.packed:
        return packed_query(resource, segments.get("segment", ""), incoming.query, incoming.header)
    return path_query(resource, segments, incoming.query, incoming.header)


def _problem(error: Exception, incoming: Incoming, resource: Resource | None) -> ProblemDetails:
    problem = problem_of(error, resource)
    if isinstance(error, FetchError):
        steps = ", ".join(map(step_told, error.steps)) or "none has ended"
        logger.info("%s %s (%s): %r; steps: %s", incoming.id, problem.code, error.kind, error.reason, steps)
    elif isinstance(error, DatabaseAwayError):
        logger.error("%s: the database does not answer: %s", incoming.id, error)
    elif problem.code == "internal":
        logger.error("%s failed", incoming.id, exc_info=error)
    return problem


def _told(problem: ProblemDetails, incoming: Incoming) -> Reply:
    return problem.reply(incoming.id, incoming.wanted_type)
