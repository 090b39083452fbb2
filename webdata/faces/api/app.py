"""The `/v1` service: every route is registered here, on one Klein app."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, cast

import orjson
from klein import Klein
from twisted.web.http import Request
from twisted.web.server import Request as ServerRequest
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from webdata.accounts.access.admission import Admission, CallerStatus, CallRequest
from webdata.accounts.access.api_keys import Header, sent_key
from webdata.accounts.access.invitations import DASHBOARD
from webdata.accounts.access.rate_limits import check_limit
from webdata.domain.errors import UnauthorizedError
from webdata.domain.query import Query, Remarks
from webdata.faces.api.account import KEY_PAGES
from webdata.faces.api.browsing import MOST_FORM, Browsing, is_of_dashboard
from webdata.faces.api.calls import ApiCalls, Observer
from webdata.faces.api.catch_all import PING, CatchAll
from webdata.faces.api.compression import Compression
from webdata.faces.api.cors import Cors
from webdata.faces.api.dispatch import Dispatcher
from webdata.faces.api.docs_page import MAIN, OF_DOORS
from webdata.faces.api.doors import Door, DoorRoute
from webdata.faces.api.index import describe, prefers_html
from webdata.faces.api.key_pages import SEGMENT, KeyCall, KeyPage, KeyReply
from webdata.faces.api.misplaced_keys import check_places
from webdata.faces.api.nearest import nearest_path
from webdata.faces.api.open_pages import FRESH, OpenPage
from webdata.faces.api.openapi_responses import HEADERS
from webdata.faces.api.params import body_query, key_page_query, packed_query, path_query
from webdata.faces.api.problems import ProblemDetails, logged_problem
from webdata.faces.api.proxying import Proxying
from webdata.faces.api.refusals import RefusalReplies
from webdata.faces.api.replies import remark_headers
from webdata.faces.api.routes import routes
from webdata.faces.api.streaming import stream
from webdata.resources import Resource
from webdata.runtime.server.connections import Connections
from webdata.runtime.server.incoming import Incoming, client_address, header_of, path_of
from webdata.runtime.server.replies import JSON, Reply
from webdata.runtime.server.routing import as_task
from webdata.runtime.server.site import MAX_BODY, Site

logger = logging.getLogger(__name__)

Handler = Callable[..., Coroutine[Any, Any, Reply | None]]
"""Answers a request, given as an Incoming, with the named segments of its path; None where it has sent the response."""


class Api:
    """Answers every resource under its path, and the pages about the caller, for callers with a key.

    `pages` are answered beside the resources, for anybody, `key_pages` for callers with a key, `doors` for clients of
    other protocols and services. `connections` are those of all ports of the process. With a `proxy` it answers
    `/ping`, and passes on requests. Pages of `cors_origins` may call from a browser. With a `dashboard` people are led
    there from `/`.
    """

    def __init__(  # noqa: PLR0913  # each is named where the service is put together
        self,
        resources: Iterable[Resource],
        admission: Admission,
        pages: Sequence[OpenPage] = (),
        observer: Observer | None = None,
        connections: Connections | None = None,
        *,
        key_pages: Sequence[KeyPage] = KEY_PAGES,
        proxy: Proxying | None = None,
        cors_origins: Collection[str] = ("*",),
        dashboard: Browsing | None = None,
        doors: Sequence[Door] = (),
    ) -> None:
        self._resources = sorted(set(resources), key=lambda resource: resource.path)
        self._admission = admission
        self._pages = pages
        self._key_pages = key_pages
        paths = (
            [one.path for one in self._resources] + [page.path for page in pages] + [page.path for page in key_pages]
        )
        self._known_paths = sorted({path.partition("/{")[0] for path in paths})
        self._own_bodies = frozenset(page.path for page in key_pages if page.own_body)
        self._calls = ApiCalls(admission, observer)
        self._connections = Connections() if connections is None else connections  # without any open it is false
        described = orjson.dumps(describe(self._resources, pages, key_pages))
        self._description = Reply(200, described, {"content-type": JSON, "vary": "Accept"})
        self._dashboard = dashboard
        self._doors = doors
        self._compression = Compression()
        self.app = Klein()
        self._declare_routes(self.app)
        open_paths = frozenset(page.path for page in pages)
        headers = {*HEADERS, *(name for resource in self._resources for name, _ in resource.text_headers)}
        headers |= {name for page in key_pages for name, _ in page.headers}
        closed = (open_paths | {"/"}) - {MAIN.document, OF_DOORS.document}
        self._cors = Cors(cors_origins, sorted(headers), lambda path: path in closed or is_of_dashboard(path))
        own = [f"/{prefix}/" for door in doors for prefix in door.prefixes]
        self._catch_all = (
            CatchAll(self.app, proxy, self._unmatched, self._cors, self._is_stopping, own) if proxy else None
        )
        while_stopping = open_paths | {PING} if proxy else open_paths
        self._dispatcher = Dispatcher(self.app, self._unmatched, while_stopping, self._cors)

    def _declare_routes(self, app: Klein) -> None:
        app.url_map.merge_slashes = False  # a packed segment may hold a URL
        app.route("/", methods=["GET"], endpoint="index")(self._handler(self._index))
        if self._dashboard:
            for rule in (DASHBOARD, f"{DASHBOARD}/", f"{DASHBOARD}/<path:below>"):
                app.route(rule, methods=["GET", "POST"], endpoint="dashboard")(as_task(self._of_dashboard))
        for page in self._pages:
            app.route(page.path, methods=["GET"], endpoint=page.path)(self._handler(partial(self._open_page, page)))
        for key_page in self._key_pages:
            rule = SEGMENT.sub(r"<\1>", key_page.path)
            app.route(rule, methods=[key_page.method], endpoint=key_page.name)(
                self._handler(partial(self._key_page, key_page))
            )
        for door in self._doors:
            for route in door.routes:
                handler = self._handler(partial(self._of_door, door, route))
                endpoint = f"{' '.join(route.methods)} {route.rule}"
                methods, strict = list(route.methods), route.heeds_last_slash
                for rule in route.rules:
                    app.route(rule, methods=methods, endpoint=endpoint, strict_slashes=strict)(handler)
        for resource in self._resources:
            handler = self._handler(partial(self._call, resource))
            for rule in routes(resource):
                app.route(rule, methods=[resource.method], endpoint=resource.name)(handler)

    def _handler(self, handler: Handler) -> Callable[..., Any]:
        """A handler for a Klein route, whose replies are compressed."""

        async def compressed(incoming: Incoming, **segments: str) -> Reply | None:
            reply = await handler(incoming, **segments)
            return reply and await self._compression.applied(reply, incoming.header)

        return as_task(compressed)

    def _is_stopping(self) -> bool:
        return self._dispatcher.stopping

    def resource(self) -> Dispatcher:
        """The root of the service, for a site."""
        return self._dispatcher

    def site(self, hsts: int = 0, is_own_host: Callable[[str], bool] | None = None) -> Site:
        """The site of the ports; by TLS it sends `hsts`, in seconds, by plain HTTP it answers to its own hosts."""
        return Site(
            self._dispatcher,
            self._connections,
            RefusalReplies(self._cors, self._problem_reply),
            self.sender_of,
            hsts,
            self._streams,
            self._most_body,
            is_own_host,
        )

    def _streams(self, target: bytes) -> bool:
        """Whether the body of a request is read while it comes."""
        if path_of(target) in self._own_bodies:
            return True
        return self._catch_all is not None and self._catch_all.streams(target)

    def _most_body(self, target: bytes) -> int:
        return MOST_FORM if self._dashboard and is_of_dashboard(path_of(target)) else MAX_BODY

    def sender_of(self, request: Request) -> Awaitable[str]:
        """The account of a request whose body has not come; raises UnauthorizedError, at once or when awaited."""
        if self._catch_all and path_of(request.uri) == PING:
            return asyncio.sleep(0, "anybody")
        if self._dashboard and is_of_dashboard(path_of(request.uri)):  # the forms of one address share their memory
            return asyncio.sleep(0, f"forms of {client_address(request)}")
        header = partial(header_of, request.requestHeaders)
        try:
            sent_key(header)
        except UnauthorizedError:
            check_places(Incoming.read(cast(ServerRequest, request), ""))
            raise
        return self._account_id(header)

    async def _account_id(self, header: Header) -> str:
        return (await self._admission.api_keys.authenticate(header)).account.id

    async def drain(self, within: float) -> None:
        """Answer new requests with 503 and wait until those in flight are answered, and the answers sent.

        Returns when none is left, or after `within` seconds.
        """
        self._dispatcher.stop()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._dispatcher.idle()
                await self._connections.close()

    async def _index(self, incoming: Incoming) -> Reply:
        if self._dashboard and prefers_html(incoming.header("accept")):
            return Reply(303, b"", {"location": DASHBOARD, "vary": "Accept"})
        return self._description

    async def _of_dashboard(self, incoming: Incoming, below: str = "") -> Reply | None:
        """The reply of the dashboard; None for one that is sent while it is made."""
        assert self._dashboard, "it has the route"
        reply = await self._dashboard.answer(incoming)
        if reply.pieces is None:
            return reply
        try:
            await stream(incoming, reply.status, reply.headers, reply.pieces)
        finally:
            if reply.on_end:
                reply.on_end()
        return None

    async def _open_page(self, page: OpenPage, incoming: Incoming) -> Reply:
        reply = page.reply(incoming.header)
        return await reply if isinstance(reply, Awaitable) else reply

    async def _call(self, resource: Resource, incoming: Incoming, **segments: str) -> Reply:
        read = partial(_query, resource, segments, incoming)
        check = partial(check_places, incoming)
        request = CallRequest(incoming.id, resource, incoming.header, read, lambda: incoming.gone, check=check)
        _, reply = await self._calls.answered(request, incoming.wanted_type)
        return reply

    async def _of_door(self, door: Door, route: DoorRoute, incoming: Incoming, **segments: str) -> Reply:
        admission, status = self._admission, None
        try:
            if not route.of_caller:
                return await route.reply(incoming, **segments)
            check_places(incoming)
            caller = await admission.api_keys.authenticate(incoming.header)
            async with admission.rate_limits.counted(caller.key.id, caller.account.plan) as limit:
                status = CallerStatus(limit, caller)
                check_limit(limit)
                reply: Reply = await route.reply(incoming, caller, **segments)
        except Exception as error:  # noqa: BLE001  # whatever happens, the caller gets a reply
            reply = door.refusal(logged_problem(error, incoming.id), incoming.id)
        return reply.with_headers(status.headers()) if status else reply

    def _problem_reply(self, problem: ProblemDetails, incoming: Incoming) -> Reply:
        """The reply to a problem, in the shape of the door whose path was called."""
        for door in self._doors:
            if door.has(incoming.path):
                return door.refusal(problem, incoming.id)
        return problem.reply(incoming.id, incoming.wanted_type)

    async def _key_page(self, page: KeyPage, incoming: Incoming, **segments: str) -> Reply | None:
        admission, status = self._admission, None
        try:
            check_places(incoming)
            if linked := page.linked and await page.linked(segments):
                assert isinstance(linked.body, bytes)
                return Reply(page.status, linked.body, {**FRESH, "content-type": linked.content_type})
            caller = await admission.api_keys.authenticate(incoming.header, page.scope)
            async with admission.rate_limits.counted(caller.key.id, caller.account.plan) as limit:
                status = CallerStatus(limit, caller)
                check_limit(limit)
                query, remarks = key_page_query(page, segments, incoming.query, incoming.body, incoming.header)
                call = KeyCall(caller, query, admission.credits.ledger, incoming.header, incoming.arriving)
                answer = await page.reply(call)
                headers = {**FRESH, **remark_headers(remarks)}
                if isinstance(answer, KeyReply):
                    headers |= {"content-type": answer.content_type, **answer.headers}
                    if isinstance(answer.body, AsyncGenerator):
                        headers |= {**status.headers(), **self._cors.headers(incoming)}
                        await stream(incoming, page.status, headers, answer.body)
                        return None
                    body = answer.body if isinstance(answer.body, bytes) else orjson.dumps(dict(answer.body))
                else:
                    body = orjson.dumps(answer)
                reply = Reply(page.status, body, {"content-type": JSON, **headers})
        except Exception as error:  # noqa: BLE001  # whatever happens, the caller gets a reply
            reply = logged_problem(error, incoming.id).reply(incoming.id, incoming.wanted_type)
        return Reply(reply.status, reply.body, {**(status.headers() if status else {}), **reply.headers})

    def _unmatched(self, incoming: Incoming, error: HTTPException) -> Reply:
        """404 or 405, as no route matches the request; 204 for the question which methods do."""
        if self._catch_all:
            error = self._catch_all.error(incoming)
        if isinstance(error, MethodNotAllowed):
            methods = sorted(error.valid_methods or ())
            headers = {"allow": ", ".join(sorted((*methods, "OPTIONS")))}
            if incoming.method == "OPTIONS":
                return Reply(204, b"", headers)
            one_of = f"one of {', '.join(methods)}"
            right = "POST, with a JSON object as the body" if methods == ["POST"] else one_of
            message = f"{incoming.method} is not possible here: use {right}."
            problem = ProblemDetails("method_not_allowed", message, headers=headers)
        else:
            of_doors = [path for door in self._doors if door.has(incoming.path) for path in door.described]
            paths = ", ".join(of_doors or (resource.route for resource in self._resources))
            described = OF_DOORS.document if of_doors else "GET /"
            nearest = nearest_path(incoming.path, self._known_paths)
            near = f"the nearest is {nearest}; all " if nearest else "the endpoints "
            message = f"There is no such endpoint: {near}are {paths}; {described} describes them."
            problem = ProblemDetails("not_found", message)
        return self._problem_reply(problem, incoming)


def _query(resource: Resource, segments: Mapping[str, str], incoming: Incoming) -> tuple[Query, Remarks]:
    if resource.method == "POST":
        return body_query(resource, incoming.body, incoming.query, incoming.header)
    if resource.packed:
        return packed_query(resource, segments.get("segment", ""), incoming.query, incoming.header)
    return path_query(resource, segments, incoming.query, incoming.header)
