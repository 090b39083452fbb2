"""Whether results answer a query."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.domain.errors import FetchError
from webdata.pages import bing_web
from webdata.pages._relevance import ComparedResult, answers
from webdata.resources.bing_search import BingQuery


def answered(q: str, *texts: str, link: str = "https://a.example/") -> bool:
    """Whether results with these texts answer the query; each text is repeated, to have enough of them."""
    return answers(q, [ComparedResult(text, link) for text in texts * 3])


@pytest.mark.captures
def test_saved_pages_are_judged_as_their_index_says(captures):
    """No saved page of good results is judged degraded, in any language; the degraded page is."""
    rows = [json.loads(line) for line in (captures / "bing" / "INDEX.jsonl").read_text().splitlines()]
    judged = {}
    for row in rows:
        body = (captures / "bing" / row["file"]).read_bytes()
        q = bing_web.shown_query(body)
        try:
            page = bing_web.record(body, BingQuery(q=q))
        except FetchError:
            continue
        if page["results"]:
            judged[row["file"]] = bing_web.answers(page, q), row["expect"]
    good = [file for file, (_, expect) in judged.items() if expect == "ok"]
    assert len(good) > 20
    assert [file for file, (answers_it, expect) in judged.items() if answers_it is not (expect == "ok")] == []


@pytest.mark.parametrize(
    ("q", "text"),
    [
        ("copper kettle repair", "Copper kettles repaired while you wait"),
        ("CRÈME brûlée", "How to make creme brulee"),
        ("wifi login", "Wi-Fi: log in"),
        ("kettel repair", "Kettles repaired"),
        ("restaurants in Millbridge", "The best restaurant of Millbridge"),
        ("domino's opening hours", "Dominos: hours and opening times"),
        ("define judgement", "Judgment, a definition: the judgement of a court"),
        ("погода в Берлине", "Берлин: погода на неделю"),
        ("الطقس برلين", "طقس برلين اليوم"),
        ("मौसम दिल्ली", "दिल्ली का मौसम आज"),
        ("今天北京天气怎么样", "北京天气预报：今天多云"),
        ("東京 天気", "東京の天気予報"),
        ("서울 날씨", "오늘의 서울날씨"),
        ("อากาศเชียงใหม่วันนี้", "พยากรณ์อากาศ เชียงใหม่"),
        ("cats OR dogs", "All about dogs"),
        ("cats|dogs", "All about dogs"),
        ('-wikipedia "copper kettle"', "Copper kettle, polished"),
        ("copper kettle NOT electric", "Copper kettle"),
        ("copper kettle filetype:pdf language:en loc:US", "Copper kettle"),
        ("intitle:copper kettle", "Copper kettle"),
        ("error: no such file", "What to do on the error “no such file”"),
        (
            "how to get from the station to the castle by the river near the old mill",
            "The castle: from station to river",
        ),
    ],
)
def test_a_result_that_answers_the_query_is_recognised(q, text):
    """Accents, case, inflection, typing errors, spaces and operators make no difference, in any script."""
    assert answered(q, text)


@pytest.mark.parametrize(
    ("q", "text"),
    [
        ("copper kettle repair shop Millbridge", "“Copper” in a sentence"),
        ("GPS watch distributor", "GPS: the Global Positioning System"),
        ('"copper kettle" repair', "What does copper mean?"),
        ("popular times of the pizza kitchen at 2800 Mill Lane, Millbridge", "Popular at all times: a phrase"),
        ("-wikipedia copper kettle shop", "Copper - Wikipedia"),
        ("kettle", "A word list"),
        ("погода Берлин завтра", "Погода: значение слова"),
        ("今天北京天气", "今天是什么日子"),
        ("東京 天気 明日", "東京とは"),
        ("서울 날씨 내일", "서울 단어의 뜻"),
        ("الطقس في برلين غدا", "معنى كلمة الطقس"),
    ],
)
def test_results_about_one_word_or_none_do_not_answer_the_query(q, text):
    """Results with one word of many, or with none, do not answer a query, in any script."""
    assert not answered(q, text)


def test_one_result_that_answers_is_enough():
    """Results that do not answer beside one that does make no difference."""
    assert answered("copper kettle repair", "Copper, an element", "Copper in a sentence", "Copper kettle repairs")


def test_results_that_share_a_topic_answer_together():
    """A word beyond the first in most results is enough."""
    assert answered("define judgement", "Judgement: meaning and use", "What is a judgement?")
    assert not answered("define judgement", "How to define", "Define: meaning and use")


def test_words_in_the_address_count():
    """Words may be in the address only, percent-encoded too."""
    assert answered("copper kettle", "Home", link="https://www.copper-kettle.example/")
    assert answered("京都 観光", "ホーム", link="https://a.example/%E4%BA%AC%E9%83%BD/%E8%A6%B3%E5%85%89")


@pytest.mark.parametrize(
    ("q", "link", "expected"),
    [
        ("kettle site:shop.example", "https://www.shop.example/kettle", True),
        ("kettle site:shop.example/tea", "https://shop.example/tea/kettle", True),
        ("kettle site:shop.example/tea", "https://shop.example/news/kettle", False),
        ("kettle site:.edu", "https://www.college.edu/kettle", True),
        ("kettle site:shop.example", "https://notshop.example/kettle", False),
        ("site:shop.example", "https://elsewhere.example/", False),
        ("site:a.example OR site:b.example kettle", "https://b.example/kettle", True),
        ("kettle site:[", "https://elsewhere.example/kettle", True),
        ("kettle -site:shop.example", "https://elsewhere.example/kettle", True),
    ],
)
def test_results_of_other_sites_do_not_answer_a_query_for_a_site(q, link, expected):
    """Only results of a site that the query names answer it."""
    assert answered(q, "Kettle", link=link) is expected


@pytest.mark.parametrize("q", ["", "???", "the who", '""', "-kettle", "2 + 2", "https://www."])
def test_a_query_without_words_counts_as_answered(q):
    """A query without words to look for is answered by any results."""
    assert answered(q, "Anything at all")


def test_few_results_are_not_judged():
    """Two results are too few to be judged."""
    assert answers("copper kettle", [ComparedResult("A word list", "https://a.example/")] * 2)


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=5), st.text(max_size=30))
def test_no_query_and_no_result_makes_the_check_raise(q, texts, link):
    """Any query and any results give True or False."""
    assert answers(q, [ComparedResult(text, f"https://{link}") for text in texts]) in (True, False)


@pytest.mark.timed
def test_a_long_query_is_judged_quickly():
    """The longest query over a page of long texts takes no noticeable time."""
    q = " ".join(f"kettle{number}x" for number in range(200))
    results = [
        ComparedResult(" ".join(f"kettle{n}y{part}" for n in range(80)), "https://a.example/") for part in range(10)
    ]
    begun = time.perf_counter()
    answers(q, results)
    assert time.perf_counter() - begun < 2
