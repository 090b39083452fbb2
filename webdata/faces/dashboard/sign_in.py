"""Signing in and out: a password, and a second factor where the member has one."""

from datetime import UTC, datetime

from webdata.accounts.access.api_keys import digest
from webdata.domain.errors import RateLimitedError
from webdata.faces.dashboard.attempts import Attempts
from webdata.faces.dashboard.passwords import Passwords
from webdata.faces.dashboard.rendering import redirect, render
from webdata.faces.dashboard.second_factor import matching_step, normalized_code
from webdata.faces.dashboard.sessions import Sessions, end_cookie
from webdata.faces.dashboard.visits import Pages, Visit, route
from webdata.runtime.server.replies import Reply
from webdata.stores.accounts.members import MemberStore
from webdata.stores.accounts.model import Member

WRONG = "The name or the password is wrong."
WRONG_CODE = "The code is wrong, or was used already: give the newest one that your app shows, or a recovery code."


class SignInPages(Pages):
    """`/dashboard/sign-in` and what follows it."""

    def __init__(self, members: MemberStore, sessions: Sessions, passwords: Passwords, attempts: Attempts) -> None:
        self._members = members
        self._sessions = sessions
        self._passwords = passwords
        self._attempts = attempts

    @route("GET", "/sign-in", "anybody")
    async def _form(self, visit: Visit) -> Reply:
        if visit.signed_in:
            return redirect(_own_path(visit.query.get("to", "")))
        return render(
            "sign_in", visit, to=visit.query.get("to", ""), name="", error=None, new=not await self._members.any()
        )

    @route("POST", "/sign-in", "anybody")
    async def _sign_in(self, visit: Visit) -> Reply:
        form = visit.form
        name, to = form.get("name", "").strip(), form.get("to", "")
        self._passwords.check_room()  # first, so that a crowd's attempts do not fill the memory with their counts
        try:
            await self._attempts.count(name, visit.address, visit.browser_secret)
        except RateLimitedError as error:
            page = render("sign_in", visit, status=429, to=to, name=name, error=str(error), new=False)
            return page.with_headers({"retry-after": str(error.retry_after)})
        member = await self._members.find(name)
        hashed = member.password if member else None
        if not await self._passwords.verify(hashed, form.get("password", "")) or member is None:
            return render("sign_in", visit, status=401, to=to, name=name, error=WRONG, new=False)
        return await self._signed_in(visit, member, to)

    async def _signed_in(self, visit: Visit, member: Member, to: str) -> Reply:
        if member.totp_secret:
            cookie = await self._sessions.begin(visit, member, needs_second_factor=True)
            return redirect("/second-factor", to=_own_path(to)).with_headers({"set-cookie": cookie})
        cookie = await self._sessions.begin(visit, member)
        return redirect(_own_path(to)).with_headers({"set-cookie": cookie})

    @route("GET", "/second-factor", "anybody")
    async def _code_form(self, visit: Visit) -> Reply:
        if visit.pending is None:
            return redirect("/sign-in")
        return render("second_factor", visit, to=visit.query.get("to", ""), error=None)

    @route("POST", "/second-factor", "anybody")
    async def _check_code(self, visit: Visit) -> Reply:
        if visit.pending is None:
            return redirect("/sign-in")
        form, member, session = visit.form, visit.pending.member, visit.pending.session
        to = form.get("to", "")
        try:
            await self._attempts.count(member.name, visit.address, visit.browser_secret)
        except RateLimitedError as error:
            page = render("second_factor", visit, status=429, to=to, error=str(error))
            return page.with_headers({"retry-after": str(error.retry_after)})
        if not await self._code_is_right(member, form.get("code", "")):
            return render("second_factor", visit, status=401, to=to, error=WRONG_CODE)
        await self._members.end(member.id, session.id)
        cookie = await self._sessions.begin(visit, member)
        return redirect(_own_path(to)).with_headers({"set-cookie": cookie})

    async def _code_is_right(self, member: Member, sent: str) -> bool:
        code = normalized_code(sent)
        step = matching_step(member.totp_secret or "", code, datetime.now(UTC))
        if step is not None:
            return await self._members.use_step(member.id, step)
        return await self._members.use_recovery_code(member.id, digest(code))

    @route("POST", "/sign-out")
    async def _sign_out(self, visit: Visit) -> Reply:
        await self._members.end(visit.viewer.member.id, visit.viewer.session.id)
        return redirect("/sign-in").with_headers({"set-cookie": end_cookie(visit)})


def _own_path(to: str) -> str:
    """A path below `/dashboard` to go on to: never one of another site."""
    return to if to.startswith("/") and not to.startswith(("//", "/\\")) and to.isprintable() and to.isascii() else ""
