"""The names of the commands of resources, without an import of the resources."""

from webdata.resources import resource_titles

SHORT_NAMES = {"url_request": "fetch", "web_search": "search"}
"""Commands that do not have the name of their resource."""


def command_titles() -> dict[str, str]:
    """What each command of a resource is for, by its name."""
    return dict(sorted((SHORT_NAMES.get(name, name), title) for name, title in resource_titles().items()))


def resource_of(command: str) -> str:
    """The name of the resource of a command."""
    return next((name for name, short in SHORT_NAMES.items() if short == command), command)
