"""Addresses of mail that Cloudflare hides."""

import pytest

KEY = 0x42
ADDRESS = "post@site.example"
HIDDEN = bytes([KEY, *(byte ^ KEY for byte in ADDRESS.encode())]).hex()
TARGET = "/cdn-cgi/l/email-protection"
NOTE = "[email&#160;protected]"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (f"<a href='{TARGET}#{HIDDEN}'><span class=__cf_email__>{NOTE}</span></a>", f"<{ADDRESS}>"),
        (f"<a href='{TARGET}' class=__cf_email__ data-cfemail={HIDDEN}>{NOTE}</a>", f"<{ADDRESS}>"),
        (f"<span class=__cf_email__ data-cfemail={HIDDEN}>{NOTE}</span>", ADDRESS),
        (f"<a href='{TARGET}#{HIDDEN}'>Write us</a>", f"[Write us](mailto:{ADDRESS})"),
    ],
)
def test_an_address_of_mail_is_read_as_in_a_browser(after, html, text):
    """The address stands in the text and in the link, as the script of Cloudflare writes it."""
    assert after(f"<p>{html} is our address.</p>") == f"{text} is our address."


@pytest.mark.parametrize("digits", ["", "zz", "42", "4", "42ff"])
def test_what_is_no_address_stays(after, digits):
    """Digits of no address leave the text as it is."""
    assert "protected" in after(f"<p><span class=__cf_email__ data-cfemail='{digits}'>{NOTE}</span></p>")
