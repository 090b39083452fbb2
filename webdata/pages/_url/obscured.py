"""Addresses of mail that Cloudflare hides from programs and its script writes into the page.

https://developers.cloudflare.com/waf/tools/scrape-shield/email-address-obfuscation/
"""

from lxml.html import HtmlElement

from webdata.pages._url.dropping import drop

ATTRIBUTE = "data-cfemail"
TARGET = "/cdn-cgi/l/email-protection#"
CLASS = "__cf_email__"
LONGEST = 640
"""Hexadecimal digits of the longest address, of 320 bytes."""


def show_addresses(root: HtmlElement) -> None:
    """Write, in place, each such address where it stands, and as the target of its link."""
    for element in root.iter("a", "span"):
        target = element.get("href", "")
        address = _decoded(target.partition(TARGET)[2]) if TARGET in target else ""
        if address:
            element.set("href", f"mailto:{address}")
        shown = _shown(element)
        if shown is not None and (address := _decoded(shown.get(ATTRIBUTE, "")) or address.partition("?")[0]):
            drop([*shown])
            shown.text = address
            if shown.tag == "a":
                shown.set("href", f"mailto:{address}")


def _shown(element: HtmlElement) -> HtmlElement | None:
    """The element whose text stands for the address: one that has it, or that in the link to it."""
    if element.get(ATTRIBUTE):
        return element
    inner = element[0] if len(element) == 1 else None
    return inner if inner is not None and CLASS in inner.get("class", "").split() else None


def _decoded(digits: str) -> str:
    """The text of bytes of which each is written as it and the first one, exclusively; empty for other digits."""
    try:
        key, *rest = bytes.fromhex(digits[:LONGEST])
        return bytes(byte ^ key for byte in rest).decode()
    except ValueError:
        return ""
