"""Secrets in what callers send."""

import pytest

from webdata.domain.secrets import DEEPEST, LONGEST_SHOWN, MASK, MOST_ITEMS, masked, masked_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://user:pw@shop.example/", "https://…@shop.example/"),
        ("https://shop.example/?a=1&api_key=abc&token=x#access_token=y", None),
        ("Bearer abcdefghijklmnopqrst", "Bearer …"),
        ("wd_live_0123456789abcdef", "wd_live_…"),
        ("//user@shop.example", "//…@shop.example"),
    ],
)
def test_secrets_are_masked(text, shown):
    """Keys, passwords and tokens are masked where a text holds them."""
    assert masked_text(text) == (shown or "https://shop.example/?a=1&api_key=…&token=…#access_token=…")


@pytest.mark.parametrize(
    "text", ["basic income", "a token of love", "key=value pairs", "café @ home // 5", "https://a.example/?q=5&page=2"]
)
def test_other_texts_stay_as_they_are(text):
    """What only resembles a secret stays, so that a search can be run again."""
    assert masked_text(text) == text


def test_values_are_masked_by_their_names():
    """In an object, the values of headers and fields that are secrets are masked, at any depth."""
    sent = {"headers": {"Authorization": "x", "Cookie": "y", "Accept": "*/*"}, "list": [{"password": 5}], "num": 5}
    shown = {
        "headers": {"Authorization": MASK, "Cookie": MASK, "Accept": "*/*"},
        "list": [{"password": MASK}],
        "num": 5,
    }
    assert masked(sent) == shown


def test_what_is_shown_is_bounded():
    """Long texts, long lists and deep ones are cut."""
    deep = []
    for _ in range(2 * DEEPEST):
        deep = [deep]
    assert len(masked("x" * 9999)) == LONGEST_SHOWN + 1
    assert len(masked(list(range(9999)))) == MOST_ITEMS
    assert MASK in str(masked(deep))


@pytest.mark.parametrize(
    "secret", ["wd_live_" + "x" * 40, "https://user:" + "p" * 40 + "@a.example", "Bearer " + "t" * 40]
)
def test_a_text_is_cut_after_it_is_masked(secret):
    """A secret at the place where a long text ends is masked like any other."""
    for shown in range(1, len(secret)):
        text = masked_text(("a " * LONGEST_SHOWN)[: LONGEST_SHOWN - shown] + " " + secret)
        assert "qqqqq" not in text
        assert len(text) <= LONGEST_SHOWN + len(MASK)
