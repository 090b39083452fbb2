"""The code of the playground, run as it is shown against a service with the sandbox."""

import os
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import orjson
import pytest

from webdata.crawling.jobs.queries import RunQueries
from webdata.crawling.warm_crawlers import WarmCrawlers, known_spiders, load_spiders, scrapy_settings
from webdata.faces.dashboard.playground.http_call import read_query
from webdata.faces.dashboard.playground.samples import FURTHER_TRUST, KEY_VARIABLE, TRUST, samples
from webdata.resources import example
from webdata.resources.forum import FORUM_SUBFORUM
from webdata.resources.image_search import IMAGE_SEARCH
from webdata.resources.maps_search import MAPS_SEARCH
from webdata.resources.url_request import URL_REQUEST
from webdata.resources.web_search import WEB_SEARCH

LANGUAGES = ["curl", "Python requests", "Python httpx", "JavaScript fetch", "scrapy crawl"]
HOSTILE = 'it\'s "q" `id` $HOME $(id) \\n \\ %41 +&=#? </script> <b> {a} [b] !! 東京 \u202eabc\u2066 a\tb\nc \x7f é'
"""Everything that a language or a URL has a meaning for, and what a terminal does not show."""

PROGRAMS = Path(sys.executable).parent
COMMANDS = {
    "curl": ["bash", "-c"],
    "Python requests": [sys.executable, "-c"],
    "Python httpx": [sys.executable, "-c"],
    "JavaScript fetch": ["node", "--input-type=module", "-e"],
    "scrapy crawl": ["bash", "-c"],
}


@cache
def engines():
    return WarmCrawlers(load_spiders(), scrapy_settings(), max_calls=1)


def shown(language, resource, values, url="https://data.example"):
    """The sample of a call in one language."""
    found = samples(resource, values, url, engines().batch_arguments(resource))
    return next(one.text for one in found if one.name == language)


@pytest.fixture
def run(running, tmp_path):
    """Runs a sample against the service in an empty folder, as a person would paste it; returns what it prints."""

    def answer(language, resource, values):
        command, sample = COMMANDS[language], shown(language, resource, values, running.url)
        if not shutil.which(command[0]):
            pytest.skip(f"there is no {command[0]}")
        environ = {
            **os.environ,
            **dict.fromkeys((*TRUST, *FURTHER_TRUST), running.certificate),
            "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}",
            KEY_VARIABLE: running.test_key,
            "WEBDATA_SANDBOX": "always",
            "SCRAPY_SETTINGS_MODULE": "webdata.settings",
        }
        done = subprocess.run(
            [*command, sample], cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, f"{sample}\n{done.stderr[-2000:]}"
        return (tmp_path / "answer.jsonl").read_text() if language == "scrapy crawl" else done.stdout

    return answer


@pytest.mark.parametrize("language", LANGUAGES)
def test_hostile_values_arrive_as_they_are(run, language):
    """A sample in any language sends every character of a value, and has no part of it run."""
    record = orjson.loads(run(language, WEB_SEARCH, {"q": HOSTILE, "num": "3", "region": "DE", "device": "mobile"}))
    assert record["query"] == HOSTILE
    assert (record["device_region"], record["device_type"]) == ("DE", "mobile")


@pytest.mark.parametrize("language", LANGUAGES)
def test_values_in_the_path_arrive_as_they_are(run, language):
    """Nor is a value changed that is a segment of the path, where slashes, dots and `q=` have a meaning."""
    values = f"q=/../cafés & more/ {HOSTILE}"
    assert orjson.loads(run(language, MAPS_SEARCH, {"q": values, "num": "5"}))["query"] == values


@pytest.mark.parametrize("language", LANGUAGES)
def test_bodies_arrive_as_they_are(run, language):
    """Nor one in a JSON body; the answer that is text is printed as it is."""
    page = "https://example.com/a'b$(id)`id`?q=\"é&x=</script>"
    answer = run(language, URL_REQUEST, {"url": page, "response_type": "full"})
    assert orjson.loads(answer)["config"]["asked"] == "https://example.com/a'b$(id)%60id%60?q=%22%C3%A9&x=%3C/script%3E"


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_one_of_several_resources_of_an_engine(run, language):
    """The resource of an engine that has others is named where the command needs it."""
    answer = orjson.loads(run(language, FORUM_SUBFORUM, {"subforum": "python", "limit": "3"}))
    assert {post["data"]["subforum"] for post in answer["data"]["children"]} == {"python"}


def test_the_command_of_each_endpoint_asks_its_example():
    """The words of `scrapy crawl` name an engine, and arguments that make the query of the example."""
    for resource in engines().resources:
        values = {name: str(value) for name, value in example(resource).items()}
        words = shlex.split(shown("scrapy crawl", resource, values).replace("\\\n", ""))
        [engine] = [spider for spider in known_spiders() if words[:3] == ["scrapy", "crawl", spider.name]]
        assert (set(words[3:-2:2]), words[-2:]) == ({"-a"}, ["-O", "answer.jsonl"])
        batch = RunQueries(*engine.chosen(dict(word.split("=", 1) for word in words[4:-2:2])))
        assert [batch.query(row) for row in batch.rows()] == [resource.query.check(values)]


def test_the_query_of_a_form_is_that_of_its_code(running):
    """A form's parameters give the query that the service reads from the sample's URL, so that both share the cache."""
    query, _ = read_query(IMAGE_SEARCH, {"q": "coffee & tea"})
    status, _, record = running.get("/v1/image?q=coffee+%26+tea")
    assert (status, record["query"]) == (200, query.as_text)
