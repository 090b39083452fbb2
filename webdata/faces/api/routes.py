"""The routes of a resource."""

from webdata.resources import SEGMENT, Resource

PACKED_FORMS = ("", "/", "/<path:segment>")
"""The suffixes of the path of a packed resource."""


def routes(resource: Resource) -> list[str]:
    """Werkzeug's rules for a resource. They match percent-encoded paths, and a segment may contain slashes.

    A path that ends in a named segment is also routed without it, so that the error names the missing parameter.
    """
    if resource.packed:
        return [resource.path + form for form in PACKED_FORMS]
    rule = SEGMENT.sub(r"<path:\1>", resource.path)
    before, _, last = rule.rpartition("/")
    return [rule, before, f"{before}/"] if last.startswith("<") else [rule, f"{rule}/"]
