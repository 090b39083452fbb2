"""The webhooks of accounts: their making, changes, tests and deliveries."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from ulid import ULID

from webdata.accounts.webhooks.queries import NewWebhook
from webdata.accounts.webhooks.signatures import new_secret
from webdata.accounts.webhooks.urls import WebhookUrls
from webdata.domain.errors import ConflictError, QueryError, UnknownIdError
from webdata.stores.webhooks.model import Delivery, Status, Webhook
from webdata.stores.webhooks.sql import WebhookStore

PATH = "/api/v1/webhooks"
MOST_WEBHOOKS = 50
"""Webhooks of an account."""
OLD_SECRET_SIGNS = timedelta(hours=24)
"""How long the old secret signs, too, after a rotation."""
UNKNOWN = f"The account has no webhook with this id: GET {PATH} lists its webhooks"
DISABLED = 'the webhook is disabled: enable it first, by PATCH with {"enabled": true}'


class Webhooks:
    """What owners do with their webhooks. Each method raises UnknownIdError for a webhook that the account has not."""

    def __init__(self, store: WebhookStore, urls: WebhookUrls) -> None:
        self._store = store
        self._urls = urls

    async def all(self, account_id: str) -> list[Webhook]:
        """The webhooks of an account, oldest first."""
        return await self._store.all(account_id)

    async def add(self, account_id: str, query: NewWebhook) -> Webhook:
        """Make a webhook, and ask its receiver by a test; raises QueryError for a wrong URL, and for one too many."""
        target = await self._urls.check_new(query.url, account_id)
        now = datetime.now(UTC)
        webhook = Webhook(
            f"whk_{ULID()}",
            account_id,
            target.url,
            tuple(query.events),
            query.description,
            new_secret(),
            now,
            host=target.host,
        )
        if not await self._store.add(webhook, MOST_WEBHOOKS):
            message = f"the account has {MOST_WEBHOOKS} webhooks, which is the most: delete one, or change its events"
            raise QueryError([{"loc": ["body"], "msg": message, "type": "too_many"}])
        return webhook

    async def find(self, account_id: str, webhook_id: str) -> Webhook:
        """The webhook with this id."""
        return _known(await self._store.find(account_id, webhook_id))

    async def change(self, account_id: str, webhook_id: str, **fields: Any) -> Webhook:
        """Change fields of a webhook; returns it as it is then. Raises QueryError for a URL that cannot be one."""
        if "url" in fields:
            target = await self._urls.check_new(fields["url"], account_id)
            fields |= {"url": target.url, "host": target.host}
        return _known(await self._store.change(account_id, webhook_id, fields))

    async def remove(self, account_id: str, webhook_id: str) -> None:
        """Remove a webhook with its deliveries."""
        if not await self._store.remove(account_id, webhook_id):
            raise UnknownIdError(UNKNOWN)

    async def rotate(self, account_id: str, webhook_id: str) -> Webhook:
        """Make a new secret; the old one signs, too, for a while."""
        until = datetime.now(UTC) + OLD_SECRET_SIGNS
        return _known(await self._store.rotate(account_id, webhook_id, new_secret(), until))

    async def test(self, account_id: str, webhook_id: str) -> Delivery:
        """Send a `webhook.test`; raises ConflictError for a webhook that is disabled."""
        webhook = await self._find_enabled(account_id, webhook_id)
        delivery = await self._store.test(webhook, datetime.now(UTC))
        if delivery is None:
            raise ConflictError(DISABLED)
        return delivery

    async def deliveries(
        self, account_id: str, webhook_id: str, limit: int, before: str | None = None, status: Status | None = None
    ) -> tuple[Sequence[Delivery], str | None]:
        """The last deliveries, newest first, and `before` of the older ones; None where there are none."""
        webhook = await self.find(account_id, webhook_id)
        found = await self._store.deliveries(webhook.id, limit + 1, before, status)
        listed = found[:limit]
        return listed, listed[-1].event_id if len(found) > len(listed) else None

    async def resend(self, account_id: str, webhook_id: str, event_id: str) -> Delivery:
        """Send a delivery again, now; raises as `test`, and UnknownIdError where there is no such delivery."""
        webhook = await self._find_enabled(account_id, webhook_id)
        delivery = await self._store.resend(webhook.id, event_id, datetime.now(UTC))
        if delivery is None:
            raise UnknownIdError(
                f"The webhook has no delivery with this id: GET {PATH}/{webhook.id}/deliveries lists those of the last "
                "30 days"
            )
        return delivery

    async def _find_enabled(self, account_id: str, webhook_id: str) -> Webhook:
        webhook = await self.find(account_id, webhook_id)
        if not webhook.enabled:
            raise ConflictError(DISABLED)
        return webhook


def _known(webhook: Webhook | None) -> Webhook:
    if webhook is None:
        raise UnknownIdError(UNKNOWN)
    return webhook
