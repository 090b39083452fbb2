"""Product search: the query."""

from webdata.resources.product_search import ProductQuery


def test_the_terms_are_the_only_query_key_of_its_own():
    """All other parameters of a product search are headers."""
    assert ProductQuery.keys() == ["q", "archive"]
    assert set(ProductQuery.header_names().values()) == {"X-Proxy-Location", "X-User-Agent", "X-Session", "X-Engine"}
