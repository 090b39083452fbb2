"""No engine leaves its own sites: rules for every engine that the spider loader finds, over real sockets."""

from contextlib import asynccontextmanager
from itertools import product

import pytest

from tests.recording_sandbox import Recording
from webdata.crawling.engine import EngineSpider
from webdata.crawling.warm_crawlers import Call, WarmCrawlers, known_spiders, scrapy_settings
from webdata.domain.errors import FetchError, TargetError, UpstreamError, WebdataError
from webdata.fetching.egress.rule import Rule
from webdata.resources.web_search import WEB_SEARCH
from webdata.runtime.wire.exchange import HTML, SiteReply, redirect
from webdata.spiders.google_web import GoogleWebSpider

pytestmark = [pytest.mark.task, pytest.mark.usefixtures("starts")]

SPIDERS = known_spiders()
INSIDE = ["http://127.0.0.1/inside", "http://169.254.169.254/latest/meta-data/", "http://[::1]/", "file:///etc/passwd"]
FOREIGN = ["https://evil.example/", "https://google.com.evil.example/", "https://evil.example/?www.google.com/"]
FIELDS = {"url": "https://site.example/"}
"""Values of required fields whose examples do not do."""


def refresh(to):
    return SiteReply(200, HTML, f'<html><head><meta http-equiv="refresh" content="0; url={to}"></head></html>'.encode())


def consent_form(to):
    """Google's consent page, whose form posts elsewhere."""
    page = f"""<html><title>Before you continue</title>
    <form action="{to}" method="POST"><input name="set_eom" value="true"><button>Reject all</button></form>
    <form action="https://consent.google.com/save"><button>Accept all</button></form></html>"""
    return SiteReply(200, HTML, page.encode())


ATTACKS = {
    "302": redirect,
    "307": lambda to: redirect(to, 307),
    "refresh": refresh,
    "form": consent_form,
}


class Hostile(Recording):
    """A sandbox whose every site answers with the attack of the test, and which takes any host."""

    def __init__(self):
        super().__init__()
        self.reply = SiteReply()

    def knows(self, host):
        return True

    def answer(self, request):
        self.requests.append(request)
        return self.reply


@asynccontextmanager
async def attacked(spider, **settings):
    """Yields a function that runs a query of an engine against a reply, and returns the error and the hosts."""
    sandbox = Hostile()
    own = scrapy_settings()
    own.setdict({"SANDBOX_URL": await sandbox.start(), "MAX_STEPS": 2, **settings}, priority="cmdline")
    warm = WarmCrawlers([spider], own, 8)

    async def run(resource, reply):
        sandbox.requests, sandbox.reply, error = [], reply, None
        try:
            await warm.answer(Call(resource, smallest(resource), sandbox=True, deadline=30))
        except WebdataError as raised:
            error = raised
        return error, {request.host for request in sandbox.requests}

    try:
        yield run
    finally:
        await warm.close(5)
        await sandbox.stop()


def smallest(resource):
    """A query with the required fields only."""
    required = {name: field for name, field in resource.query.model_fields.items() if field.is_required()}
    return resource.query.check({name: FIELDS.get(name) or field.examples[0] for name, field in required.items()})


def is_own(spider, host):
    """Whether a host is one that the engine may be led to: one of its sites, or for any site a public one."""
    if spider.any_site:
        return host in ("site.example", "consent.google.com")
    return any(host == domain or host.endswith(f".{domain}") for domain in spider.allowed_domains)


@pytest.mark.parametrize("spider", SPIDERS, ids=lambda spider: spider.name)
async def test_no_engine_is_led_away(spider):
    """No engine follows a redirect, a refresh or a form to an address inside or to a foreign host."""
    targets = INSIDE if spider.any_site else [*INSIDE, *FOREIGN]
    async with attacked(spider, METAREFRESH_ENABLED=True) as run:
        for resource, attack, to in product(spider.resources[:2], ATTACKS, targets):
            error, hosts = await run(resource, ATTACKS[attack](to))
            assert hosts, (attack, to)
            assert all(is_own(spider, host) for host in hosts), (attack, to)
            assert isinstance(error, (FetchError, TargetError)) or spider.any_site


@pytest.mark.parametrize("spider", SPIDERS, ids=lambda spider: spider.name)
def test_an_engine_declares_its_sites(spider):
    """Each has `allowed_domains`, which its requests are on, or it is made for any site."""
    assert spider.any_site == (not spider.allowed_domains)
    for resource in spider.resources:
        url = spider().request(smallest(resource)).url
        assert Rule.of_spider(scrapy_settings(), spider).check_url(url).url


def test_an_engine_without_sites_reaches_nothing():
    """An engine that declares neither sites nor `any_site` is refused every URL."""

    class New(EngineSpider):
        name = "new"

    with pytest.raises(TargetError):
        Rule.of_spider(scrapy_settings(), New).check_url("https://www.google.com/")


@pytest.mark.parametrize("attack", ["302", "form"])
async def test_being_led_away_is_a_fault_of_the_upstream(attack):
    """The call fails as the upstream's fault, which names no address, and is not tried again."""
    async with attacked(GoogleWebSpider) as run:
        error, _ = await run(WEB_SEARCH, ATTACKS[attack]("http://10.0.0.5:5432/"))
    assert isinstance(error, UpstreamError)
    assert (error.kind, "10.0.0.5" in str(error)) == ("off_site", False)
    assert len(error.attempts) <= 1


async def test_redirects_between_own_sites_are_followed():
    """A redirect to another country's domain, or to the site's host for consent, is followed."""
    async with attacked(GoogleWebSpider) as run:
        for host in ("www.google.de", "consent.google.com", "ipv4.google.com"):
            error, hosts = await run(WEB_SEARCH, redirect(f"https://{host}/search?q=coffee"))
            assert hosts == {"www.google.com", host}
            assert error.kind != "off_site"


@pytest.mark.parametrize("attack", ["302", "form"])
async def test_without_the_guard_an_engine_is_led_away(attack):
    """With EGRESS_GUARD off the foreign host is reached, so it is the guard that prevents it."""
    async with attacked(GoogleWebSpider, EGRESS_GUARD=False) as run:
        _, hosts = await run(WEB_SEARCH, ATTACKS[attack]("https://evil.example/"))
    assert "evil.example" in hosts
