"""Unmodified clients of Node.js against a running service, with its address and a key alone.

They are installed for the tests, which are skipped where that is not possible.
"""

import json
import os
import shutil
import subprocess

import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client

NPM = shutil.which("npm")
PACKAGES = {
    "firecrawl-js": "@mendable/firecrawl-js@4",
    "firecrawl-mcp": "firecrawl-mcp@3",
    "inspector": "@modelcontextprotocol/inspector@2",
    "mcp-remote": "mcp-remote",
    "mcp-searxng": "mcp-searxng@2",
}
URL = "https://news.example.com/article"
CALLS = """\
const {{ Firecrawl }} = require("@mendable/firecrawl-js");
const app = new Firecrawl({{ apiUrl: "{url}/firecrawl", apiKey: "{key}" }});
(async () => {{
  const page = await app.scrape("{page}", {{ formats: ["markdown", "links"], timeout: 15000 }});
  const found = await app.search("coffee", {{ limit: 3, sources: ["web", "news"], timeout: 20000 }});
  const read = await app.search("coffee", {{ limit: 1, scrapeOptions: {{ formats: ["markdown"] }} }});
  const options = {{ options: {{ formats: ["markdown"] }}, pollInterval: 1 }};
  const batch = await app.batchScrape(["{page}/1", "{page}/2"], options);
  const refused = await app.scrape("{page}", {{ actions: [{{ type: "wait", milliseconds: 1 }}] }}).catch(String);
  const {{ remainingCredits }} = await app.getCreditUsage();
  console.log(JSON.stringify({{ page, found, read, batch, refused, remainingCredits }}));
}})();
"""

pytestmark = [pytest.mark.slow, pytest.mark.skipif(NPM is None, reason="npm is not installed")]


@pytest.fixture(scope="module")
def installed(made_once):
    """A folder with all packages."""
    return made_once("node", install)


def install(folder):
    (folder / "package.json").write_text("{}")
    command = [NPM, "install", "--ignore-scripts", "--no-audit", "--no-fund", *PACKAGES.values()]
    try:
        subprocess.run(command, cwd=folder, capture_output=True, timeout=300, check=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        pytest.skip("the packages of Node.js cannot be installed: their registry is out of reach")


@pytest.fixture
def node_environ(running):
    """The variables by which programs of Node.js trust the service."""
    return {**os.environ, "NODE_EXTRA_CA_CERTS": running.certificate}


def ran(*command, folder, node_environ):
    """The output of a program."""
    ended = subprocess.run(
        command,
        cwd=folder,
        env=node_environ,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def program(folder, package):
    """The file that a package runs."""
    root = folder / "node_modules" / package
    found = json.loads((root / "package.json").read_text())["bin"]
    return str(root / (found if isinstance(found, str) else next(iter(found.values()))))


async def answers(arguments, node_environ, calls):
    """The texts of the answers of a server that is a program, to calls of its tools."""
    from mcp import ClientSession

    parameters = StdioServerParameters(command="node", args=arguments, env=node_environ)
    async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
        await session.initialize()
        results = [await session.call_tool(name, given) for name, given in calls]
    assert [one.is_error for one in results] == [False] * len(calls), results
    return [one.content[0].text for one in results]


def test_firecrawls_client_of_javascript(running, installed, node_environ):
    """It scrapes, searches, reads what it finds, runs a batch, asks for credits, and is told what is not honoured."""
    (installed / "calls.cjs").write_text(CALLS.format(url=running.url, key=running.test_key, page=URL))
    made = json.loads(ran("node", "calls.cjs", folder=installed, node_environ=node_environ))
    assert made["page"]["markdown"]
    assert made["page"]["metadata"]["sourceURL"] == URL
    assert [len(made["found"][source]) for source in ("web", "news")] == [3, 3]
    assert made["read"]["web"][0]["markdown"]
    assert (made["batch"]["status"], len(made["batch"]["data"])) == ("completed", 2)
    assert "actions is not honoured here" in made["refused"]
    assert made["remainingCredits"] > 0


@pytest.mark.task
async def test_firecrawls_tools_for_models(running, installed, node_environ):
    """Its own server of tools asks this service."""
    given = {**node_environ, "FIRECRAWL_API_URL": f"{running.url}/firecrawl", "FIRECRAWL_API_KEY": running.test_key}
    scrape = {"url": URL, "formats": ["markdown"], "onlyMainContent": True, "maxAge": 172_800_000}
    search = {"query": "coffee", "limit": 2, "sources": [{"type": "web"}], "scrapeOptions": {"formats": ["markdown"]}}
    calls = [("firecrawl_scrape", scrape), ("firecrawl_search", search)]
    page, found = await answers([program(installed, "firecrawl-mcp")], given, calls)
    assert json.loads(page)["metadata"]["sourceURL"] == URL
    assert "https://" in found


@pytest.mark.task
async def test_a_server_of_tools_over_searxng(running, installed, node_environ):
    """With the key as the password of an account."""
    account = {"AUTH_USERNAME": "any", "AUTH_PASSWORD": running.test_key}
    given = {**node_environ, "SEARXNG_URL": f"{running.url}/searxng", **account}
    search = ("searxng_web_search", {"query": "coffee", "language": "en", "safesearch": 1})
    (found,) = await answers([program(installed, "mcp-searxng")], given, [search])
    assert "https://" in found


@pytest.mark.task
async def test_a_client_that_starts_programs(running, installed, node_environ):
    """By the program that leads such clients to servers elsewhere."""
    header = ["--header", "Authorization:${AUTH}"]
    arguments = [program(installed, "mcp-remote"), f"{running.url}/mcp", *header]
    given = {**node_environ, "AUTH": f"Bearer {running.test_key}", "MCP_REMOTE_CONFIG_DIR": str(installed)}
    (found,) = await answers(arguments, given, [("web_search", {"q": "coffee"})])
    assert found.startswith("10 of 10 results.")


def test_the_inspector_calls_a_tool(running, installed, node_environ):
    """As docs/mcp.md says."""
    given = ["--transport", "http", "--header", f"Authorization: Bearer {running.test_key}", "--method", "tools/call"]
    called = ["npx", "--no-install", "@modelcontextprotocol/inspector", "--cli", f"{running.url}/mcp", *given]
    output = ran(
        *called, "--tool-name", "web_search", "--tool-arg", "q=coffee", folder=installed, node_environ=node_environ
    )
    assert "10 of 10 results." in output
