"""The wheel and the sources, installed in empty environments."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.conftest import free_port
from tests.e2e.conftest import Database, unlimit
from tests.e2e.test_dashboard_samples import engines, shown
from webdata.faces.dashboard.playground.samples import KEY_VARIABLE
from webdata.resources import example

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("starts")]
ROOT = Path(__file__).parents[2]
KEPT = ("webdata", "schemas", "fixtures", "tests", "docs", "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE")
MOST_BYTES = 220_000_000
SECONDS = 300
"""Of a step that loads packages over the network."""
PYTHON = "import runpy, sys\nfor file in sys.argv[1:]: runpy.run_path(file); print(end='\\0', flush=True)"
NODE = "for (const file of process.argv.slice(1)) { await import(file); process.stdout.write('\\0'); }"
RUN_ALL = {
    "curl": ("bash", "-c", r'for file; do . "$file" || exit; printf "\0"; done', "bash"),
    "Python requests": (sys.executable, "-c", PYTHON),
    "Python httpx": (sys.executable, "-c", PYTHON),
    "JavaScript fetch": ("node", "--input-type=module", "-e", NODE),
}
"""What runs the files of a language one after another, and ends the output of each with a NUL."""


@pytest.fixture(scope="module")
def dist(made_once):
    """The folder with a wheel and the sources, as `make wheel` writes them."""
    return made_once("dist", build)


def build(folder):
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=SECONDS)


@pytest.fixture(scope="module")
def wheel(dist):
    [found] = dist.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def programs(made_once, wheel):
    """The folder of programs of an environment in which the wheel alone is installed, without an extra."""
    return made_once("environment", partial(install, wheel)) / "bin"


def install(wheel, folder):
    venv.create(folder, symlinks=True)
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin" / "python"]
    command = [*pip, "install", "--quiet", "--no-compile", str(wheel)]
    subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)


@pytest.fixture
def run(programs, tmp_path):
    """Runs a program of the environment in an empty folder; returns its status, its output and its errors."""

    def run_in(*command, **settings):
        environ = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(tmp_path), **settings}
        done = subprocess.run(
            command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60, check=False
        )
        return done.returncode, done.stdout, done.stderr

    return run_in


@pytest.fixture(scope="module")
def service(programs, tmp_path_factory):
    """The address and the test key of a service that the wheel runs in an empty folder, without a rate limit."""
    port, folder = free_port(), tmp_path_factory.mktemp("empty")
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "WEBDATA_TLS": "off", "WEBDATA_CHROMIUM": "/bin/true"}
    command = [programs / "webdata", "serve", "--port", str(port)]
    with subprocess.Popen(command, cwd=folder, env=environ, stderr=subprocess.DEVNULL) as process:
        keys = folder / ".webdata" / "first-keys.txt"
        until = monotonic() + 30
        while not keys.exists() and process.poll() is None and monotonic() < until:
            sleep(0.05)
        unlimit(Database("sqlite:", keys.parent))
        yield Server(f"http://127.0.0.1:{port}", re.search(r"wd_test_\w+", keys.read_text())[0])
        process.terminate()


class Server(NamedTuple):
    """A service, and a key of it."""

    url: str
    key: str

    def answer(self, path, body=None):
        """The status and the JSON of an answer."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"X-Api-Key": self.key, "Content-Type": "application/json", "Accept": "application/json"}
        try:
            with urlopen(Request(self.url + path, data, headers), timeout=30) as response:
                return response.status, json.load(response)
        except HTTPError as error:
            return error.code, json.load(error)


def test_a_wheel_has_all_that_is_read(wheel):
    """Schemas, templates, styles and the pages of the sandbox are in the wheel, and no test is."""
    names = set(zipfile.ZipFile(wheel).namelist())
    files = {path.relative_to(ROOT) for path in (ROOT / "webdata").rglob("*.*") if "__pycache__" not in path.parts}
    assert {str(path) for path in files if (ROOT / path).is_file()} <= names
    assert {f"webdata/schemas/{path.name}" for path in (ROOT / "schemas").iterdir()} <= names
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"webdata"}


def test_the_sources_have_all_that_tests_read(dist):
    """The archive of sources has the package and what its tests need, so that others can build and test it."""
    [archive] = dist.glob("*.tar.gz")
    with tarfile.open(archive) as sources:
        folders = {name.split("/")[1] for name in sources.getnames() if "/" in name}
    assert set(KEPT) <= folders
    assert not folders & {".venv", ".git", ".webdata"}


def test_a_plain_install_is_light(programs):
    """The libraries of a plain install, as they are in their wheels, are at most 220 MB, without bytecode."""
    [packages] = programs.parent.glob("lib/python*/site-packages")
    own = [path for path in packages.iterdir() if path.name.partition("-")[0] not in ("pip", "setuptools")]
    files = {file for path in own for file in (path.rglob("*") if path.is_dir() else [path])}
    kept = [file for file in files if file.is_file() and file.suffix != ".pyc"]  # tests before this one run them
    assert sum(file.stat().st_size for file in kept) < MOST_BYTES


