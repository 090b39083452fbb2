"""What a release has beside the package: a version, licences, the site of the docs, a bill of materials."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

from scripts.licences import licence, packages
from scripts.site import llms

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
COPYLEFT = re.compile(r"(?<!L)GPL|(?<!Lesser )General Public", re.IGNORECASE)
PROGRAMS = Path(sys.executable).parent


@pytest.fixture(scope="module")
def site(starts, tmp_path_factory):
    """The folder of the site, as `make site` builds it."""
    folder = tmp_path_factory.mktemp("site")
    command = [PROGRAMS / "mkdocs", "build", "--site-dir", folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_changelog_has_the_version():
    """The newest version of the changelog is that of the package, which stands in pyproject.toml alone."""
    newest = re.findall(r"^## \[(\d[\d.]*)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)[0]
    assert newest == PROJECT["version"] == version("webdata")


def test_no_library_has_a_licence_that_binds_the_project():
    """What `webdata[all]` installs has known licences, and none of them is the GPL or the AGPL alone."""
    found = {package.name: licence(package) for package in packages("webdata[all]")}
    assert len(found) > len(PROJECT["dependencies"])
    assert {name: text for name, text in found.items() if text == "unknown" or is_copyleft(text)} == {}


def is_copyleft(text):
    """Whether each licence of which one may be chosen is the GPL or the AGPL."""
    return all(COPYLEFT.search(one) for one in text.split(" OR "))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AGPL-3.0-only", True),
        ("GPL-2.0-or-later", True),
        ("GNU General Public License v3 (GPLv3)", True),
        ("GPL-2.0-only OR MIT", False),
        ("LGPL-3.0-only", False),
        ("GNU Library or Lesser General Public License (LGPL)", False),
    ],
)
def test_licences_are_recognized(text, expected):
    """The GPL and the AGPL are recognized by their names, the LGPL and a choice of others are no such licence."""
    assert is_copyleft(text) is expected


def test_every_page_is_in_the_list_for_models():
    """The `llms.txt` of the site leads to each page of the docs, with what it is about."""
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"README"}
    assert set(re.findall(r"^- \[[\w-]+\]\(([\w-]+)\.html\): \w", llms(), re.MULTILINE)) == pages


@pytest.mark.slow
def test_the_site_has_every_page_and_loads_nothing(site):
    """Each page of the docs is a page of the site, whose links were all found, and which loads nothing from others."""
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"README"}
    assert {"index", *pages} <= {path.stem for path in site.glob("*.html")}
    assert (site / "project" / "CHANGELOG.html").is_file()
    sources = re.findall(r"""<(?:script|img|iframe)[^>]* src=["']?([^"'> ]+)""", (site / "index.html").read_text())
    assert [one for one in sources if "://" in one] == []


@pytest.mark.slow
@pytest.mark.usefixtures("starts")
def test_a_link_that_leads_nowhere_fails_the_site(tmp_path):
    """The site is not built of docs with a link to a page that is not there."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "README.md").write_text("# Install\n\n[gone](gone.md)\n", encoding="utf-8")
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").replace("scripts/site.py", f"{ROOT}/scripts/site.py")
    (tmp_path / "mkdocs.yml").write_text(settings, encoding="utf-8")
    command = [PROGRAMS / "mkdocs", "build"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert "gone.md" in done.stderr
