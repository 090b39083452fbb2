"""The dashboard: every route is registered here, on one Klein app, and every request is checked here.

A page module is a class of Pages; see `webdata.faces.dashboard.keys`.
"""

import logging
from collections.abc import Iterable
from functools import partial
from http import HTTPStatus

from klein import Klein
from werkzeug.exceptions import HTTPException

from webdata.accounts.access.invitations import DASHBOARD
from webdata.domain.errors import (
    ConflictError,
    DatabaseUnavailableError,
    OverloadedError,
    QueryError,
    RateLimitedError,
    UnknownIdError,
)
from webdata.domain.sentences import sentence
from webdata.faces.dashboard import static_files
from webdata.faces.dashboard.rendering import redirect, render
from webdata.faces.dashboard.sessions import Sessions, check_change
from webdata.faces.dashboard.visits import NavigationEntry, Pages, RefusedError, Route, UnreadableFormError, Visit
from webdata.runtime.server.incoming import Incoming
from webdata.runtime.server.replies import Reply
from webdata.runtime.server.routing import Routes, as_task

logger = logging.getLogger(__name__)

NAVIGATION = (
    NavigationEntry("Overview", ""),
    NavigationEntry("Keys", "/keys"),
    NavigationEntry("Playground", "/playground"),
    NavigationEntry("Requests", "/requests"),
    NavigationEntry("Usage", "/usage"),
    NavigationEntry("Webhooks", "/webhooks"),
    NavigationEntry("Batches", "/batches"),
    NavigationEntry("Engines", "/engines", admins_only=True),
    NavigationEntry("Settings", "/settings"),
)
"""The parts of the dashboard; a part without a route is not shown."""
NOT_FOUND = "There is no such page. The links beside lead to those that there are."
ADMINS_ONLY = "This page is for admins. Ask one of yours, or whoever runs this service."
SIGNED_OUT = "You are signed out, so nothing was changed: sign in, and send the form again."
AWAY = "The database does not answer, so nothing was changed: try again in some seconds."
FAILED = "Something went wrong here, not in what you did. Try again; if it stays, tell whoever runs this service:"
STATUSES: dict[type[Exception], int] = {
    UnreadableFormError: 400,
    RefusedError: 403,
    UnknownIdError: 404,
    ConflictError: 409,
    QueryError: 422,
    RateLimitedError: 429,
    OverloadedError: 503,
}
"""Errors whose message is for the person."""


class Dashboard:
    """Answers requests of `/dashboard`."""

    def __init__(self, sessions: Sessions, pages: Iterable[Pages]) -> None:
        self.app = Klein()
        self.app.url_map.merge_slashes = False
        self.app.url_map.strict_slashes = False
        self.routes = [route for part in pages for route in part.routes()]
        for route in self.routes:
            self._declare(route)
        self.app.route(f"{DASHBOARD}{static_files.RULE}", methods=["GET"], endpoint="static")(as_task(self._file))
        shown = {route.rule for route in self.routes if route.method == "GET"}
        self._navigation = tuple(entry for entry in NAVIGATION if entry.path in shown)
        self._matcher = Routes(self.app)
        self._sessions = sessions

    def _declare(self, route: Route) -> None:
        declare = self.app.route(
            f"{DASHBOARD}{route.rule}", methods=[route.method], endpoint=f"{route.method} {route.rule}"
        )
        declare(as_task(partial(self._answer, route)))

    async def answer(self, incoming: Incoming) -> Reply:
        """The page, or another one that says what is wrong. Raises nothing."""
        try:
            endpoint, segments = self._matcher.match(incoming.path, incoming.method)
        except HTTPException:
            return await self._answer(None, incoming)
        reply = await self._matcher.start(endpoint, incoming, segments)
        assert reply, "every handler of the dashboard makes a reply"
        return reply

    async def _file(self, incoming: Incoming, digest: str, name: str) -> Reply:
        return static_files.file_reply(incoming, digest, name) or await self._answer(None, incoming)

    async def _answer(self, route: Route | None, incoming: Incoming, **segments: str) -> Reply:
        """The reply of a route, or of none."""
        visit = Visit(incoming, "", "")
        try:
            visit = await self._sessions.visit(incoming, self._navigation)
            if route is None:
                return _error_page(visit, 404, NOT_FOUND)
            return _refusal(route, visit) or await route.handler(visit, **segments)
        except Exception as error:  # noqa: BLE001  # whatever happens, the person gets a page
            return _failure(visit, error)


def _refusal(route: Route, visit: Visit) -> Reply | None:
    """The reply to a person who may not ask for a route. Raises RefusedError for a change that is none of theirs."""
    if route.who != "anybody" and visit.signed_in is None:
        if route.method == "GET":
            return redirect("/sign-in", to=visit.incoming.path.removeprefix(DASHBOARD))
        return _error_page(visit, 401, SIGNED_OUT)
    if route.method == "POST":
        check_change(visit)
    if route.who == "admin" and not visit.viewer.is_admin:
        raise RefusedError(ADMINS_ONLY)
    return None


def _failure(visit: Visit, error: Exception) -> Reply:
    if status := next((status for kind, status in STATUSES.items() if isinstance(error, kind)), None):
        page = _error_page(visit, status, sentence(str(error)))
        if isinstance(error, RateLimitedError | OverloadedError):
            return page.with_headers({"retry-after": str(error.retry_after)})
        return page
    if isinstance(error, DatabaseUnavailableError):
        logger.error("%s: the database does not answer: %s", visit.incoming.id, error)
        return _error_page(visit, 503, AWAY).with_headers({"retry-after": "5"})
    logger.error("%s failed", visit.incoming.id, exc_info=error)
    return _error_page(visit, 500, f"{FAILED} {visit.incoming.id}.")


def _error_page(visit: Visit, status: int, message: str) -> Reply:
    return render("error", visit, status=status, title=HTTPStatus(status).phrase, message=message)
