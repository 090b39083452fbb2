"""Declarative shadow roots in place.

https://html.spec.whatwg.org/#attr-template-shadowrootmode
"""

from lxml.html import HtmlElement

from webdata.pages._url.dropping import drop


def unfold_shadows(root: HtmlElement) -> None:
    """Replace, in place, each declarative shadow root by its content, with the host's own content in its slots."""
    roots: dict[HtmlElement, HtmlElement] = {}
    for template in root.iter("template"):
        host = template.getparent()
        if host is not None and template.get("shadowrootmode"):
            roots.setdefault(host, template)  # a host has one
    for host, template in reversed(roots.items()):  # inner hosts first
        _assign(host, template)
        template.tag = "div"
        template.attrib.clear()


def _assign(host: HtmlElement, template: HtmlElement) -> None:
    """Move the content of a host into the slots of its shadow root; what has no slot stays after it."""
    slots: dict[str, HtmlElement] = {}
    for slot in template.iter("slot"):
        slots.setdefault(slot.get("name", ""), slot)
    named: dict[HtmlElement, list[HtmlElement]] = {}
    for child in [*host]:
        place = slots.get(child.get("slot", "")) if child is not template else None
        if place is not None:
            named.setdefault(place, []).append(child)
    default = slots.get("")
    if default is not None and ((host.text or "").strip() or (template.tail or "").strip()):
        named.setdefault(default, [])
    for slot, children in named.items():
        drop([*slot])
        slot.text = None
        if slot is default:
            slot.text, host.text = host.text, None
            slot.text, template.tail = (slot.text or "") + (template.tail or ""), None
        for child in children:
            slot.append(child)  # with the text after it
    for slot in [*template.iter("slot")]:
        slot.tag = "span" if all(child.tag in INLINE for child in slot) else "div"
        slot.attrib.clear()


INLINE = frozenset(["a", "abbr", "b", "br", "cite", "code", "em", "i", "img", "small", "span", "strong", "sub", "sup"])
"""Elements that make no block of the slot around them."""
