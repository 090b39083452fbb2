"""The members of an account: invite and remove them."""

from webdata.accounts.access.invitations import invite
from webdata.domain.errors import UnknownIdError
from webdata.faces.dashboard.address import ServiceAddress
from webdata.faces.dashboard.confirmation import Confirmation
from webdata.faces.dashboard.rendering import redirect, render
from webdata.faces.dashboard.visits import Pages, RefusedError, Visit, route
from webdata.runtime.server.replies import Reply
from webdata.stores.accounts.members import MemberStore
from webdata.stores.accounts.model import Member, Role

ADMINS_INVITE = "Only an admin invites an admin."
ADMINS_REMOVE = "Only an admin removes an admin."
YOURSELF = "You cannot remove yourself: let another member do it, so that somebody stays who can sign in."


class MembersPages(Pages):
    """The pages of `/dashboard/settings/members`."""

    def __init__(self, members: MemberStore, confirmation: Confirmation, address: ServiceAddress) -> None:
        self._members = members
        self._confirmation = confirmation
        self._address = address

    @route("POST", "/settings/members")
    async def _invite(self, visit: Visit) -> Reply:
        role: Role = "admin" if visit.form.get("role") == "admin" else "member"
        if role == "admin" and not visit.viewer.is_admin:
            raise RefusedError(ADMINS_INVITE)
        if role == "admin" and "current" not in visit.form:
            return render("admin_invite", visit, error=None)
        if role == "admin" and (problem := await self._confirmation.problem(visit)):
            return render("admin_invite", visit, status=422, error=problem)
        path = await invite(self._members, visit.viewer.account.id, role)
        return render("member_invited", visit, link=self._address.url(visit) + path, role=role)

    @route("GET", "/settings/members/<member_id>/remove")
    async def _confirm(self, visit: Visit, member_id: str) -> Reply:
        return render("member_remove", visit, member=await self._find(visit, member_id))

    @route("POST", "/settings/members/<member_id>/remove")
    async def _remove(self, visit: Visit, member_id: str) -> Reply:
        member = await self._find(visit, member_id)
        await self._members.remove(member.account_id, member.id, visit.viewer.member.id)
        return redirect("/settings", notice="removed")

    async def _find(self, visit: Visit, member_id: str) -> Member:
        """A member whom the person may remove."""
        viewer = visit.viewer
        found = [one for one in await self._members.members(viewer.account.id) if one.id == member_id]
        if not found:
            raise UnknownIdError("The account has no member with this id: the page Settings lists its members.")
        if member_id == viewer.member.id:
            raise RefusedError(YOURSELF)
        if found[0].role == "admin" and not viewer.is_admin:
            raise RefusedError(ADMINS_REMOVE)
        return found[0]
