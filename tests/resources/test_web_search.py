"""The query of web search."""

import re
from pathlib import Path

import pytest

from webdata.domain.errors import QueryError
from webdata.domain.google_domains import DOMAINS
from webdata.resources.web_search import GOOGLE_DOMAIN, WebQuery

DOCS = Path(__file__).parents[2] / "docs" / "api.md"


def test_every_domain_of_the_engine_is_accepted():
    """All of Google's domains are, with and without `www.`; there are about 190."""
    assert 180 < len(set(DOMAINS)) == len(DOMAINS)
    for domain in DOMAINS:
        assert re.match(GOOGLE_DOMAIN, domain)
        assert WebQuery(q="coffee", domain=domain).domain == domain
        assert WebQuery(q="coffee", domain=f"www.{domain}").domain == f"www.{domain}"


def test_the_documented_domains_are_accepted():
    """The domains of the documentation and of the field's examples are the engine's."""
    named = re.findall(r"`(google\.[a-z.]+)`", DOCS.read_text(encoding="utf-8"))
    for domain in [*named, *WebQuery.model_fields["domain"].examples]:
        assert WebQuery(q="coffee", domain=domain).domain == domain
    assert named


@pytest.mark.parametrize(
    ("domain", "right"),
    [("google.zz", "google.de"), ("google.uk", "google.co.uk"), ("www.google.com.jp", "google.co.jp"),
     ("google.com.zz", "google.de"), ("google.com.evil.example", "google.de"), ("google.de@127.0.0.1", "google.de"),
     ("127.0.0.1", "google.de"), ("google.de:22", "google.de"), ("google.de/..", "google.de")],
)  # fmt: skip
def test_a_domain_that_is_not_the_engines_is_wrong(domain, right):
    """The message names a right one: of the same country, where the engine has one."""
    with pytest.raises(QueryError) as caught:
        WebQuery.check({"q": "coffee", "domain": domain})
    assert str(caught.value).endswith(f"such as domain={right}")
    assert f"domain cannot be {domain!r}: give a domain of the engine" in str(caught.value)


def test_a_filter_has_its_own_longest_form():
    """Filters of the engine have at most 200 characters; the message says so."""
    assert len(WebQuery.check({"q": "coffee", "tbs": "é" * 200}).tbs) == 200
    with pytest.raises(QueryError, match="tbs is too long, 201 characters where 200 are allowed"):
        WebQuery.check({"q": "coffee", "tbs": "é" * 201})
