"""One call of a resource in this process: the same engines, policies and rules as those of a service, without a key."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import click

from webdata.config.config import Config
from webdata.crawling.warm_crawlers import Answer, Call, WarmCrawlers, load_spiders, scrapy_settings
from webdata.domain.errors import QueryError, WebdataError
from webdata.domain.query import ARCHIVE, Query, deadline_of
from webdata.faces.administration.api_client import INTERRUPTED
from webdata.faces.administration.single_calls import CallReply, call_error
from webdata.faces.api.problems import problem_of
from webdata.faces.api.replies import answer_reply
from webdata.resources import Resource
from webdata.runtime.process.reactor import install_reactor
from webdata.sandbox.server import Sandbox

Result = TypeVar("Result")
LOCAL_ACCOUNT = "local"
CLOSES_WITHIN = 1.0
"""Seconds for what the call has left running."""


def asked_here(config: Config, resource: Resource, values: Mapping[str, Any]) -> CallReply:
    """The reply of a call without a service; raises QueryError, and ApiError with what a service would say."""
    headers = resource.query.header_names()
    pairs = [(name, value) for name, value in values.items() if name not in headers]
    query, remarks = resource.query.read(pairs, {name: values.get(name) for name in headers})
    if query.further_calls:
        raise click.UsageError("the pages of results need the credits and limits of a service: leave --local out")
    if getattr(query, ARCHIVE, None):
        raise click.UsageError("the archive of answers is a service's: leave --local or --archive out")
    try:
        answer = in_reactor(_answer(config, resource, query))
        reply = answer_reply(resource, answer, remarks, query)
    except QueryError:
        raise
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except WebdataError as error:
        problem = problem_of(error, resource)
        raise call_error(problem.message, problem.status) from error
    return CallReply(bytes(reply.body), reply.headers)


def in_reactor(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of a coroutine in Scrapy's reactor; raises KeyboardInterrupt at Ctrl-C, which ends it."""
    install_reactor()
    from twisted.internet import reactor  # noqa: PLC0415  # the one that was installed

    running: Any = reactor
    ends: list[asyncio.Task[Result]] = []

    async def until_its_end() -> Result:
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, running.stop)
        try:
            return await work
        finally:
            running.stop()

    running.callWhenRunning(lambda: ends.append(asyncio.ensure_future(until_its_end())))
    running.run(installSignalHandlers=False)
    if not ends[0].done():
        raise KeyboardInterrupt
    return ends[0].result()


@asynccontextmanager
async def local_crawlers(config: Config, max_calls: int) -> AsyncIterator[WarmCrawlers]:
    """The engines of this process, for so many calls at once."""
    settings, sandbox = scrapy_settings(), Sandbox(config.sandbox_replay)
    if config.sandbox == "always":
        settings.set("SANDBOX_URL", config.sandbox_url or await sandbox.start(), priority="cmdline")
    crawlers = WarmCrawlers(load_spiders(settings), settings, max_calls)
    try:
        yield crawlers
    finally:
        await crawlers.close(CLOSES_WITHIN)
        await sandbox.stop()


async def _answer(config: Config, resource: Resource, query: Query) -> Answer:
    """The answer of the first engine that has one; raises FetchError."""
    async with local_crawlers(config, max_calls=1) as crawlers:
        deadline = deadline_of(query, config.deadline)
        return await crawlers.answer(Call(resource, query, config.sandbox == "always", deadline, LOCAL_ACCOUNT))
