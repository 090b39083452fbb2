"""`scrapy crawl` in a folder that is no Scrapy project."""

import argparse
import os
import sys

import pytest
from scrapy.utils.project import ENVVAR

from webdata.crawling.crawl_anywhere import CrawlAnywhere


def test_the_command_begins_again_with_the_settings(monkeypatch, tmp_path, capsys):
    """Scrapy's command line runs once more, with the same arguments and the settings of webdata."""
    monkeypatch.setenv(ENVVAR, "")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["scrapy", "--help"])
    with pytest.raises(SystemExit) as ended:
        CrawlAnywhere().process_options(["google_web"], argparse.Namespace())
    assert (ended.value.code, os.environ[ENVVAR]) == (0, "webdata.settings")
    assert "scrapy crawl [options] <spider>" in capsys.readouterr().out
