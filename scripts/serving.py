"""A service of its own for a script: `webdata serve` in a folder, with the sandbox as its internet."""

import itertools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

WEBDATA = Path(sys.executable).with_name("webdata")


@contextmanager
def served(folder: Path, **settings: str) -> Iterator[str]:
    """The address of a service that keeps all that it stores in a folder."""
    environ = {
        **{name: value for name, value in os.environ.items() if not name.startswith("WEBDATA_")},
        "WEBDATA_DATABASE": f"sqlite:///{folder}/webdata.sqlite3",
        "WEBDATA_SANDBOX": "always",
        "WEBDATA_TLS_FOLDER": str(folder),
        "WEBDATA_HTTP_PORT": "off",
        "PYTHONUNBUFFERED": "1",
        **settings,
    }
    command, log = [WEBDATA, "serve", "--port", "0"], subprocess.DEVNULL
    with subprocess.Popen(command, cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=log, text=True) as process:
        assert process.stdout
        try:
            lines = list(itertools.takewhile(lambda line: not line.startswith("try: "), process.stdout))
            found = re.search(r"answers on (\S+)", "".join(lines))
            assert found, "the service does not start: webdata serve says why"
            yield found[1]
        finally:
            process.terminate()
