"""Invitations: a link by which one person becomes a member, by a name and a password."""

from datetime import UTC, datetime

from ulid import ULID

from webdata.accounts.access.api_keys import check_name, digest
from webdata.domain.errors import UnknownIdError
from webdata.domain.sentences import sentence
from webdata.faces.dashboard.passwords import Passwords, weakness
from webdata.faces.dashboard.rendering import redirect, render
from webdata.faces.dashboard.sessions import Sessions
from webdata.faces.dashboard.visits import Pages, Visit, route
from webdata.runtime.server.replies import Reply
from webdata.stores.accounts.members import MemberStore
from webdata.stores.accounts.model import Invitation, Member

ENDED = (
    "This invitation has been used or has expired: links are valid for 24 hours, once. If you are a member already, "
    "sign in; else ask for another link (`webdata accounts invite`)."
)
NO_NAME = "Give the name that you will sign in by, such as your e-mail address."
TAKEN = "Somebody signs in by this name already: take another one."


class InvitationPages(Pages):
    """The pages of `/dashboard/invitations/…`."""

    def __init__(self, members: MemberStore, sessions: Sessions, passwords: Passwords) -> None:
        self._members = members
        self._sessions = sessions
        self._passwords = passwords

    @route("GET", "/invitations/<secret>", "anybody")
    async def _form(self, visit: Visit, secret: str) -> Reply:
        await self._check(secret)
        return render("invitation", visit, name="", errors={})

    @route("POST", "/invitations/<secret>", "anybody")
    async def _accept(self, visit: Visit, secret: str) -> Reply:
        invitation = await self._check(secret)
        form = visit.form
        name, password = form.get("name", "").strip(), form.get("password", "")
        errors = _errors(name, password)
        if not errors:
            hashed, now = await self._passwords.hashed(password), datetime.now(UTC)
            member = Member(f"mem_{ULID()}", invitation.account_id, name, invitation.role, now, hashed)
            try:
                if not await self._members.accept(digest(secret), member, now):
                    raise UnknownIdError(ENDED)
            except ValueError:
                errors = {"name": TAKEN}
        if errors:
            return render("invitation", visit, status=422, name=name, errors=errors)
        cookie = await self._sessions.begin(visit, member)
        return redirect("").with_headers({"set-cookie": cookie})

    async def _check(self, secret: str) -> Invitation:
        invitation = await self._members.invitation(digest(secret), datetime.now(UTC))
        if invitation is None:
            raise UnknownIdError(ENDED)
        return invitation


def _errors(name: str, password: str) -> dict[str, str]:
    errors = {}
    try:
        if not check_name(name):
            errors["name"] = NO_NAME
    except ValueError as error:
        errors["name"] = sentence(str(error))
    if problem := weakness(password, name):
        errors["password"] = problem
    return errors
