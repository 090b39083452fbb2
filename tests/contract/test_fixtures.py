"""Every fixture has its reviewed record or error."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from scrapy.http import Headers, Response

from webdata.crawling.warm_crawlers import load_spiders
from webdata.domain.errors import FetchError
from webdata.pipelines.envelope import envelope
from webdata.pipelines.validate import validate

FIXTURES = Path(__file__).parents[2] / "fixtures"
SPIDERS = {spider.name: spider for spider in load_spiders()}
CASES = sorted(path.parent for path in FIXTURES.glob("*/*/request.json"))


def case_name(case: Path) -> str:
    return f"{case.parent.name}-{case.name}"


def read(path: Path):
    return json.loads(path.read_text(encoding="utf-8"))


def found(case: Path):
    spider = SPIDERS[case.parent.name]()
    resource, fields = spider.chosen(read(case / "request.json"))
    query = resource.query.check(fields)
    saved = read(case / "response.json")
    request = spider.prepared(query)
    (body,) = case.glob("body.*")
    response = Response(
        saved["url"], status=saved["status"], headers=Headers(saved["headers"]), body=body.read_bytes(), request=request
    )
    with ThreadPoolExecutor() as thread:  # without a running event loop
        return resource, thread.submit(asyncio.run, spider.parsed(response, query)).result()


@pytest.mark.parametrize("case", [case for case in CASES if (case / "expected.json").exists()], ids=case_name)
def test_a_page_has_its_record(case):
    """A fixture's page has the reviewed record, which is valid by its schema."""
    resource, result = found(case)
    assert result.page == read(case / "expected.json")
    validate(resource, envelope(result))


@pytest.mark.parametrize("case", [case for case in CASES if (case / "error.json").exists()], ids=case_name)
def test_a_page_without_results_has_its_error(case):
    """A fixture that is not a result page has the reviewed error."""
    with pytest.raises(FetchError) as caught:
        found(case)
    error = caught.value
    assert {"outcome": error.outcome, "kind": error.kind, "reason": error.reason} == read(case / "error.json")


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_a_fixture_is_composed(case):
    """Every fixture is marked as composed, and has either a record or an error."""
    assert read(case / "response.json")["origin"] == "composed"
    assert (case / "expected.json").exists() != (case / "error.json").exists()
