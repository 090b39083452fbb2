"""One live query for each engine, with its outcome in words."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from time import monotonic

from webdata.config.config import Config
from webdata.crawling.engine import EngineSpider
from webdata.crawling.warm_crawlers import Answer, Call, WarmCrawlers
from webdata.domain.errors import (
    BlockedError,
    LayoutError,
    NotFoundError,
    QueryError,
    UpstreamTimeoutError,
    WebdataError,
)
from webdata.domain.outcome import Outcome
from webdata.faces.administration.local_calls import LOCAL_ACCOUNT, local_crawlers
from webdata.faces.administration.machine_checks import Finding
from webdata.resources import example

AT_ONCE = 4
"""Engines that are asked at once."""
BLOCKS = {
    "captcha": "blocked by a captcha",
    "consent": "stopped by a page that asks for consent",
    "login": "stopped by a page that asks for a login",
    "limited": "limited: it wants fewer requests",
    "denied": "denied",
}
"""How an engine was blocked, by the kind."""


async def engine_findings(config: Config, engines: Sequence[type[EngineSpider]]) -> AsyncIterator[Finding]:
    """The finding about each engine, as they come."""
    if not engines:
        return
    room = asyncio.Semaphore(AT_ONCE)
    async with local_crawlers(config, max_calls=len(engines)) as crawlers:

        async def checked(engine: type[EngineSpider]) -> Finding:
            async with room:
                return await _finding(config, crawlers, engine)

        for finding in asyncio.as_completed([checked(engine) for engine in engines]):
            yield await finding


async def _finding(config: Config, crawlers: WarmCrawlers, engine: type[EngineSpider]) -> Finding:
    resource, began = engine.resources[0], monotonic()
    name = f"{engine.site or engine.name} ({engine.name})"
    try:
        query, in_sandbox = resource.query.check(example(resource)), config.sandbox == "always"
        call = Call(resource, query, in_sandbox, config.deadline, LOCAL_ACCOUNT, engine=engine.name)
        answer = await crawlers.answer(call)
    except NotFoundError:
        return Finding("engine", "ok", f"{name}: answers, and has nothing for the example of {resource.name}")
    except WebdataError as error:
        return Finding("engine", "failed", f"{name}: {in_words(error, has_proxies=bool(config.proxies))}")
    seconds = monotonic() - began
    return Finding("engine", "ok", f"{name}: {_found(answer)} in {seconds:.1f} s by {answer.transport}")


def _found(answer: Answer) -> str:
    return "answers" if answer.outcome == Outcome.OK else f"answers, with the outcome {answer.outcome}"


def in_words(error: WebdataError, *, has_proxies: bool) -> str:
    """What went wrong, and what would help."""
    match error:
        case BlockedError():
            how = BLOCKS.get(error.kind or "", f"blocked ({error.kind or error.reason})")
            right = "use other proxies, or an upstream" if has_proxies else "set a proxy or an upstream"
            return f"{how} from this address; {right} (webdata docs unblocking, webdata docs upstreams)"
        case LayoutError():
            return f"its page has a layout that is not known here ({error.reason}): upgrade webdata, or report it"
        case UpstreamTimeoutError():
            return f"no answer in time ({error.reason}): is there a way out to the internet from here?"
        case QueryError():
            return f"its example cannot be run: {error}"
        case _:
            return str(error)
