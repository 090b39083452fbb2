"""`scrapy shell` with the spider of an engine, which has no query there."""

from typing import Any, ClassVar

from scrapy.commands.shell import Command as ShellCommand


class Command(ShellCommand):
    """Fetches pages as an engine does, without a query of a batch."""

    default_settings: ClassVar[dict[str, Any]] = {**ShellCommand.default_settings, "ON_DEMAND": True}
