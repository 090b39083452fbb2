"""API keys in other text."""

from webdata.domain.api_key import redacted


def test_redacted():
    """Of each key in a text only the kind is left."""
    assert redacted("/v1?apikey=wd_live_aB1&x=wd_test_Z,wd_other_1") == "/v1?apikey=wd_live_…&x=wd_test_…,wd_other_1"
