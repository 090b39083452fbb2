"""Webhooks of an account: make, change, test; their deliveries, and sending them again."""

from collections.abc import Mapping
from typing import Any

from webdata.accounts.webhooks.queries import MOST_DESCRIPTION, NewWebhook
from webdata.accounts.webhooks.webhooks import Webhooks
from webdata.domain.errors import QueryError
from webdata.domain.events import ALL_EVENTS, EVENTS, WebhookTest
from webdata.domain.sentences import sentence
from webdata.faces.dashboard.rendering import redirect, render
from webdata.faces.dashboard.visits import Pages, Visit, route
from webdata.runtime.server.replies import Reply
from webdata.stores.webhooks.model import Status, Webhook

SHOWN = 25
"""Deliveries of a page."""
STATUSES: Mapping[str, Status | None] = {"": None, "pending": "pending", "delivered": "delivered", "failed": "failed"}
KINDS: Mapping[str, str] = {"pending": "warn", "delivered": "good", "failed": "bad"}
EVENT_OPTIONS = [
    (ALL_EVENTS, "All events", "also those that come later"),
    *((name, name, event.summary()) for name, event in EVENTS.items() if event is not WebhookTest),
]
NOTICES = {
    "changed": "The webhook was changed.",
    "enabled": "The webhook is enabled: events are sent to it from now on.",
    "disabled": "The webhook is disabled: nothing is sent to it.",
    "removed": "The webhook was deleted, with its deliveries.",
    "tested": "A test event is on its way, and stands below: load the page again to see how it ends.",
    "resent": "The delivery is sent again, now: load the page again to see how it ends.",
}


class WebhooksPages(Pages):
    """The pages of `/dashboard/webhooks`."""

    def __init__(self, webhooks: Webhooks) -> None:
        self._webhooks = webhooks

    @route("GET", "/webhooks")
    async def _list(self, visit: Visit) -> Reply:
        webhooks = await self._webhooks.all(_account(visit))
        return render("webhooks", visit, webhooks=webhooks, notice_text=_notice(visit))

    @route("GET", "/webhooks/new")
    async def _new(self, visit: Visit) -> Reply:
        return _form(visit, None, {"url": "", "events": [ALL_EVENTS], "description": ""}, {})

    @route("POST", "/webhooks")
    async def _add(self, visit: Visit) -> Reply:
        values = _values(visit)
        try:
            webhook = await self._webhooks.add(_account(visit), NewWebhook.check(values))
        except QueryError as error:
            return _form(visit, None, values, _errors(error), 422)
        return render("webhook_secret", visit, webhook=webhook, is_new=True)

    @route("GET", "/webhooks/<webhook_id>")
    async def _show(self, visit: Visit, webhook_id: str) -> Reply:
        webhook = await self._webhooks.find(_account(visit), webhook_id)
        chosen, before = visit.query.get("status", ""), visit.query.get("before", "")
        status = STATUSES.get(chosen)
        found = await self._webhooks.deliveries(webhook.account_id, webhook.id, SHOWN, before or None, status)
        return render(
            "webhook",
            visit,
            webhook=webhook,
            deliveries=found[0],
            following=found[1],
            chosen=chosen if status else "",
            before=before,
            kinds=KINDS,
            notice_text=_notice(visit),
        )

    @route("GET", "/webhooks/<webhook_id>/change")
    async def _change_form(self, visit: Visit, webhook_id: str) -> Reply:
        webhook = await self._webhooks.find(_account(visit), webhook_id)
        values = {"url": webhook.url, "events": webhook.events, "description": webhook.description}
        return _form(visit, webhook, values, {})

    @route("POST", "/webhooks/<webhook_id>/change")
    async def _change(self, visit: Visit, webhook_id: str) -> Reply:
        webhook, values = await self._webhooks.find(_account(visit), webhook_id), _values(visit)
        try:
            query = NewWebhook.check(values)
            await self._webhooks.change(webhook.account_id, webhook.id, **query.model_dump())
        except QueryError as error:
            return _form(visit, webhook, values, _errors(error), 422)
        return _to(webhook_id, "changed")

    @route("POST", "/webhooks/<webhook_id>/enable")
    async def _enable(self, visit: Visit, webhook_id: str) -> Reply:
        await self._webhooks.change(_account(visit), webhook_id, enabled=True)
        return _to(webhook_id, "enabled")

    @route("POST", "/webhooks/<webhook_id>/disable")
    async def _disable(self, visit: Visit, webhook_id: str) -> Reply:
        await self._webhooks.change(_account(visit), webhook_id, enabled=False)
        return _to(webhook_id, "disabled")

    @route("POST", "/webhooks/<webhook_id>/test")
    async def _test(self, visit: Visit, webhook_id: str) -> Reply:
        await self._webhooks.test(_account(visit), webhook_id)
        return _to(webhook_id, "tested")

    @route("POST", "/webhooks/<webhook_id>/rotate")
    async def _rotate(self, visit: Visit, webhook_id: str) -> Reply:
        webhook = await self._webhooks.rotate(_account(visit), webhook_id)
        return render("webhook_secret", visit, webhook=webhook, is_new=False)

    @route("GET", "/webhooks/<webhook_id>/remove")
    async def _confirm_removal(self, visit: Visit, webhook_id: str) -> Reply:
        return render("webhook_remove", visit, webhook=await self._webhooks.find(_account(visit), webhook_id))

    @route("POST", "/webhooks/<webhook_id>/remove")
    async def _remove(self, visit: Visit, webhook_id: str) -> Reply:
        await self._webhooks.remove(_account(visit), webhook_id)
        return redirect("/webhooks", notice="removed")

    @route("POST", "/webhooks/<webhook_id>/deliveries/<event_id>/resend")
    async def _resend(self, visit: Visit, webhook_id: str, event_id: str) -> Reply:
        await self._webhooks.resend(_account(visit), webhook_id, event_id)
        return _to(webhook_id, "resent")


def _account(visit: Visit) -> str:
    return visit.viewer.account.id


def _to(webhook_id: str, notice: str) -> Reply:
    return redirect(f"/webhooks/{webhook_id}", notice=notice)


def _notice(visit: Visit) -> str | None:
    return NOTICES.get(visit.query.get("notice", ""))


def _form(
    visit: Visit, webhook: Webhook | None, values: Mapping[str, Any], errors: Mapping[str, str], status: int = 200
) -> Reply:
    return render(
        "webhook_form",
        visit,
        status=status,
        webhook=webhook,
        values=values,
        errors=errors,
        event_options=EVENT_OPTIONS,
        longest=MOST_DESCRIPTION,
    )


def _values(visit: Visit) -> dict[str, Any]:
    form = visit.form
    return {
        "url": form.get("url", "").strip(),
        "events": form.getlist("events"),
        "description": form.get("description", "").strip(),
    }


def _errors(error: QueryError) -> dict[str, str]:
    """What is wrong, by field; that of no field stands beside the URL."""
    errors = {}
    for problem in error.problems:
        name = next((str(part) for part in problem["loc"] if part in ("url", "events", "description")), "url")
        errors[name] = sentence(problem["msg"])
    return errors
