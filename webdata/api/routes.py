"""From a resource to the paths that it answers on."""

from webdata.resources import SEGMENT, Resource

PACKED_FORMS = ("", "/", "/<path:segment>")
"""What follows the path of a packed resource (contract.md 1)."""


def routes(resource: Resource) -> list[str]:
    """Werkzeug's rules for a resource. What they match is still percent-encoded, and a segment may hold slashes.

    A path that ends in a named segment is answered without it too: that it is missing is told as any other mistake.
    """
    if resource.packed:
        return [resource.path + form for form in PACKED_FORMS]
    rule = SEGMENT.sub(r"<path:\1>", resource.path)
    before, _, last = rule.rpartition("/")
    return [rule, before, f"{before}/"] if last.startswith("<") else [rule, f"{rule}/"]
