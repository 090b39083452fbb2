"""What the site of the docs has beside their pages: the files of the project that these lead to, and `llms.txt`.

Hooks of mkdocs (https://www.mkdocs.org/user-guide/configuration/#hooks).
"""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files, InclusionLevel

from webdata.faces.api.machine_pages import HEAD

ROOT = Path(__file__).parents[1]
OUTSIDE = re.compile(r"\]\(\.\./([^)#\s]+)")
PAGE = re.compile(r"\[([\w-]+)\.md\]\(\1\.md\)")
SECTION = re.compile(r"^([A-Z][\w ]+):$", re.MULTILINE)
FOLDER = "project"
"""The folder of the site with the project's own files."""


def on_files(files: Files, config: Any) -> Files:
    """All files of the site: those of docs/, and those outside of it that its pages lead to."""
    pages = (path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md"))
    for path in sorted({path for page in pages for path in OUTSIDE.findall(page)}):
        outside = {"abs_src_path": str(ROOT / path), "inclusion": InclusionLevel.NOT_IN_NAV}
        files.append(File.generated(config, f"{FOLDER}/{path}", **outside))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The text of a page, whose links to files outside of docs/ lead to those of the site."""
    return OUTSIDE.sub(rf"]({FOLDER}/\1", markdown)


def on_post_build(config: Any) -> None:
    """Write `llms.txt` into the site."""
    Path(config["site_dir"], "llms.txt").write_text(llms(), encoding="utf-8")


def llms() -> str:
    """The pages of the site for language models (https://llmstxt.org): the list of docs/README.md."""
    listed = (ROOT / "docs" / "README.md").read_text(encoding="utf-8").removeprefix("# Documentation\n")
    return HEAD + SECTION.sub(r"## \1", PAGE.sub(r"[\1](\1.html)", listed))
