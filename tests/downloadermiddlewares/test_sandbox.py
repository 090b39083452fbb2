"""Requests are sent to the sandbox where it is on."""

import pytest
from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from webdata.domain.errors import QueryError
from webdata.downloadermiddlewares.sandbox import SandboxMiddleware, SandboxTrust
from webdata.sandbox.scenarios import UNKNOWN_WORD


def middleware(**settings):
    return SandboxMiddleware.from_crawler(get_crawler(settings_dict=settings))


def test_without_the_sandbox_the_middleware_is_disabled():
    """Without SANDBOX the middleware is disabled."""
    with pytest.raises(NotConfigured):
        middleware(SANDBOX=False)


@pytest.mark.task
async def test_requests_are_sent_to_the_running_sandbox():
    """With SANDBOX_URL it is the proxy of every request."""
    running = middleware(SANDBOX=True, SANDBOX_URL="http://127.0.0.1:8081")
    request = Request("https://www.google.com/search")
    await running.process_request(request)
    assert request.meta["proxy"] == "http://127.0.0.1:8081"


@pytest.mark.task
async def test_a_word_that_the_sandbox_does_not_know_is_the_callers_mistake():
    """Its refusal is a QueryError with the sandbox's words; any other response is passed on."""
    running, request = middleware(SANDBOX=True, SANDBOX_URL="http://127.0.0.1:8081"), Request("https://www.google.com/")
    page = Response(request.url, body=b"sandbox:capcha is no word\n")
    assert await running.process_response(request, page) is page
    with pytest.raises(QueryError, match=r"sandbox:capcha is no word$"):
        await running.process_response(request, page.replace(headers={UNKNOWN_WORD: "capcha"}))


@pytest.mark.task
@pytest.mark.usefixtures("starts")
async def test_without_a_url_the_middleware_runs_a_sandbox():
    """Without SANDBOX_URL the crawler runs its own sandbox."""
    alone = middleware(SANDBOX=True)
    request = Request("https://www.google.com/search")
    await alone.process_request(request)
    assert request.meta["proxy"].startswith("http://127.0.0.1:")
    await alone.spider_closed()


@pytest.mark.parametrize("sandbox", [True, False])
def test_only_the_sandbox_signs_its_own_certificates(sandbox):
    """Certificates are verified, except those of the sandbox, whichever spider or tool runs."""
    settings = Settings({"SANDBOX": sandbox, "DOWNLOAD_VERIFY_CERTIFICATES": True}, priority="project")
    SandboxTrust().update_settings(settings)
    assert settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES") is not sandbox
