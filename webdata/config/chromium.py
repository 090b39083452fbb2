"""The browser of this machine."""

import shutil
from pathlib import Path


def find_chromium() -> str | None:
    """The path of a Chromium or Chrome on the PATH, else of Playwright's; None without any."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    own = sorted(Path.home().glob(".cache/ms-playwright/chromium-*/chrome-*/chrome"))
    return next((path for path in [*map(shutil.which, names), *map(str, own)] if path), None)
