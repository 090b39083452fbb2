"""The program that delivers webhooks: a child process of the service, which starts it when something is due.

It has a low priority, and a composition root of its own.
"""

import asyncio
import os
from contextlib import AsyncExitStack, closing

from webdata.accounts.webhooks.delivery import DeliveryWorker
from webdata.accounts.webhooks.sender import WebhookSender
from webdata.accounts.webhooks.urls import WebhookUrls
from webdata.config.config import Config
from webdata.observability.logs import log_to_standard_error
from webdata.runtime.process.child_process import run_child, tell_parent, when_parent_stops
from webdata.runtime.process.names import is_dead, this_process
from webdata.stores.sql_stores import attach_deliveries

NICENESS = 10


def main() -> None:
    """Deliver until the parent stops this process."""
    os.nice(NICENESS)
    log_to_standard_error()
    run_child("The process that delivers webhooks", lambda config: asyncio.run(_run(config)))


async def _run(config: Config) -> None:
    urls = WebhookUrls.guarded(config.egress_ports, config.egress_allow, http=config.webhooks_http)
    sender = WebhookSender(urls)
    async with AsyncExitStack() as opened:
        store = opened.enter_context(closing(attach_deliveries(config.database)))
        opened.push_async_callback(sender.close)
        delivery = DeliveryWorker(store, sender, this_process(), observer=tell_parent)
        await delivery.release(is_dead)
        when_parent_stops(delivery.stop)
        await delivery.run()
