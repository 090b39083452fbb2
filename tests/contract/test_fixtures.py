"""Every fixture has its reviewed record or error."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from scrapy.http import Headers, Response

from tests.fixture_cases import cases
from webdata.crawling.warm_crawlers import known_spiders
from webdata.domain.errors import FetchError
from webdata.pipelines.envelope import envelope
from webdata.pipelines.validate import validate

SPIDERS = {spider.name: spider for spider in known_spiders()}
CASES = cases()


def case_name(case):
    return f"{case.engine}-{case.name}"


def found(case):
    assert case.engine in SPIDERS, f"there is no engine {case.engine} that can be loaded"
    spider = SPIDERS[case.engine]()
    resource, fields = spider.chosen(case.query)
    query = resource.query.check(fields)
    saved = case.response
    request = spider.prepared(query)
    response = Response(
        saved["url"], status=saved["status"], headers=Headers(saved["headers"]), body=case.body, request=request
    )
    with ThreadPoolExecutor() as thread:  # without a running event loop
        return resource, thread.submit(asyncio.run, spider.parsed(response, query)).result()


@pytest.mark.parametrize("case", [case for case in CASES if case.expected is not None], ids=case_name)
def test_a_page_has_its_record(case):
    """A fixture's page has the reviewed record, which is valid by its schema."""
    resource, result = found(case)
    assert result.page == case.expected
    validate(resource, envelope(result))


@pytest.mark.parametrize("case", [case for case in CASES if case.error is not None], ids=case_name)
def test_a_page_without_results_has_its_error(case):
    """A fixture that is not a result page has the reviewed error."""
    with pytest.raises(FetchError) as caught:
        found(case)
    error = caught.value
    assert {"outcome": error.outcome, "kind": error.kind, "reason": error.reason} == case.error


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_a_fixture_is_composed(case):
    """Every fixture is marked as composed and was read by a person, and has either a record or an error."""
    assert not case.unread, f"read fixtures/{case.engine}/{case.name}.case, correct it, take `unread` out of it"
    assert case.response["origin"] == "composed"
    assert (case.expected is None) != (case.error is None)
