"""The files of `deploy/` are valid, and name what exists."""

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import click
import pytest
import yaml

from tests.dockerfile import instructions, variables
from webdata.config.config import DIALECTS, Config
from webdata.main import main

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE_FILES = sorted(path.name for path in DEPLOY.glob("compose*.yaml"))
UNITS = sorted(DEPLOY.glob("*.service"))
PAGE = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
COMPOSE_COMMANDS = re.findall(r"^\$ .*?docker compose --file deploy/(\S+) (.*?)\)?$", PAGE, re.MULTILINE)
OF_COMPOSE = re.compile(r"\$\{(\w+)(?::[-?]([^}]*))?\}")
GIVEN = {"POSTGRES_PASSWORD": "sesame", "WEBDATA_PUBLIC_URL": "https://data.example.com", "WEBDATA_KEY": "wd_live_1"}
"""What an operator sets before these files are used."""
MOST_EXPOSED = 4
MOST_CHART_LINES = 250


@cache
def composed(file):
    """A compose file with those that it includes."""
    whole = yaml.safe_load((DEPLOY / file).read_text(encoding="utf-8"))
    for one in whole.get("include", ()):
        whole["services"] = composed(one)["services"] | whole["services"]
        assert whole["name"] == composed(one)["name"], "the volumes of another project would be empty"
    return whole


def program(name):
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"there is no {name} here")
    return found


def commands():
    return main.list_commands(click.Context(main))


