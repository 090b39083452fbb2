"""The requests of people: who asks, what a form holds, and the routes that answer."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, TypeVar
from urllib.parse import parse_qsl

from werkzeug.datastructures import MultiDict

from webdata.domain.errors import AccessError
from webdata.faces.dashboard.cookies import SECURE, CookieKind
from webdata.runtime.server.incoming import Incoming
from webdata.runtime.server.replies import Reply
from webdata.stores.accounts.model import Account, Member, Session, SignedIn

MOST_FIELDS = 500
"""Fields of a form."""

Who = Literal["anybody", "member", "admin"]
"""Who may ask for a page: a `member` is anybody who is signed in."""
Fields = MultiDict[str, str]
"""The fields of a form or of a URL: `get(name, "")` is the first of a name, `getlist(name)` has all."""


class RefusedError(AccessError):
    """What the person must not do."""


class UnreadableFormError(AccessError):
    """A form that no page of the dashboard sends."""


@dataclass(frozen=True)
class Viewer:
    """Who is signed in."""

    member: Member
    account: Account
    """The account that is shown: for an admin any, for a member the own one."""
    session: Session

    @property
    def is_admin(self) -> bool:
        """Whether all accounts are theirs to see."""
        return self.member.role == "admin"


@dataclass(frozen=True)
class NavigationEntry:
    """A link to a part of the dashboard."""

    label: str
    path: str
    """Its rule, below `/dashboard`."""
    admins_only: bool = False


@dataclass(frozen=True)
class Visit:
    """A request of a person."""

    incoming: Incoming
    address: str
    """Where it comes from, as far as that is known."""
    csrf: str
    """What every form has as its field `csrf`."""
    signed_in: Viewer | None = None
    pending: SignedIn | None = None
    """A session that waits for the second factor."""
    navigation: Sequence[NavigationEntry] = ()
    cookies: CookieKind = SECURE
    """The kind of cookies that its connection has."""
    browser_secret: str | None = field(default=None, repr=False)
    """What this service knows the browser by; None for one that sent none."""
    set_cookie: str | None = field(default=None, repr=False)
    """A cookie that the reply is to set."""

    @property
    def viewer(self) -> Viewer:
        """Who is signed in, in a handler that is not for anybody."""
        assert self.signed_in, "the route is for anybody"
        return self.signed_in

    @property
    def query(self) -> Fields:
        """The fields of the URL; raises UnreadableFormError."""
        return _fields(self.incoming.query)

    @property
    def form(self) -> Fields:
        """The fields of the form that was sent; raises UnreadableFormError."""
        return _fields(self.incoming.body.decode("utf-8", "replace"))


Handler = Callable[..., Awaitable[Reply]]
"""Answers a Visit, with the named segments of its path."""


@dataclass(frozen=True)
class Route:
    """A route of the dashboard. A POST is a change: it is answered only with the token of the person's own forms."""

    method: Literal["GET", "POST"]
    rule: str
    """Werkzeug's, below `/dashboard`: `/keys/<id>/revoke`."""
    handler: Handler
    who: Who = "member"


Marked = TypeVar("Marked", bound=Handler)


def route(method: Literal["GET", "POST"], rule: str, who: Who = "member") -> Callable[[Marked], Marked]:
    """Marks a method of Pages as the handler of a route."""

    def mark(handler: Marked) -> Marked:
        vars(handler)["route"] = Route(method, rule, handler, who)
        return handler

    return mark


class Pages:
    """A part of the dashboard, whose handlers are marked by `route`."""

    def routes(self) -> list[Route]:
        """The routes of its handlers."""
        marks = [vars(one)["route"] for one in vars(type(self)).values() if "route" in getattr(one, "__dict__", ())]
        return [replace(mark, handler=partial(mark.handler, self)) for mark in marks]


def _fields(text: str) -> Fields:
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise UnreadableFormError(f"The form has more than {MOST_FIELDS} fields.") from None
    return MultiDict((name, value.replace("\0", "")) for name, value in pairs)
