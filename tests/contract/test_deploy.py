"""The files of `deploy/` are valid, and name what exists."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml

from webdata.config.config import Config
from webdata.main import main

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
SERVICES = COMPOSE["services"]
OF_WEBDATA = {name: one for name, one in SERVICES.items() if one["image"] == "webdata"}
UNITS = sorted(DEPLOY.glob("*.service"))


def program(name):
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"there is no {name} here")
    return found


def test_compose_has_the_form_of_its_specification(starts):
    """compose.yaml is valid by the schema of the Compose Specification."""
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    subprocess.run([*check, DEPLOY / "compose.yaml"], check=True, stdout=subprocess.DEVNULL)


def test_compose_has_every_part():
    """Two services, three workers, PostgreSQL, Redis and nginx, which wait for the health of what they need."""
    assert set(SERVICES) == {"serve1", "serve2", "worker", "nginx", "postgresql", "redis"}
    assert SERVICES["worker"]["deploy"]["replicas"] == 3
    assert {one["command"] for one in OF_WEBDATA.values()} <= set(main.list_commands(click.Context(main)))
    for one in SERVICES.values():
        for needed, how in one.get("depends_on", {}).items():
            assert how == {"condition": "service_healthy"}
            assert "healthcheck" in SERVICES[needed]


def test_the_settings_of_compose_are_valid():
    """The service accepts the settings of its containers."""
    values = {"POSTGRES_PASSWORD": "sesame", "WEBDATA_PUBLIC_URL": "https://data.example.com"}
    for one in OF_WEBDATA.values():
        environ = {
            name: re.sub(r"\$\{(\w+)[^}]*\}", lambda found: values[found[1]], value)
            for name, value in one["environment"].items()
        }
        config = Config.from_environ(environ)
        assert config.database == "postgresql://webdata:sesame@postgresql/webdata"


def test_nginx_knows_the_services_of_compose():
    """The servers of nginx.conf are the services of compose.yaml, with the port that they listen on."""
    conf = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    assert re.findall(r"server (\w+:\d+)", conf) == [f"{name}:8080" for name in SERVICES if name.startswith("serve")]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_units_are_valid(unit, tmp_path, starts):
    """systemd accepts a unit, whose command is one of webdata's."""
    text = unit.read_text(encoding="utf-8")
    [path, command] = re.search(r"^ExecStart=(.*)$", text, re.MULTILINE)[1].split()
    assert command in main.list_commands(click.Context(main))
    installed = tmp_path / unit.name.replace("@", "@1")
    installed.write_text(text.replace(path, str(Path(sys.executable).with_name("webdata"))), encoding="utf-8")
    done = subprocess.run(
        [program("systemd-analyze"), "verify", "--man=no", "--recursive-errors=no", installed],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
