"""API keys in other text."""

import time

import pytest

from webdata.accounts.access.api_keys import new_secret
from webdata.domain.api_key import redacted


def encoded(text, times, *, every=1, upper=True):
    """The text with each character, or every so manyth, percent-encoded so many times."""
    for number in range(times):
        signs = text if number else [f"%{ord(char):02x}" if not at % every else char for at, char in enumerate(text)]
        text = "".join(signs).replace("%", "%25") if number else "".join(signs)
    return text.upper() if upper and every == 1 else text


@pytest.mark.parametrize("test", [True, False])
@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("every", [1, 2, 3, 7])
@pytest.mark.parametrize("upper", [True, False])
def test_redacted_where_it_is_percent_encoded(test, times, every, upper):
    """However a key is percent-encoded, nothing of its secret is left."""
    for _ in range(20):
        text = f"/v1?key={encoded(new_secret(test=test), times, every=every, upper=upper)}&q=a"
        assert redacted(text) == f"/v1?key=wd_{'test' if test else 'live'}_…&q=a"


@pytest.mark.timed
@pytest.mark.parametrize("text", ["%25" * 5000, "%" + "25" * 8000, "wd_live_%" * 1700, "%77" * 5000, "w%64_" * 3000])
def test_redacted_in_a_long_text(text):
    """The longest target takes no longer than its length."""
    began = time.perf_counter()
    redacted(text)
    assert time.perf_counter() - began < 0.2


def test_redacted():
    """Of each key in a text only the kind is left."""
    assert redacted("/v1?apikey=wd_live_aB1&x=wd_test_Z,wd_other_1") == "/v1?apikey=wd_live_…&x=wd_test_…,wd_other_1"


def test_invitations_are_redacted():
    """Of the secret of an invitation nothing is left in a log."""
    secret = "wd_invite_" + "0123456789abcdef" * 4
    assert redacted(f"/dashboard/invitations/{secret}?a=b") == "/dashboard/invitations/wd_invite_…?a=b"
    assert "0123" not in redacted(encoded(f"/dashboard/{secret}", 2))
