"""Pools of proxies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.config.proxies import read_pools
from webdata.domain.errors import ConfigError
from webdata.domain.proxies import Proxy, pools

SECRET = "s3cret"


def urls(found, region):
    return [proxy.url for proxy in found[region]]


def labels(found, region):
    return [proxy.label for proxy in found[region]]


def test_proxies_are_labelled_by_region_and_position():
    """A proxy's name in logs is its region and its position in that pool; duplicates count once."""
    found = pools([("DE", "http://a:1"), ("US", "http://b:1"), ("DE", "http://c:1"), ("DE", "http://a:1")])
    assert (labels(found, "DE"), labels(found, "US")) == (["DE-1", "DE-2"], ["US-1"])


def test_the_european_pool_is_the_union_of_its_members_and_its_own():
    """EU has its own proxies and those of IE, FR, DE, SE, without GB."""
    found = pools([(region, f"http://{region}:1") for region in ("GB", "SE", "EU", "DE", "FR", "IE", "US")])
    assert labels(found, "EU") == ["EU-1", "IE-1", "FR-1", "DE-1", "SE-1"]
    assert "EU" not in pools([("GB", "http://a:1")])


def test_the_url_of_a_proxy_is_not_printed():
    """The representation of a proxy has neither its host nor its password."""
    assert repr(Proxy(f"http://user:{SECRET}@host:1", "DE", "DE-1")) == "Proxy(region='DE', label='DE-1')"


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1:3128",
        "https://proxy.example.com:443",
        "http://user:p%40ss:word@proxy.example.com:8000",
        "http://user@proxy.example.com:8000",
        "http://[::1]:8000",
    ],
)
def test_a_list_of_urls_is_split(url):
    """HTTP and HTTPS proxies with and without users are unchanged but for spaces and a slash at the end."""
    assert urls(read_pools({"US": f" {url}/ ,, http://other:1,"}), "US") == [url, "http://other:1"]


@pytest.mark.parametrize(
    "url",
    [
        f"user:{SECRET}@host:3128",
        f"socks5://user:{SECRET}@host:3128",
        f"http://user:{SECRET}@host",
        f"http://user:{SECRET}@host:0",
        f"http://user:{SECRET}@host:65536",
        f"http://user:{SECRET}@host:3128/path",
        f"http://user:{SECRET}@ho st:3128",
        f"http://us/er:{SECRET}@host:3128",
    ],
)
def test_the_message_for_a_wrong_url_has_its_position(url):
    """It describes right URLs and does not repeat the wrong one."""
    with pytest.raises(
        ConfigError, match=r"^WEBDATA_PROXIES_US cannot be used, at URL 2: give it as http://user:password@host:3128"
    ) as e:
        read_pools({"US": f"http://a:1,{url}"})
    assert SECRET not in str(e.value)
    assert e.value.__cause__ is None


@given(st.text(max_size=40), st.text(alphabet="http:/@.0123456789ab, #%[]", max_size=60))
def test_no_message_repeats_the_value(word, text):
    """Any text is a list of URLs, or an error that does not contain it."""
    secret = f"S3CRET{word}"
    try:
        read_pools({"US": f"{text}{secret}@host:1"})
    except ConfigError as error:
        assert "S3CRET" not in str(error)  # noqa: PT017  # either end is right


def test_a_file_of_proxies_is_read(tmp_path):
    """Each line is a region and a URL; comments and blank lines are ignored."""
    file = tmp_path / "proxies"
    file.write_text("# ours\n\nDE http://user:p#ss@a:1 # the old one\n  ANY\thttps://b:2\n".replace("p#ss", "p%23ss"))
    found = read_pools({"FILE": str(file)})
    assert (urls(found, "DE"), urls(found, "ANY")) == (["http://user:p%23ss@a:1"], ["https://b:2"])


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        (f"http://user:{SECRET}@host:1", "give a region and a URL, such as DE http://user:password@host:3128"),
        (f"UK http://user:{SECRET}@host:1", "the regions are .*DE, .*ANY"),
        (f"DE http://user:{SECRET}@host", "give it as DE http://user:password@host:3128"),
        (f"DE http://a:1 {SECRET}", "give a region and a URL"),
    ],
)
def test_the_message_for_a_wrong_line_has_its_number(tmp_path, line, wrong):
    """It describes right lines and does not repeat the wrong one."""
    file = tmp_path / "proxies"
    file.write_text(f"DE http://a:1\n{line}\n")
    with pytest.raises(ConfigError, match=f"^WEBDATA_PROXIES_FILE cannot be used, at line 2: .*{wrong}") as error:
        read_pools({"FILE": str(file)})
    assert SECRET not in str(error.value)


@pytest.mark.parametrize(("content", "reason"), [(None, "No such file or directory"), (b"\xff\xfe", "it is not UTF-8")])
def test_an_unreadable_file_is_refused(tmp_path, content, reason):
    """The message has the reason and describes the file."""
    file = tmp_path / "proxies"
    if content:
        file.write_bytes(content)
    with pytest.raises(
        ConfigError, match=f"^WEBDATA_PROXIES_FILE cannot be read: {reason}: give a file with lines such as DE http://"
    ):
        read_pools({"FILE": str(file)})
