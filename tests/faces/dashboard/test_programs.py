"""The lines for programs that use a key."""

import json

from webdata.faces.dashboard.programs import program_lines

BASE = "https://data.example:8443"


def lines(*prefixes):
    return {one.name: one.text for one in program_lines(BASE, "KEY", prefixes)}


def test_programs_are_those_whose_api_is_spoken():
    """A dialect that is switched off has no lines, and no address is missing in the others."""
    assert list(lines("searxng")) == ["LiteLLM"]
    assert list(lines("firecrawl", "openwebui")) == ["Open WebUI", "n8n", "Firecrawl's SDK"]
    assert lines() == {}
    for text in lines("mcp", "firecrawl", "openwebui", "searxng").values():
        assert "data.example:8443/" in text
        assert "KEY" in text


def test_lines_are_valid_in_their_language():
    """Cursor's are JSON, those of the SDK are Python, and LiteLLM's have an address and a key."""
    all_lines = lines("mcp", "firecrawl", "searxng")
    server = json.loads(all_lines["Cursor"])["mcpServers"]["webdata"]
    assert (server["url"], server["headers"]["Authorization"]) == (f"{BASE}/mcp", "Bearer KEY")
    compile(all_lines["Firecrawl's SDK"], "sdk", "exec")
    parameters = [line.strip() for line in all_lines["LiteLLM"].splitlines()[2:]]
    expected = ["litellm_params:", "search_provider: searxng", f"api_base: {BASE}/searxng", "api_key: KEY"]
    assert parameters == expected


def test_each_has_an_id_of_its_own():
    """The buttons that copy find their lines by it."""
    slugs = [one.slug for one in program_lines(BASE, "KEY", ("mcp", "firecrawl", "openwebui", "searxng"))]
    assert slugs == ["claude-code", "cursor", "open-webui", "litellm", "n8n", "firecrawls-sdk"]
