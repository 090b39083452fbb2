"""The instructions of `deploy/Dockerfile`, as far as tests need them."""

import re
import shlex
from pathlib import Path

LINES = re.sub(
    r"\\\n",
    " ",
    re.sub(
        r"^#.*\n", "", Path(__file__).parents[1].joinpath("deploy", "Dockerfile").read_text("utf-8"), flags=re.MULTILINE
    ),
).splitlines()


def instructions(name):
    """What stands behind an instruction's name, wherever it is used."""
    return [line.removeprefix(f"{name} ").strip() for line in LINES if line.startswith(f"{name} ")]


def variables():
    """The settings that the image has."""
    pairs = [word.partition("=") for line in instructions("ENV") for word in shlex.split(line)]
    return {name: value for name, _, value in pairs if name.startswith("WEBDATA_")}