def test_the_help_is_there(run):
    """`webdata --help` shows every command."""
    status, output, _ = run("webdata", "--help")
    assert status == 0
    assert {"serve", "fetch", "batches"} <= set(output.split())


def test_the_service_answers(service):
    """The service answers a call of a test key; what needs a browser or another extra is refused with its name."""
    status, record = service.answer("/v1/search?q=coffee&num=3")
    assert (status, len(record["results"])) == (200, 3)
    page = {"url": "http://example.com/", "response_type": "markdown"}
    status, refused = service.answer("/v1/request", {**page, "render": "always"})
    assert (status, "this service has no browser" in refused["error"]["message"]) == (422, True)
    status, refused = service.answer("/v1/request", {**page, "url": "http://example.com/file/paper.pdf"})
    assert (status, "pip install 'webdata[pdf]'" in refused["error"]["message"]) == (422, True)
    status, refused = service.answer("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert (status, "pip install 'webdata[mcp]'" in refused["error"]["message"]) == (501, True)
    status, health = service.answer("/health/ready")
    assert (status, health["status"]) == (200, "degraded")
    assert "pip install 'webdata[browser]'" in health["warnings"][0]


def test_a_batch_runs_in_an_empty_folder(run, tmp_path):
    """`scrapy crawl` finds the engines without a project or a variable, and writes records."""
    arguments = ("-a", "q=coffee", "-O", "out.jsonl")
    status, _, log = run("scrapy", "crawl", "google_web", *arguments, WEBDATA_SANDBOX="always")
    assert status == 0, log
    assert json.loads((tmp_path / "out.jsonl").read_text())["query"] == "coffee"
    assert run("scrapy", "crawl", "google-web", *arguments)[0] == 2


def test_another_project_keeps_its_own_crawl(run, tmp_path):
    """In a folder of another Scrapy project `scrapy crawl` knows the spiders of that project alone."""
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = other\n")
    (tmp_path / "other.py").write_text("")
    status, _, log = run("scrapy", "crawl", "google_web", PYTHONPATH=str(tmp_path))
    assert (status, "Spider not found: google_web" in log) == (1, True)


@pytest.mark.parametrize("language", RUN_ALL)
def test_every_sample_of_the_playground_runs(language, service, tmp_path):
    """The example of each endpoint, run as it is shown in an empty folder, prints an answer."""
    if not shutil.which(RUN_ALL[language][0]):
        pytest.skip(f"there is no {RUN_ALL[language][0]}")
    files = []
    for number, resource in enumerate(engines().resources):
        values = {name: str(value) for name, value in example(resource).items()}
        files.append(tmp_path / f"{number}.mjs")  # the ending that Node.js needs
        files[-1].write_text(shown(language, resource, values, service.url))
    environ = {**os.environ, KEY_VARIABLE: service.key}
    command = [*RUN_ALL[language], *map(str, files)]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=120, check=False)
    answers = done.stdout.split("\0")
    assert done.returncode == 0, f"{files[len(answers) - 1].read_text()}\n{done.stderr[-2000:]}"
    assert [bool(answer.strip()) for answer in answers] == [True] * len(files) + [False]


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("postgresql", {"WEBDATA_DATABASE": "postgresql://a:b@127.0.0.1/c"}),
        ("redis", {"WEBDATA_REDIS": "redis://127.0.0.1:6379/0"}),
        ("s3", {"WEBDATA_BATCH_STORE": "s3://bucket"}),
    ],
)
def test_a_setting_without_its_extra_ends_the_start(run, name, settings):
    """A setting that needs a missing extra ends the start in one line, with the command that installs it."""
    status, _, errors = run("webdata", "serve", "--port", "0", WEBDATA_TLS="off", **settings)
    assert (status, "Traceback" in errors) == (2, False)
    assert f"the extra {name}: pip install 'webdata[{name}]'" in errors


@pytest.mark.parametrize(
    ("program", "command"), [("uv", ("uv", "tool", "install")), ("pipx", ("pipx", "install"))], ids=["uv", "pipx"]
)
def test_it_is_installed_as_a_tool(program, command, wheel, tmp_path):
    """`uv tool install` and `pipx install` of the wheel put `webdata` where they put programs."""
    if not (found := shutil.which(program, path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")):
        pytest.skip(f"{program} is not installed")
    folders = {name: str(tmp_path / "bin") for name in ("UV_TOOL_BIN_DIR", "PIPX_BIN_DIR")}
    environ = {**os.environ, **folders, "UV_TOOL_DIR": str(tmp_path / "tools"), "PIPX_HOME": str(tmp_path / "tools")}
    subprocess.run([found, *command[1:], str(wheel)], env=environ, check=True, capture_output=True, timeout=SECONDS)
    done = subprocess.run([tmp_path / "bin" / "webdata", "--help"], capture_output=True, text=True, check=True)
    assert "serve" in done.stdout
