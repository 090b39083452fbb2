"""Whether results answer a query."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.domain.errors import FetchError
from webdata.pages import bing_web
from webdata.pages._relevance import Shown, answers
from webdata.resources.bing_search import BingQuery


def answered(q: str, *texts: str, link: str = "https://a.example/") -> bool:
    """Whether so many results with these texts answer the query; there are enough of them to be judged."""
    return answers(q, [Shown(text, link) for text in texts * 3])


@pytest.mark.captures
def test_the_check_knows_good_pages_from_bad_ones(captures):
    """Of the real pages none with good results is taken for degraded, in any language, and the degraded one is."""
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
def test_what_answers_a_query_is_seen(q, text):
    """Accents, case, inflection, typing errors, spaces and operators don't hide an answer, in any script."""
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
def test_results_about_the_first_word_or_none_are_no_answer(q, text):
    """Results that hold one word of many, or nothing of the query, don't answer it, in any script."""
    assert not answered(q, text)


def test_one_result_that_answers_clears_the_others():
    """Doubt is not enough."""
    assert answered("copper kettle repair", "Copper, an element", "Copper in a sentence", "Copper kettle repairs")


def test_results_that_share_a_topic_clear_each_other():
    """A word beyond the first that most results hold tells that they write of it in other words."""
    assert answered("define judgement", "Judgement: meaning and use", "What is a judgement?")
    assert not answered("define judgement", "How to define", "Define: meaning and use")


def test_the_address_counts():
    """Words may stand in the link alone, percent-encoded too."""
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
def test_a_site_is_asked_for(q, link, expected):
    """Where a site is named, results of other sites are no answer."""
    assert answered(q, "Kettle", link=link) is expected


@pytest.mark.parametrize("q", ["", "???", "the who", '""', "-kettle", "2 + 2", "https://www."])
def test_what_cannot_be_judged_is_an_answer(q):
    """A query without words that could be looked for finds no fault with any result."""
    assert answered(q, "Anything at all")


def test_few_results_are_not_judged():
    """Two results are too few to tell."""
    assert answers("copper kettle", [Shown("A word list", "https://a.example/")] * 2)


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=5), st.text(max_size=30))
def test_nothing_makes_it_stumble(q, texts, link):
    """Any query and any results are judged."""
    assert answers(q, [Shown(text, f"https://{link}") for text in texts]) in (True, False)


def test_a_long_query_is_judged_quickly():
    """The longest query over a page of long texts takes no noticeable time."""
    q = " ".join(f"kettle{number}x" for number in range(200))
    results = [Shown(" ".join(f"kettle{n}y{part}" for n in range(80)), "https://a.example/") for part in range(10)]
    begun = time.perf_counter()
    answers(q, results)
    assert time.perf_counter() - begun < 2
