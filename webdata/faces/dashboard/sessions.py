"""Who is signed in: sessions by their cookie, and the tokens of forms."""

import hmac
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

from ulid import ULID

from webdata.accounts.access.api_keys import digest
from webdata.accounts.access.invitations import new_secret
from webdata.faces.dashboard.cookies import PLAIN, SECURE
from webdata.faces.dashboard.visits import NavigationEntry, RefusedError, Viewer, Visit
from webdata.runtime.server.incoming import Incoming, client_address
from webdata.stores.accounts.members import MemberStore
from webdata.stores.accounts.model import Member, Session, SignedIn

IDLE = timedelta(hours=12)
"""A session that was not used for so long has ended."""
SECOND_FACTOR_WITHIN = timedelta(minutes=10)
"""How long a session waits for its second factor."""
SEEN_EVERY = timedelta(minutes=1)
"""How exactly the last use of a session is stored."""
FORGOTTEN_EVERY = 3600.0
"""Seconds between two times that sessions and invitations which have ended are removed."""
BROWSER_LASTS = timedelta(days=400)
"""The longest that browsers keep a cookie (RFC 6265bis)."""
LONGEST_BROWSER = 200
REMOVED = "You are not a member any more: ask whoever removed you for another invitation."
OTHER_SITES = ("cross-site", "same-site")
EXPIRED_FORM = (
    "This form has expired, or was not sent by this page: go back, load the page anew and send it again. If that does "
    "not help, allow cookies for this address, and open it by https:// (or as http://localhost)."
)


class Sessions:
    """Finds and makes sessions. Their secrets are in cookies that no script can read, and in the store as digests.

    With `plain` requests by plain HTTP come from this machine alone, and have cookies of their own.
    """

    def __init__(self, members: MemberStore, *, plain: bool = False) -> None:
        self._members = members
        self._plain = plain

    async def visit(self, incoming: Incoming, navigation: tuple[NavigationEntry, ...]) -> Visit:
        """The visit of a request."""
        kind = PLAIN if self._plain and not incoming.request.isSecure() else SECURE
        secret, browser = kind.of(incoming, "session"), kind.of(incoming, "browser")
        found = await self._find(secret) if secret else None
        address, set_cookie = browser_address(incoming), None
        if found is None and browser is None:
            fresh = new_secret()
            set_cookie = kind.line("browser", fresh, BROWSER_LASTS)
            return Visit(incoming, address, csrf_token(fresh), cookies=kind, set_cookie=set_cookie)
        token = csrf_token(secret if found and secret else browser or "")
        if found is None or found.session.needs_second_factor:
            return Visit(incoming, address, token, pending=found, cookies=kind, browser_secret=browser)
        viewer = Viewer(found.member, found.account, found.session)
        seen = _seen_by(viewer, navigation)
        return Visit(incoming, address, token, viewer, navigation=seen, cookies=kind, browser_secret=browser)

    async def _find(self, secret: str) -> SignedIn | None:
        now = datetime.now(UTC)
        found = await self._members.signed_in(digest(secret), now - IDLE)
        if found is None:
            return None
        session = found.session
        if session.needs_second_factor:
            return found if now - session.created < SECOND_FACTOR_WITHIN else None
        if found.member.role != "admin" and session.account_id != found.member.account_id:
            return None
        if now - session.last_seen > SEEN_EVERY:
            await self._members.see(session.id, now)
        return found

    async def begin(self, visit: Visit, member: Member, *, needs_second_factor: bool = False) -> str:
        """Sign a member in; returns the cookie of the new session. Raises RefusedError for one removed meanwhile."""
        secret, now = new_secret(), datetime.now(UTC)
        browser = (visit.incoming.header("user-agent") or "unknown")[:LONGEST_BROWSER]
        session = Session(
            id=f"ses_{ULID()}",
            digest=digest(secret),
            member_id=member.id,
            account_id=member.account_id,
            created=now,
            last_seen=now,
            address=visit.address,
            browser=browser,
            needs_second_factor=needs_second_factor,
        )
        if not await self._members.begin(session):
            raise RefusedError(REMOVED)
        if visit.browser_secret and not needs_second_factor:
            await self._members.remember_browser(digest(visit.browser_secret), member.id, now)
        return visit.cookies.line("session", secret)

    async def forget_old(self) -> None:
        """Remove what has ended from the store."""
        now = datetime.now(UTC)
        await self._members.remove_old(now, now - IDLE)


def end_cookie(visit: Visit) -> str:
    """The cookie that ends the session of a browser."""
    return visit.cookies.line("session", "", timedelta(0))


def check_change(visit: Visit) -> None:
    """Raise RefusedError for a change that none of the person's own forms asks for.

    The token is made of the secret of the session, or of the browser before it signs in, so other sites and other
    people do not know it. A browser also says of a request which site has made it.
    """
    sent, expected = visit.form.get("csrf", ""), visit.csrf
    if visit.incoming.header("sec-fetch-site") in OTHER_SITES:
        raise RefusedError(EXPIRED_FORM)
    if visit.set_cookie or not hmac.compare_digest(sent.encode(), expected.encode()):
        raise RefusedError(EXPIRED_FORM)


def csrf_token(secret: str) -> str:
    """The token of the forms of a session or browser, from which its secret cannot be found."""
    return hmac.digest(secret.encode("utf-8", "surrogatepass"), b"csrf", "sha256").hex()


def browser_address(incoming: Incoming) -> str:
    """The address of a browser: behind a proxy of this network it is what the proxy says it was asked from."""
    address = client_address(incoming.request)
    forwarded = incoming.header("x-forwarded-for")
    if forwarded and _is_near(address):
        told = forwarded.rpartition(",")[2].strip()
        return told if _is_address(told) else address
    return address


def _is_near(address: str) -> bool:
    return _is_address(address) and ip_address(address).is_private


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _seen_by(viewer: Viewer, navigation: tuple[NavigationEntry, ...]) -> list[NavigationEntry]:
    return [entry for entry in navigation if viewer.is_admin or not entry.admins_only]
