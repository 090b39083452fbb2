"""Settings: the account, its members, and the person's own sign-in."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from webdata.accounts.access.api_keys import check_name
from webdata.domain.account_names import check_account_name
from webdata.domain.errors import UnknownIdError
from webdata.domain.sentences import sentence
from webdata.faces.dashboard.confirmation import Confirmation
from webdata.faces.dashboard.rendering import redirect, render
from webdata.faces.dashboard.sessions import IDLE, end_cookie
from webdata.faces.dashboard.visits import Pages, RefusedError, Visit, route
from webdata.runtime.server.replies import Reply
from webdata.stores.accounts.members import MemberStore
from webdata.stores.accounts.model import DEFAULT_ACCOUNT, Member
from webdata.stores.accounts.sql import AccountStore

NOTICES = {
    "renamed": "The account has its new name.",
    "planned": "The account has its new plan, from now on.",
    "removed": "The member was removed, and is signed out everywhere.",
    "ended": "The session was ended.",
    "password": "Your password was changed, and you are signed out everywhere else.",
    "one-factor": "The second factor is off: your password alone signs you in.",
}
KEPT_ACCOUNT = "This account cannot be deleted: keys that are made without an account belong to it."
OWN_ACCOUNT = "You sign in by this account: let an admin of another account delete it."

ADMINS_SIGN_IN = "An admin signs in by this account, so only an admin of another account deletes it."


class SettingsPages(Pages):
    """`/dashboard/settings`, and `/dashboard/accounts` for admins."""

    def __init__(self, accounts: AccountStore, members: MemberStore, confirmation: Confirmation) -> None:
        self._accounts = accounts
        self._members = members
        self._confirmation = confirmation

    @route("GET", "/settings")
    async def _show(self, visit: Visit) -> Reply:
        return await self._page(visit, {})

    async def _page(self, visit: Visit, errors: Mapping[str, str], status: int = 200) -> Reply:
        viewer = visit.viewer
        return render(
            "settings",
            visit,
            status=status,
            account_name=visit.form.get("name", viewer.account.name),
            plans=await self._accounts.plans() if viewer.is_admin else [],
            members=await self._members.members(viewer.account.id),
            sessions=await self._members.sessions(viewer.member.id, datetime.now(UTC) - IDLE),
            notice_text=NOTICES.get(visit.query.get("notice", "")),
            errors=errors,
        )

    @route("POST", "/settings/name")
    async def _rename(self, visit: Visit) -> Reply:
        try:
            name = check_account_name(check_name(visit.form.get("name", "")))
            await self._accounts.change(visit.viewer.account.id, name=name)
        except ValueError as error:
            return await self._page(visit, {"name": sentence(str(error))}, 422)
        return redirect("/settings", notice="renamed")

    @route("POST", "/settings/plan", "admin")
    async def _set_plan(self, visit: Visit) -> Reply:
        try:
            await self._accounts.change(visit.viewer.account.id, plan=visit.form.get("plan", ""))
        except ValueError:
            return await self._page(visit, {"plan": "Choose one of the list."}, 422)
        return redirect("/settings", notice="planned")

    @route("GET", "/settings/delete")
    async def _confirm_deletion(self, visit: Visit) -> Reply:
        return await self._deletion_page(visit, {})

    async def _deletion_page(self, visit: Visit, errors: Mapping[str, str], status: int = 200) -> Reply:
        members = await self._deletable_members(visit)
        return render("account_delete", visit, status=status, errors=errors, members=members)

    async def _deletable_members(self, visit: Visit) -> Sequence[Member]:
        """Who signs in by the account; raises RefusedError where the person must not delete it."""
        viewer = visit.viewer
        if viewer.account.id == DEFAULT_ACCOUNT:
            raise RefusedError(KEPT_ACCOUNT)
        if viewer.is_admin and viewer.account.id == viewer.member.account_id:
            raise RefusedError(OWN_ACCOUNT)
        members = await self._members.members(viewer.account.id)
        if not viewer.is_admin and any(one.role == "admin" for one in members):
            raise RefusedError(ADMINS_SIGN_IN)
        return members

    @route("POST", "/settings/delete")
    async def _delete(self, visit: Visit) -> Reply:
        await self._deletable_members(visit)
        account, errors = visit.viewer.account, {}
        if visit.form.get("name", "").strip() != account.name:
            errors["name"] = "Type the name of the account exactly as it stands above."
        if problem := await self._confirmation.problem(visit):
            errors["current"] = problem
        if errors:
            return await self._deletion_page(visit, errors, 422)
        viewer = visit.viewer
        if viewer.is_admin:
            await self._members.show(viewer.session.id, viewer.member.account_id)
        if not await self._accounts.delete(account.id, datetime.now(UTC), with_admins=viewer.is_admin):
            raise RefusedError(ADMINS_SIGN_IN)  # one has just become a member
        gone = redirect("/accounts") if viewer.is_admin else redirect("/sign-in")
        return gone if viewer.is_admin else gone.with_headers({"set-cookie": end_cookie(visit)})

    @route("GET", "/accounts", "admin")
    async def _list_accounts(self, visit: Visit) -> Reply:
        accounts = [one for one in await self._accounts.all() if not one.closed]
        balances, plans = await self._accounts.balances(), await self._accounts.plans()
        return render("accounts", visit, accounts=accounts, balances=balances, plans=plans)

    @route("POST", "/accounts/<account_id>/show", "admin")
    async def _switch(self, visit: Visit, account_id: str) -> Reply:
        account = await self._accounts.find(account_id)
        if account is None or account.id != account_id or account.closed:
            raise UnknownIdError("There is no account with this id: the page Accounts lists all.")
        await self._members.show(visit.viewer.session.id, account.id)
        return redirect("")
