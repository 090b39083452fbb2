"""How the last calls to each engine ended."""

import pytest

from webdata.crawling.warm_crawlers import Answer, Call, EngineBudget
from webdata.domain.errors import BlockedError, LayoutError, NotFoundError, RecordError, TargetError, UpstreamError
from webdata.domain.outcome import Outcome
from webdata.observability.recent_calls import LAST_CALLS, LEAST_LOST_CALLS, SECONDS, RecentCalls
from webdata.resources.web_search import WEB_SEARCH, WebQuery

WON = Answer({}, Outcome.EMPTY, "http", {})
DNS = UpstreamError("no such host", "dns")


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def recent(clock):
    return RecentCalls({"url"}, clock=clock)


def end(recent, *ends, engine="google_web", sandbox=False):
    """Have calls to an engine end like this."""
    for one in ends:
        recent.ended(engine, Call(WEB_SEARCH, WebQuery(q="coffee"), sandbox, 30), EngineBudget(engine, 0, 0, 30), one)


def test_an_engine_that_wins_nothing(recent):
    """From so many calls on that is a warning, with what they were lost to, most frequent first."""
    end(recent, *[DNS] * (LEAST_LOST_CALLS - 1))
    assert recent.warnings() == []
    end(recent, UpstreamError("late", "timeout"), LayoutError("no results"))
    assert recent.warnings() == ["google_web: none of the last 6 calls fetched a page (dns, timeout, layout)"]


def test_one_win_is_enough(recent):
    """A call that fetched a page, or heard from one that nothing is there, ends the warning."""
    for won in (WON, NotFoundError("no such user")):
        end(recent, *[DNS] * LAST_CALLS)
        assert recent.warnings()
        end(recent, won)
        assert recent.warnings() == []
    assert recent.snapshot() == [
        {"engine": "google_web", "calls": LAST_CALLS, "won": 1, "lost": {"dns": LAST_CALLS - 1}}
    ]


def test_what_says_nothing_of_an_engine(recent):
    """Calls that were refused, faults of ours, and those that went to the sandbox do not count."""
    end(recent, TargetError("not from here"), RecordError("no title"), engine="url")
    end(recent, *[BlockedError("403", "denied")] * LAST_CALLS, sandbox=True)
    assert (recent.snapshot(), recent.warnings()) == ([], [])


def test_the_sandbox_counts_where_live_keys_go_there():
    """With the sandbox for all, its calls are those of live keys."""
    recent = RecentCalls(sandbox_always=True)
    end(recent, *[BlockedError("403", "denied")] * LEAST_LOST_CALLS, sandbox=True)
    assert recent.warnings() == ["google_web: none of the last 5 calls fetched a page (denied)"]


def test_sites_that_callers_choose(recent):
    """What callers' own URLs are lost to is shown, and no warning."""
    end(recent, *[DNS] * LAST_CALLS, engine="url")
    assert (recent.snapshot()[0]["won"], recent.warnings()) == (0, [])


def test_what_is_long_ago_is_forgotten(recent, clock):
    """An engine that nobody calls any more is not warned of for ever."""
    end(recent, *[DNS] * LAST_CALLS)
    clock.now = SECONDS + 1
    assert (recent.snapshot(), recent.warnings()) == ([], [])


def test_each_engine_of_each_resource_has_a_rate_and_a_time(recent, clock):
    """The last calls, those that fetched a page, and the usual seconds; old calls are forgotten."""
    end(recent, WON, WON, DNS)
    end(recent, DNS, engine="bing_web")
    rows = recent.rates()
    assert [(row["resource"], row["engine"], row["calls"], row["won"]) for row in rows] == [
        ("web_search", "bing_web", 1, 0),
        ("web_search", "google_web", 3, 2),
    ]
    assert all(row["seconds"] > 0 for row in rows)
    clock.now = SECONDS
    assert recent.rates() == []
