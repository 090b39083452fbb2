"""The docs tell of everything that there is, and of nothing else."""

import re
from pathlib import Path

import pytest

from webdata.crawling.warm_crawlers import load_spiders

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
LINK = re.compile(r"\]\((?!https?://)([^)#\s]*)")


def test_every_setting_is_documented():
    """docs/settings.md lists exactly the variables that the settings read; `<REGION>` stands for `{region}`."""
    settings = (ROOT / "docs/settings.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `(WEBDATA_[\w<>]+)`", settings, re.MULTILINE))
    config = (ROOT / "webdata/config/config.py").read_text(encoding="utf-8")
    read = re.findall(r'"(WEBDATA_[\w{}]*[^\W_]|WEBDATA_\w+\{\w+\})"', config)
    assert documented == {re.sub(r"\{(\w+)\}", lambda name: f"<{name[1].upper()}>", variable) for variable in read}


KEPT = [(spider, resource) for spider in load_spiders() for resource in spider.resources]


@pytest.mark.parametrize(("spider", "resource"), KEPT, ids=lambda one: one.name)
def test_every_endpoint_is_in_the_readme(spider, resource):
    """The README's table has a row for each engine, and docs/api.md a chapter for its endpoint."""
    assert f"`{resource.method} {resource.route}`" in README
    assert f"`scrapy crawl {spider.name}`" in README
    assert f"`{resource.path}`" in (ROOT / "docs/api.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    """A link from one page of the docs to a file finds it."""
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert not target or (page.parent / target).exists(), target
