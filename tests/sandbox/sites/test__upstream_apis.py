"""The sandbox's APIs of others."""

from urllib.parse import urlsplit

import pytest

from webdata.crawling.offline import SavedPage, judge
from webdata.crawling.upstream import UpstreamSpider
from webdata.crawling.warm_crawlers import known_spiders
from webdata.runtime.wire.exchange import SandboxRequest
from webdata.sandbox.sites import site_for

KINDS = {spider.name: spider for spider in known_spiders() if issubclass(spider, UpstreamSpider)}
ASKED = [(name, resource) for name, kind in sorted(KINDS.items()) for resource in kind.resources]
pytestmark = pytest.mark.task


def fields_of(resource, terms):
    given = {name: field.examples[0] for name, field in resource.query.model_fields.items() if field.is_required()}
    return {name: str(value) for name, value in {**given, "q": terms}.items()}


def reply_to(request, **headers):
    parts = urlsplit(request.url)
    sent = {name.lower(): value for name, value in request.headers.to_unicode_dict().items()} | headers
    target = f"{parts.path}?{parts.query}" if parts.query else parts.path
    asked = SandboxRequest(request.method, parts.scheme, parts.netloc, target, sent, request.body)
    return site_for(parts.hostname)(asked)


async def verdict(kind, resource, terms, **headers):
    fields, spider = fields_of(resource, terms), KINDS[kind]()
    request = spider.prepared(resource.query.check(fields))
    reply = reply_to(request, **headers)
    page = SavedPage(reply.body, request.url, reply.status, dict(reply.headers))
    return await judge(spider, page, {"resource": resource.name, **fields})


def rows_of(record):
    return [row for rows in record.values() if isinstance(rows, list) for row in rows]


@pytest.mark.parametrize(("kind", "resource"), ASKED, ids=lambda value: getattr(value, "name", value))
async def test_every_search_of_an_api_has_invented_results(kind, resource):
    """Each resource that a kind answers gets results for the same terms, and none where the terms ask for none."""
    found, none = [await verdict(kind, resource, terms) for terms in ("harbour tea", "sandbox:empty")]
    assert found["outcome"] == "ok", found["reason"]
    assert len(rows_of(found["record"])) > 1
    assert none["outcome"] == "empty", none["reason"]


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize(
    ("scenario", "outcome"),
    [
        ("key", "upstream"),
        ("spent", "upstream"),
        ("limited", "upstream"),
        ("denied", "upstream"),
        ("error", "upstream"),
        ("layout", "layout"),
        ("html", "upstream"),
        ("garbage", "upstream"),
    ],
)
async def test_the_failures_of_an_api_are_failures_of_its_engine(kind, scenario, outcome):
    """What an API says when it does not answer is no answer, and no empty one."""
    found = await verdict(kind, KINDS[kind].resources[0], f"sandbox:{scenario}")
    assert (found["outcome"], found["record"]) == (outcome, None), found


async def test_a_key_of_an_operator_is_refused():
    """The sandbox takes its own key alone."""
    resource = KINDS["brave"].resources[0]
    found = await verdict("brave", resource, "tea", **{"x-subscription-token": "key-of-an-operator"})
    assert found["kind"] == "key"
