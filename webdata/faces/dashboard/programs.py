"""What programs that know another service's API are told, so that they use this one: an address and a key."""

from collections.abc import Callable, Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class ProgramLines:
    """The lines for one program."""

    name: str
    text: str

    @property
    def slug(self) -> str:
        """Its name as the id of an element."""
        return self.name.lower().replace(" ", "-").replace("'", "")


def program_lines(base: str, secret: str, prefixes: Collection[str]) -> list[ProgramLines]:
    """The lines for every program whose API is spoken under one of these prefixes of the service."""
    known = [(name, lines) for name, prefix, lines in PROGRAMS if prefix in prefixes]
    return [ProgramLines(name, lines(base, secret)) for name, lines in known]


def _claude_code(base: str, secret: str) -> str:
    return f'claude mcp add --transport http webdata {base}/mcp --header "Authorization: Bearer {secret}"'


def _cursor(base: str, secret: str) -> str:
    server = f'{{"url": "{base}/mcp", "headers": {{"Authorization": "Bearer {secret}"}}}}'
    return f'{{"mcpServers": {{"webdata": {server}}}}}'


def _open_webui(base: str, secret: str) -> str:
    return (
        f"WEB_SEARCH_ENGINE=external\nEXTERNAL_WEB_SEARCH_URL={base}/openwebui/search\n"
        f"EXTERNAL_WEB_SEARCH_API_KEY={secret}\nWEB_LOADER_ENGINE=external\n"
        f"EXTERNAL_WEB_LOADER_URL={base}/openwebui/load\nEXTERNAL_WEB_LOADER_API_KEY={secret}"
    )


def _litellm(base: str, secret: str) -> str:
    return (
        "search_tools:\n  - search_tool_name: webdata\n    litellm_params:\n"
        f"      search_provider: searxng\n      api_base: {base}/searxng\n      api_key: {secret}"
    )


def _n8n(base: str, secret: str) -> str:
    return f"Firecrawl API\n  Base URL: {base}/firecrawl/v2\n  API Key: {secret}"


def _firecrawl(base: str, secret: str) -> str:
    return f'from firecrawl import Firecrawl\n\napp = Firecrawl(api_url="{base}/firecrawl", api_key="{secret}")'


PROGRAMS: tuple[tuple[str, str, Callable[[str, str], str]], ...] = (
    ("Claude Code", "mcp", _claude_code),
    ("Cursor", "mcp", _cursor),
    ("Open WebUI", "openwebui", _open_webui),
    ("LiteLLM", "searxng", _litellm),
    ("n8n", "firecrawl", _n8n),
    ("Firecrawl's SDK", "firecrawl", _firecrawl),
)
"""Their names, the prefixes of what they speak, and their lines from an address and a key."""
