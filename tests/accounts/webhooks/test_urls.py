"""Which URLs may be webhooks, and how they are written."""

import pytest

from webdata.domain.errors import QueryError

task = pytest.mark.task


@task
@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("HTTPS://Shop.Example:443/a/../hook#part", "https://shop.example/hook"),
        ("https://shop.example\\hook", "https://shop.example/hook"),
        ("https://bücher.example/ä", "https://xn--bcher-kva.example/%C3%A4"),
        ("https://shop.example?to=@127.0.0.1/", "https://shop.example/?to=@127.0.0.1/"),
        ("https://[2606:4700:4700::1111]/", "https://[2606:4700:4700::1111]/"),
        ("https://8.8.2056/", "https://8.8.8.8/"),
    ],
)
async def test_a_new_url_is_written_as_browsers_do(make_urls, given, written):
    """The URL of a new webhook is what browsers make of it."""
    assert (await make_urls().check_new(given, "acc_1")).url == written


@task
@pytest.mark.parametrize(
    "given",
    [
        "https://shop.example\\@8.8.8.8/",
        "https://shop.example\\@other.example/hook",
        "https:shop.example/",
        "https:\\\\shop.example/",
        "https:///shop.example/",
    ],
)
async def test_a_url_of_two_hosts_is_refused(make_urls, given):
    """A URL whose host programs read differently is no webhook, and the refusal says what would be right."""
    with pytest.raises(QueryError) as refused:
        await make_urls().check_new(given, "acc_1")
    assert "give an http:// or https:// URL of a public host" in refused.value.problems[0]["msg"]
