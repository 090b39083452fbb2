"""Programs of other projects, each in an environment of its own with its newest release, over the same files."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
LONGEST_SECONDS = 1200


class Peer(NamedTuple):
    """A function of one of the programs beside this file, and what it needs: packages as pip names them."""

    name: str
    program: str
    packages: tuple[str, ...]


class PeerAnswer(NamedTuple):
    """What a peer makes of a file: a text, or links of results; None if it fails. Milliseconds are processor time."""

    file: Path | str
    """Or an address."""
    found: Any
    ms: float


CONVERTERS = [
    Peer("trafilatura", "converters.py", ("trafilatura",)),
    Peer("readability", "converters.py", ("readability-lxml", "lxml[html-clean]")),
    Peer("resiliparse", "converters.py", ("resiliparse",)),
    Peer("markitdown", "converters.py", ("markitdown",)),
    Peer("crawl4ai_raw", "converters.py", ("crawl4ai",)),
    Peer("crawl4ai_fit", "converters.py", ("crawl4ai",)),
]
"""A page in, its text or Markdown out."""
MARKITDOWN_PDF = Peer("markitdown_pdf", "converters.py", ("markitdown[pdf]",))
"""A PDF in, its Markdown out."""
WEB_SEARCHER = Peer("websearcher", "results.py", ("WebSearcher",))
"""A result page of Google in, the links of its results out."""

CRAWL4AI_BROWSER = Peer("crawl4ai_browser", "browsing.py", ("crawl4ai",))
"""An address in, whether its browser reads the page out; milliseconds are by the clock, since all were asked for."""


def can_run() -> bool:
    """Whether there is uv, which installs the peers; without it they are left out."""
    return shutil.which("uv", path=_path()) is not None


def answers(peer: Peer, files: Sequence[Path | str]) -> list[PeerAnswer]:
    """What a peer makes of each file, and its version is printed; [] for one that cannot be installed or run."""
    name = peer.packages[0].partition("[")[0]
    packages = [option for package in peer.packages for option in ("--with", package)]
    python = ["uv", "run", "--quiet", "--no-project", "--isolated", "--python", sys.executable, *packages, "python"]
    with tempfile.TemporaryDirectory() as folder:
        try:
            ran = subprocess.run(
                [*python, "-W", "ignore", HERE / peer.program, peer.name, name],
                input="\n".join(map(str, files)),
                env={**os.environ, "PATH": _path(), "CRAWL4_AI_BASE_DIRECTORY": folder},
                capture_output=True,
                text=True,
                timeout=LONGEST_SECONDS,
                check=True,
            )
        except subprocess.SubprocessError as error:
            last = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[-1]
            print(f"  {peer.name} is left out: {last}")
            return []
    version, *rows = (json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{"))
    print(f"  {name} {version['version']}")
    return [PeerAnswer(file, row["found"], row["ms"]) for file, row in zip(files, rows, strict=True)]


def _path() -> str:
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
