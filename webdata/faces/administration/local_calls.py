"""One call of a resource in this process: the same engines, policies and rules as those of a service, without a key."""

import asyncio
import signal
import sys
from collections.abc import Mapping
from typing import Any

import click
from scrapy.settings.default_settings import TWISTED_REACTOR
from scrapy.utils.reactor import install_reactor

from webdata.config.config import Config
from webdata.crawling.warm_crawlers import Call, WarmCrawlers, load_spiders, scrapy_settings
from webdata.domain.errors import QueryError, WebdataError
from webdata.domain.query import Query, deadline_of
from webdata.faces.administration.api_client import INTERRUPTED
from webdata.faces.administration.single_calls import CallReply, call_error
from webdata.faces.api.problems import problem_of
from webdata.faces.api.replies import answer_reply
from webdata.resources import Resource
from webdata.sandbox.server import Sandbox

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
    install_reactor(TWISTED_REACTOR)
    try:
        answer = _run(_Local(config).answer(resource, query))
        reply = answer_reply(resource, answer, remarks, query)
    except QueryError:
        raise
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except WebdataError as error:
        problem = problem_of(error, resource)
        raise call_error(problem.message, problem.status) from error
    return CallReply(bytes(reply.body), reply.headers)


def _run(work: Any) -> Any:
    """The result of a coroutine in the installed reactor; raises KeyboardInterrupt at Ctrl-C, which ends it."""
    from twisted.internet import reactor  # noqa: PLC0415  # the one that was installed

    running: Any = reactor
    ends: list[asyncio.Task[Any]] = []

    async def until_its_end() -> Any:
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


class _Local:
    """The engines of this process, for one call."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._sandbox = Sandbox(config.sandbox_replay)

    async def answer(self, resource: Resource, query: Query) -> Any:
        """The answer of the first engine that has one; raises FetchError."""
        settings, config = scrapy_settings(), self._config
        in_sandbox = config.sandbox == "always"
        if in_sandbox:
            settings.set("SANDBOX_URL", config.sandbox_url or await self._sandbox.start(), priority="cmdline")
        crawlers = WarmCrawlers(load_spiders(settings), settings, max_calls=1)
        try:
            deadline = deadline_of(query, config.deadline)
            return await crawlers.answer(Call(resource, query, in_sandbox, deadline, LOCAL_ACCOUNT))
        finally:
            await crawlers.close(CLOSES_WITHIN)
            await self._sandbox.stop()
