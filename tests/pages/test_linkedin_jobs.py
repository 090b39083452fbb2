import json
import random
import re
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.domain.errors import LayoutError
from webdata.pages import linkedin_jobs
from webdata.pages.blocked import block
from webdata.resources.job_search import JobQuery

ANY = JobQuery(q="nurse")
SEED = 4
CUTS = 40
TAG = re.compile(rb"<[^>]+>")
FIELDS = ("position", "employer", "employer_link", "location", "link", "posted_at")


def judged(body: bytes):
    """The record of a page, or None where its layout is refused."""
    try:
        return linkedin_jobs.record(body, ANY)
    except LayoutError:
        return None


def card(number: int = 1, position: str = "Nurse", inside: str = "", href: str | None = None) -> str:
    link = f'<a class="base-card__full-link" href="{href or f"https://www.linkedin.com/jobs/view/x-{number}?a=b"}"></a>'
    return (
        f'<li><div class="base-card" data-entity-urn="urn:li:jobPosting:{number}">{link}<h3>{position}</h3>'
        f"{inside}</div></li>"
    )


def jobs(*cards: str):
    return linkedin_jobs.record("".join(cards).encode(), ANY)["jobs"]


def job(**fields):
    (found,) = jobs(card(**fields))
    return found


@pytest.fixture(scope="module")
def truths(captures):
    """Each hand-checked answer beside the record of its page."""
    folder = captures / "jobs"
    answers = [json.loads(path.read_text()) for path in sorted((folder / "truth").glob("*.json"))]
    return [(truth, linkedin_jobs.record((folder / truth["file"]).read_bytes(), ANY)) for truth in answers]


@pytest.mark.captures
@pytest.mark.parametrize("field", FIELDS)
def test_real_pages_are_read_as_a_person_reads_them(truths, field):
    """Every field of every posting is that which a person wrote down."""
    expected = [[job[field] for job in truth["jobs"]] for truth, _ in truths]
    assert expected == [[job[field] for job in page["jobs"]] for _, page in truths]


@pytest.mark.captures
def test_a_real_page_without_postings_says_so(truths):
    """`error` is there exactly where nothing was found."""
    assert [truth["empty"] for truth, _ in truths] == ["error" in page for _, page in truths]


@pytest.mark.captures
def test_real_obstacles_are_told_from_pages_with_jobs(captures):
    """The wall is a block, and no page of jobs is, although all of them ask guests to join."""
    files = [json.loads(line) for line in (captures / "jobs" / "INDEX.jsonl").read_text().splitlines()]
    bodies = {one["file"]: (captures / "jobs" / one["file"]).read_bytes() for one in files}
    blocked = [name for name, body in bodies.items() if block(200, {}, body, "https://www.linkedin.com/jobs/search")]
    assert blocked == [one["file"] for one in files if one["expect"] == "blocked"]


@pytest.mark.captures
def test_real_pages_show_what_was_searched(captures):
    """The whole page tells position and place; the bare list tells neither."""
    shown = [linkedin_jobs.shown_search(path.read_bytes()) for path in sorted((captures / "jobs").glob("*.html"))]
    assert ("IT Support Intern", "Remote") in shown
    assert ("Data Internship", "Morocco") in shown
    assert ("", "") in shown


