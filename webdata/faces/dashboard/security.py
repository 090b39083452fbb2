"""The person's own sign-in: password, second factor, sessions."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from webdata.domain.errors import UnknownIdError
from webdata.faces.dashboard.confirmation import Confirmation
from webdata.faces.dashboard.passwords import Passwords, weakness
from webdata.faces.dashboard.rendering import redirect, render
from webdata.faces.dashboard.second_factor import (
    matching_step,
    new_recovery_codes,
    new_totp_secret,
    normalized_code,
    provisioning_uri,
    qr_code,
)
from webdata.faces.dashboard.sessions import end_cookie
from webdata.faces.dashboard.visits import Pages, RefusedError, UnreadableFormError, Visit, route
from webdata.runtime.server.replies import Reply
from webdata.stores.accounts.members import MemberStore

TOTP_SECRET = re.compile(r"[A-Z2-7]{32}")
WRONG_CODE = "This is not the code that the app shows now: wait for the next one, and check the clock of the phone."
ON_ALREADY = "The second factor is on already: turn it off first to set it up on another phone."


class SecurityPages(Pages):
    """`/dashboard/settings/…`: what belongs to the person, not to the account."""

    def __init__(self, members: MemberStore, passwords: Passwords, confirmation: Confirmation) -> None:
        self._members = members
        self._passwords = passwords
        self._confirmation = confirmation

    @route("GET", "/settings/password")
    async def _password_form(self, visit: Visit) -> Reply:
        return render("password", visit, errors={})

    @route("POST", "/settings/password")
    async def _set_password(self, visit: Visit) -> Reply:
        member, password = visit.viewer.member, visit.form.get("password", "")
        errors = {}
        if problem := await self._confirmation.problem(visit):
            errors["current"] = problem
        if problem := weakness(password, member.name):
            errors["password"] = problem
        if errors:
            return render("password", visit, status=422, errors=errors)
        await self._members.set_password(member.id, await self._passwords.hashed(password))
        await self._members.end_all(member.id, but=visit.viewer.session.id)
        return redirect("/settings", notice="password")

    @route("GET", "/settings/second-factor")
    async def _second_factor_form(self, visit: Visit) -> Reply:
        _check_off(visit)
        return _setup_page(visit, new_totp_secret(), {})

    @route("POST", "/settings/second-factor")
    async def _set_second_factor(self, visit: Visit) -> Reply:
        _check_off(visit)
        secret, code = visit.form.get("secret", ""), normalized_code(visit.form.get("code", ""))
        if not TOTP_SECRET.fullmatch(secret):
            raise UnreadableFormError("The form has lost its secret: load the page anew.")
        errors = {}
        step = matching_step(secret, code, datetime.now(UTC))
        if step is None:
            errors["code"] = WRONG_CODE
        if problem := await self._confirmation.problem(visit):
            errors["current"] = problem
        if errors or step is None:
            return _setup_page(visit, secret, errors, 422)
        shown, digests = new_recovery_codes()
        await self._members.set_second_factor(visit.viewer.member.id, secret, digests)
        await self._members.use_step(visit.viewer.member.id, step)
        return render("recovery_codes", visit, codes=shown)

    @route("GET", "/settings/second-factor/off")
    async def _off_form(self, visit: Visit) -> Reply:
        return render("second_factor_off", visit, error=None)

    @route("POST", "/settings/second-factor/off")
    async def _turn_off(self, visit: Visit) -> Reply:
        if problem := await self._confirmation.problem(visit):
            return render("second_factor_off", visit, status=422, error=problem)
        await self._members.set_second_factor(visit.viewer.member.id, None, frozenset())
        return redirect("/settings", notice="one-factor")

    @route("POST", "/settings/sessions/<session_id>/end")
    async def _end_session(self, visit: Visit, session_id: str) -> Reply:
        viewer = visit.viewer
        if not await self._members.end(viewer.member.id, session_id):
            raise UnknownIdError("You have no session with this id: the page Settings lists your sessions.")
        if session_id == viewer.session.id:
            return redirect("/sign-in").with_headers({"set-cookie": end_cookie(visit)})
        return redirect("/settings", notice="ended")

    @route("POST", "/settings/sessions/end")
    async def _end_all(self, visit: Visit) -> Reply:
        await self._members.end_all(visit.viewer.member.id)
        return redirect("/sign-in").with_headers({"set-cookie": end_cookie(visit)})


def _setup_page(visit: Visit, secret: str, errors: Mapping[str, str], status: int = 200) -> Reply:
    code = qr_code(provisioning_uri(secret, visit.viewer.member.name))
    return render("second_factor_setup", visit, status=status, secret=secret, qr=code, errors=errors)


def _check_off(visit: Visit) -> None:
    if visit.viewer.member.totp_secret:
        raise RefusedError(ON_ALREADY)
