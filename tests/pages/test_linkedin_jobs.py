import json
import random
import re
from itertools import chain

import pytest

from webdata.domain.errors import LayoutError
from webdata.pages import linkedin_jobs
from webdata.pages.blocked import block_of
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
    """Each hand-checked record beside the parsed one."""
    folder = captures / "jobs"
    answers = [json.loads(path.read_text()) for path in sorted((folder / "truth").glob("*.json"))]
    return [(truth, linkedin_jobs.record((folder / truth["file"]).read_bytes(), ANY)) for truth in answers]


@pytest.mark.captures
@pytest.mark.parametrize("field", FIELDS)
def test_saved_pages_are_parsed_as_checked_by_hand(truths, field):
    """Every field of every posting is as checked by hand."""
    expected = [[job[field] for job in truth["jobs"]] for truth, _ in truths]
    assert expected == [[job[field] for job in page["jobs"]] for _, page in truths]


@pytest.mark.captures
def test_a_saved_page_without_postings_has_an_error(truths):
    """A record has `error` exactly where nothing was found."""
    assert [truth["empty"] for truth, _ in truths] == ["error" in page for _, page in truths]


@pytest.mark.captures
def test_the_saved_authwall_is_a_block_and_pages_with_jobs_are_none(captures):
    """No page of jobs is a block, although all of them ask guests to join."""
    files = [json.loads(line) for line in (captures / "jobs" / "INDEX.jsonl").read_text().splitlines()]
    bodies = {one["file"]: (captures / "jobs" / one["file"]).read_bytes() for one in files}
    blocked = [
        name
        for name, body in bodies.items()
        if block_of(200, {}, body, "https://www.linkedin.com/jobs/search", "linkedin_jobs")
    ]
    assert blocked == [one["file"] for one in files if one["expect"] == "blocked"]


@pytest.mark.captures
def test_the_search_terms_of_saved_pages_are_recognised(captures):
    """The whole page has keywords and location, the bare list neither."""
    searches = [linkedin_jobs.shown_search(path.read_bytes()) for path in sorted((captures / "jobs").glob("*.html"))]
    assert ("IT Support Intern", "Remote") in searches
    assert ("Data Internship", "Morocco") in searches
    assert ("", "") in searches


@pytest.mark.captures
def test_truncated_and_damaged_pages_give_a_record_or_an_error(captures):
    """A page of jobs with missing parts gives jobs or a LayoutError, never an empty record."""
    chance = random.Random(SEED)
    for path in sorted((captures / "jobs").glob("*.html")):
        body = path.read_bytes()
        cuts = (body[: len(body) * part // CUTS] for part in range(1, CUTS))
        damaged = (TAG.sub(lambda tag: b"" if chance.random() < share else tag.group(), body) for share in (0.02, 0.3))  # noqa: B023  # used at once
        pages = [page for page in map(judged, chain(cuts, damaged)) if page]
        assert "no-results" in path.name or all(page["jobs"] for page in pages)


def test_a_repeated_posting_counts_once():
    """Postings differ by their numbers, not by their titles."""
    assert [one["link"][-1] for one in jobs(card(1), card(2), card(1))] == ["1", "2"]


def test_the_link_of_a_card_without_one_is_made_from_its_number():
    """The number is that of the card's own attribute."""
    assert job(number=7, href="#")["link"] == "https://www.linkedin.com/jobs/view/7"


def test_links_have_no_tracking():
    """Query and fragment of addresses are dropped; a relative one is completed."""
    found = job(
        href="/jobs/view/x-1?trk=a#b", inside='<h4><a href="https://ca.linkedin.com/school/x/?trk=a">X</a></h4>'
    )
    assert found["link"] == "https://www.linkedin.com/jobs/view/x-1"
    assert found["employer_link"] == "https://ca.linkedin.com/school/x/"


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-05-06", "2026-05-06"),
        ("2026-05-06T10:00:00.000Z", "2026-05-06"),
        ("yesterday", None),
        ("2026-13-01", None),
    ],
)
def test_a_posting_has_the_day_that_the_page_names(text, day):
    """A time that is no date gives no day."""
    assert job(inside=f'<time datetime="{text}">x</time>')["posted_at"] == day


def test_remote_and_hybrid_are_read_from_the_title_the_location_and_the_highlights():
    """All three are searched alike."""
    found = job(position="Nurse - Remote or Hybrid")
    assert (found["is_remote"], found["is_hybrid"]) == (True, True)
    assert job(inside='<span class="job-search-card__location">United States (Remote)</span>')["is_remote"]
    assert job(inside='<span class="job-posting-benefits__text">Hybrid</span>')["is_hybrid"]


def test_a_masked_text_is_null():
    """A page on which all positions are masked is refused."""
    assert [one["position"] for one in jobs(card(1), card(2, "***** ****"))] == ["Nurse", None]
    with pytest.raises(LayoutError, match="position"):
        jobs(card(2, "***** ****"))


def test_a_page_with_the_message_is_empty():
    """The site's message gives an empty record with an error, whatever the page suggests."""
    body = f'<section class="no-results"><h1>x</h1></section><h2>You may like</h2>{card()}'.encode()
    found = linkedin_jobs.record(body, ANY)
    assert (found["jobs"], found["error"]) == ([], "No job listings found for this query.")


def test_a_bare_page_is_refused_and_not_taken_for_empty():
    """A list without cards and without a message has an unknown layout."""
    with pytest.raises(LayoutError, match="neither job postings nor a message"):
        linkedin_jobs.record(b"<!DOCTYPE html>\n", ANY)


def test_the_location_of_a_record_is_that_of_the_page_else_of_the_query():
    """Without either it is the whole continent."""
    body = f'<input name="location" value="Boston">{card()}'.encode()
    nurse = JobQuery(q="nurse near Austin")
    assert linkedin_jobs.record(body, nurse)["metadata"] == {
        "data_query_location": "Boston",
        "data_num_results_in_fetch": 1,
        "data_is_nearby_query": True,
    }
    places = [linkedin_jobs.record(card().encode(), query)["metadata"]["data_query_location"] for query in (nurse, ANY)]
    assert places == ["Austin, Texas, United States", "North America"]