@pytest.mark.captures
def test_cut_off_and_torn_pages_are_read_or_refused(captures):
    """Whatever is missing from a page with jobs, it gives jobs or a LayoutError, never an empty record."""
    chance = random.Random(SEED)
    for path in sorted((captures / "jobs").glob("*.html")):
        body = path.read_bytes()
        cuts = (body[: len(body) * part // CUTS] for part in range(1, CUTS))
        torn = (TAG.sub(lambda tag: b"" if chance.random() < share else tag.group(), body) for share in (0.02, 0.3))  # noqa: B023  # used at once
        pages = [page for page in map(judged, chain(cuts, torn)) if page]
        assert "no-results" in path.name or all(page["jobs"] for page in pages)


@given(st.binary(max_size=2000))
def test_no_bytes_make_the_parser_stumble(body):
    """Any bytes give a LayoutError or a record."""
    judged(body)
    linkedin_jobs.shown_search(body)


FRAGMENTS = st.sampled_from([
    "<li>", "<ul>", "<div data-entity-urn='urn:li:jobPosting:1'>", "<div data-entity-urn>", "<a href='/jobs/view/1'>",
    "<a href='https://[/jobs/view/x'>", "<a href>", "<h3>t</h3>", "<h4><a href='/company/x'>e</a></h4>", "<time>",
    "<time datetime='2026-13-40'>", "<time datetime>", "<img src>", "<img data-delayed-url='https://a.example/'>",
    "<span class=job-search-card__location>", "<input name=keywords value>", "<input name=location value=x>", "</a>",
    "</div>", "</li>", "<section class=no-results>", "<div class=job-search-card>", "<title>0 x jobs</title>",
    "<div data-id=3>",
])  # fmt: skip


@given(st.lists(FRAGMENTS, max_size=40))
def test_no_arrangement_of_a_pages_parts_makes_the_parser_stumble(fragments):
    """The parts of a page in any order and nesting give a LayoutError or a record."""
    judged("".join(fragments).encode())


def test_deep_nesting_is_no_danger():
    """A page nested deeper than any real one is read or refused."""
    judged(b"<ul><li><a href='/jobs/view/1'><h3>x</h3>" + b"<div>" * 20_000)


def test_a_posting_that_comes_twice_counts_once():
    """Postings are told apart by their numbers, not by their titles."""
    assert [one["link"][-1] for one in jobs(card(1), card(2), card(1))] == ["1", "2"]


def test_a_card_without_a_link_has_its_number():
    """The address is made of the number that the card names."""
    assert job(number=7, href="#")["link"] == "https://www.linkedin.com/jobs/view/7"


def test_links_lose_what_follows_the_visitor():
    """Query and fragment of addresses are dropped; a relative one is completed."""
    found = job(
        href="/jobs/view/x-1?trk=a#b", inside='<h4><a href="https://ca.linkedin.com/school/x/?trk=a">X</a></h4>'
    )
    assert found["link"] == "https://www.linkedin.com/jobs/view/x-1"
    assert found["employer_link"] == "https://ca.linkedin.com/school/x/"


@pytest.mark.parametrize(
    ("shown", "day"),
    [
        ("2026-05-06", "2026-05-06"),
        ("2026-05-06T10:00:00.000Z", "2026-05-06"),
        ("yesterday", None),
        ("2026-13-01", None),
    ],
)
def test_the_day_of_a_posting(shown, day):
    """A day is given where the page names one."""
    assert job(inside=f'<time datetime="{shown}">x</time>')["posted_at"] == day


@pytest.mark.parametrize(
    ("position", "remote", "hybrid"),
    [
        ("Nurse (Remote)", True, False),
        ("Remote Nurse", True, False),
        ("Nurse - Work From Home", True, False),
        ("Enfermera, remoto", True, False),
        ("Infirmière en télétravail", True, False),
        ("Nurse (Hybrid)", False, True),
        ("Nurse - Remote or Hybrid", True, True),
        ("Remote Sensing Scientist", False, False),
        ("Remote Patient Monitoring Nurse (Remote)", True, False),
        ("Nurse (not remote)", False, False),
        ("Hybrid Cloud Engineer", False, False),
        ("Nurse, Remoteville", False, False),
    ],
)
def test_remote_and_hybrid_by_the_postings_own_words(position, remote, hybrid):
    """The words count where they say how to work, not where they name a trade."""
    found = job(position=position)
    assert (found["is_remote"], found["is_hybrid"]) == (remote, hybrid)


def test_a_place_may_say_that_work_is_remote():
    """The location and the highlights count like the title."""
    assert job(inside='<span class="job-search-card__location">United States (Remote)</span>')["is_remote"]
    assert job(inside='<span class="job-posting-benefits__text">Hybrid</span>')["is_hybrid"]


def test_what_is_for_members_only_is_unknown():
    """A masked text is null; a page of nothing else is no page of jobs."""
    assert [one["position"] for one in jobs(card(1), card(2, "***** ****"))] == ["Nurse", None]
    with pytest.raises(LayoutError, match="position"):
        jobs(card(2, "***** ****"))


def test_a_page_that_says_so_is_empty():
    """The site's own words make an empty record with an error, whatever it suggests besides."""
    body = f'<section class="no-results"><h1>x</h1></section><h2>You may like</h2>{card()}'.encode()
    found = linkedin_jobs.record(body, ANY)
    assert (found["jobs"], found["error"]) == ([], "No job listings found for this query.")


def test_a_bare_page_is_refused_and_not_taken_for_empty():
    """A list without cards proves nothing."""
    with pytest.raises(LayoutError, match="neither job postings nor a message"):
        linkedin_jobs.record(b"<!DOCTYPE html>\n", ANY)


def test_where_was_searched():
    """The page's own place stands before that of the terms; without either it is the whole continent."""
    shown = f'<input name="location" value="Boston">{card()}'.encode()
    nurse = JobQuery(q="nurse near Austin")
    assert linkedin_jobs.record(shown, nurse)["metadata"] == {
        "data_query_location": "Boston",
        "data_num_results_in_fetch": 1,
        "data_is_nearby_query": True,
    }
    places = [linkedin_jobs.record(card().encode(), query)["metadata"]["data_query_location"] for query in (nurse, ANY)]
    assert places == ["Austin, Texas, United States", "North America"]
