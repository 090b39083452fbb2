"""The record of a search for jobs, from postings of an upstream API."""

from collections.abc import Sequence

from webdata.pages._linkedin.workplace import is_hybrid, is_remote
from webdata.pages.odd_items import OddItemError
from webdata.resources.job_search import Job, JobPage, JobQuery
from webdata.resources.terms.job_terms import ANYWHERE

NONE_FOUND = "No jobs were found for this search."
MISSING = ("employer_link", "posted_at")
"""The parts of a posting that no API has; the age of a posting is among its highlights."""


def posting(
    position: str, employer: str, location: str, link: str | None, highlights: Sequence[str], logo: str | None
) -> Job:
    """A posting; raises OddItemError for one without a title or an address."""
    if not position or not link:
        raise OddItemError("a posting with a title and an address")
    return {
        "position": position,
        "employer": employer or None,
        "employer_link": None,
        "location": location or None,
        "link": link,
        "posted_at": None,
        "is_remote": is_remote(position, location, *highlights),
        "is_hybrid": is_hybrid(position, location, *highlights),
        "highlights": list(highlights),
        "logo": logo,
    }


def job_page(jobs: Sequence[Job], query: JobQuery) -> JobPage:
    """The record of a page of postings."""
    page: JobPage = {
        "jobs": list(jobs),
        "metadata": {
            "data_query_location": query.wanted.place or ANYWHERE,
            "data_num_results_in_fetch": len(jobs),
            "data_is_nearby_query": query.wanted.nearby,
        },
    }
    return page if jobs else {**page, "error": NONE_FOUND}
