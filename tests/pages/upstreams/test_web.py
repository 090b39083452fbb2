"""Results of upstream APIs as records of the web search."""

import json

import pytest

from webdata.pages import brave, dataforseo, serpapi, serper
from webdata.pages.odd_items import counted
from webdata.resources.web_search import WebQuery

TITLED = {"title": "Tea", "link": "https://tea.example/", "url": "https://tea.example/"}


def dataforseo_answer(questions):
    items = [{"type": "organic", **TITLED}, {"type": "people_also_ask", "items": questions}]
    return {"status_code": 20_000, "tasks": [{"status_code": 20_000, "result": [{"items": items}]}]}


ANSWERS = {
    brave: lambda asked: {"type": "search", "web": {"results": [TITLED]}, "faq": {"results": asked}},
    serper: lambda asked: {"organic": [TITLED], "peopleAlsoAsk": asked},
    serpapi: lambda asked: {"organic_results": [TITLED], "related_questions": asked},
    dataforseo: dataforseo_answer,
}


@pytest.mark.parametrize("module", ANSWERS, ids=lambda module: module.__name__.rpartition(".")[2])
@pytest.mark.parametrize("texts", [["", "Why?"], [""]])
def test_a_question_without_a_text_is_left_out(module, texts):
    """It takes neither the results with it nor a position, and is counted."""
    asked = [{"question": text, "title": text} for text in texts]
    with counted() as odd:
        page = module.record(json.dumps(ANSWERS[module](asked)).encode(), WebQuery(q="tea"))
    assert [one["title"] for one in page["results"]] == ["Tea"]
    assert [(one["position"], one["question"]) for one in page["related_questions"]] == [
        (position, text) for position, text in enumerate(filter(None, texts), 1)
    ]
    assert odd.number == 1