@pytest.mark.parametrize("file", COMPOSE_FILES)
def test_compose_has_the_form_of_its_specification(file, starts):
    """A compose file is valid by the schema of the Compose Specification."""
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    subprocess.run([*check, DEPLOY / file], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize("file", COMPOSE_FILES)
def test_compose_refers_to_what_it_has(file):
    """Each service that another waits for, each volume and each file of a compose file exists."""
    whole = composed(file)
    volumes = {name for one in [file, *whole.get("include", ())] for name in composed(one)["volumes"]}
    for service in whole["services"].values():
        for needed, how in service.get("depends_on", {}).items():
            assert needed in whole["services"]
            assert how["condition"] in ("service_healthy", "service_completed_successfully")
        for volume in service.get("volumes", ()):
            source = OF_COMPOSE.sub(lambda found: found[2], volume).partition(":")[0]
            assert source in volumes or (DEPLOY / source).is_file()


def test_the_cluster_has_every_part():
    """Two services, three workers, PostgreSQL, Redis, and nginx with a certificate that is made before it starts."""
    services = composed("compose.cluster.yaml")["services"]
    assert set(services) == {"serve1", "serve2", "worker", "certificates", "nginx", "postgresql", "redis"}
    assert services["worker"]["deploy"]["replicas"] == 3
    assert services["nginx"]["depends_on"]["certificates"] == {"condition": "service_completed_successfully"}


@pytest.mark.parametrize("file", COMPOSE_FILES)
def test_containers_have_valid_settings_and_nothing_more(file):
    """The service accepts the image's settings with those of compose; it is read-only and has no capabilities."""
    ours = {name: one for name, one in composed(file)["services"].items() if one["image"] == "webdata"}
    assert ours
    for one in ours.values():
        assert one.get("command", "serve").split()[0] in commands()
        assert (one["read_only"], one["cap_drop"], one["tmpfs"]) == (True, ["ALL"], ["/tmp"])
        environ = one.get("environment", {}).items()
        config = Config.from_environ(
            variables() | {name: OF_COMPOSE.sub(lambda found: GIVEN[found[1]], value) for name, value in environ}
        )
        in_cluster = file == "compose.cluster.yaml" and one is not ours.get("certificates")
        assert (config.database == "postgresql://webdata:sesame@postgresql/webdata") == in_cluster


def test_open_webui_asks_the_service():
    """The URLs that Open WebUI gets lead to the dialect of Open WebUI, at the name and port of the service."""
    services = composed("compose.open-webui.yaml")["services"]
    urls = [value for name, value in services["open-webui"]["environment"].items() if name.endswith("_URL")]
    assert {url.rsplit("/", 1)[0] for url in urls} == {f"http://webdata:8080/{DIALECTS['openwebui'][0]}"}


def test_the_image_is_not_root_and_answers_plain_http():
    """The image runs as a numbered user, has its files in the volume, and answers plain HTTP on the port it exposes."""
    assert instructions("USER") == ["10001:10001"]
    assert instructions("VOLUME") == ["/data"]
    config = Config.from_environ(variables())
    assert (config.host, config.tls, [str(config.port)]) == ("0.0.0.0", False, instructions("EXPOSE"))
    assert {config.first_keys_file.parent, config.samples.parent, config.tls_folder.parent} == {Path("/data")}


def test_the_image_has_extras_that_exist():
    """The extras that the image installs are the package's."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    [named] = [one.partition("=")[2].split(",") for one in instructions("ARG") if one.startswith("EXTRAS=")]
    assert set(named) <= set(extras)


def test_nginx_knows_the_services_of_compose():
    """The servers of nginx.conf are the services of the cluster, with the port that they listen on."""
    conf = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    services = [name for name in composed("compose.cluster.yaml")["services"] if name.startswith("serve")]
    assert re.findall(r"server (\w+:\d+)", conf) == [f"{name}:8080" for name in services]


@pytest.mark.parametrize(("file", "line"), COMPOSE_COMMANDS)
def test_compose_commands_of_the_docs_name_what_exists(file, line):
    """A command of docs/deployment.md names a compose file, a service of it, and a command of webdata."""
    verb, *words = [word for word in shlex.split(line) if word not in ("--rm", "-T")]
    services = composed(file)["services"]
    if verb in ("build", "up"):
        assert set(words) <= {"--detach", "--pull", "--wait"}
    else:
        assert (verb in ("exec", "run"), words[0] in services) == (True, True)
    if "webdata" in words[1:]:
        group, name, *options = words[words.index("webdata", 1) + 1 :]
        command = main.get_command(click.Context(main), group).get_command(click.Context(main), name)
        command.make_parser(click.Context(command)).parse_args(options)


def test_commands_of_the_docs_name_files_and_values_that_exist():
    """The files of `deploy/` that docs/deployment.md names exist, and so do the values of the chart that it sets."""
    files = {file for file in re.findall(r"deploy/([\w@./-]+)", PAGE) if file not in (".env", "webdata.env")}
    assert [file for file in sorted(files) if not (DEPLOY / file.rstrip(".")).exists()] == []
    values = yaml.safe_load((DEPLOY / "helm" / "values.yaml").read_text(encoding="utf-8"))
    for path in re.findall(r"--set ([\w.]+)=", PAGE):
        first, _, second = path.partition(".")
        assert second in values[first] if second else first in values


def test_the_chart_is_small():
    """All files of the chart together have at most 250 lines."""
    lines = [path.read_text(encoding="utf-8").splitlines() for path in DEPLOY.glob("helm/**/*") if path.is_file()]
    assert sum(map(len, lines)) <= MOST_CHART_LINES


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_units_are_valid(unit, tmp_path, starts):
    """systemd accepts a unit, whose command is one of webdata's."""
    text = unit.read_text(encoding="utf-8")
    [path, command] = re.search(r"^ExecStart=(.*)$", text, re.MULTILINE)[1].split()
    assert command in commands()
    installed = tmp_path / unit.name.replace("@", "@1")
    installed.write_text(text.replace(path, str(Path(sys.executable).with_name("webdata"))), encoding="utf-8")
    done = subprocess.run(
        [program("systemd-analyze"), "verify", "--man=no", "--recursive-errors=no", installed],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_units_take_away_what_is_not_needed(unit, starts):
    """systemd's own analysis gives a unit an exposure of 4 at most, of 10, and the one that the docs tell."""
    analysis = [program("systemd-analyze"), "security", "--offline=true", f"--threshold={MOST_EXPOSED * 10}"]
    done = subprocess.run([*analysis, unit], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    exposure = re.search(r"exposure level for .*: ([\d.]+)", done.stdout)[1]
    assert f"an exposure of {exposure} " in PAGE
