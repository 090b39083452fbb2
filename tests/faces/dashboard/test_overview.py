"""The first page: figures, charts, and what they are made from."""

from datetime import UTC, datetime, timedelta
from math import inf

import pytest
from lxml import html

from tests.faces.dashboard.test_batches import batch_of, end
from tests.logged_calls import logged_call
from webdata.faces.dashboard.overview import PERIODS, credits_end, figures_of, quantile, series_of, shown_values
from webdata.stores.accounts.model import DEFAULT_ACCOUNT
from webdata.stores.calls.model import CallSum, CallTotal

NOW = datetime(2026, 11, 22, 12, 30, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def figures(page):
    """The figures of a page, by their labels."""
    shown = html.fromstring(page.body).cssselect(".figure")
    return {one[0].text_content().strip(): " ".join(one[1].text_content().split()) for one in shown}


def notes(page):
    """The notes of the figures, by their labels."""
    shown = html.fromstring(page.body).cssselect(".figure")
    return {one[0].text_content().strip(): " ".join(one[2].text_content().split()) for one in shown}


def table(page, place=-1):
    """The rows of a table of a page, as texts."""
    rows = html.fromstring(page.body).cssselect("table")[place].cssselect("tbody tr")
    return [[" ".join(cell.text_content().split()) for cell in row] for row in rows]


@pytest.mark.task
async def test_an_account_without_calls_is_told_what_to_do(visitor):
    """Without calls the page says how to make one, and shows the credits all the same."""
    page = await (await visitor().sign_up()).get("")
    assert page.status == 200
    assert "Make a key" in page.body.decode()
    assert figures(page)["Credits left"] == "1,000"
    assert figures(page)["Answered"] == "–"


@pytest.mark.task
async def test_figures_are_those_of_the_accounts_calls(visitor, stores):
    """Calls, answers, cache share and times are those of the period and the account."""
    calls = [logged_call(seconds=0.3) for _ in range(6)]
    calls += [logged_call(cached=True, cost=0, seconds=0.004), logged_call(outcome="blocked", cost=0, seconds=7)]
    calls += [logged_call(outcome="refused", cost=0, engine=""), logged_call(account_id="acc_other")]
    calls += [logged_call(datetime.now(UTC) - 10 * DAY)]
    await stores.calls.add(calls)
    page = await (await visitor().sign_up()).get("")
    shown = figures(page)
    assert shown["Calls"] == "9"
    assert shown["Answered"] == "87.5 %"
    assert notes(page)["Answered"].endswith("6 fetched, 1 from the cache")
    assert shown["Time, median"] == "275 ms"


@pytest.mark.task
@pytest.mark.parametrize("days", PERIODS)
async def test_the_credits_spent_are_those_of_the_ledger(visitor, stores, keys, days):
    """Calls and batches are told apart, as are live and test; what a batch spent is among the credits."""
    from webdata.accounts.access.api_keys import new_key

    live, test = (new_key(name, test=name == "trial")[0] for name in ("shop", "trial"))
    await keys.add(live)
    await keys.add(test)
    paid = [logged_call(key_id=live.id), logged_call(key_id=live.id)]
    await stores.calls.add([*paid, logged_call(key_id=test.id, test=True, cost=0)])
    for call in paid:
        await stores.ledger.reserve(DEFAULT_ACCOUNT, call.id, "web_search", live.id)
        await stores.ledger.commit(call.id, "ok")
    batch = await batch_of(stores, test=False, key_id=live.id)
    await end(stores, batch, 1, 2, 3, cost=1)
    page = await (await visitor().sign_up()).get(f"?days={days}")
    label = "Credits spent today" if days == "1" else "Credits spent"
    assert (figures(page)["Credits left"], figures(page)[label]) == ("995", "5")
    assert notes(page)[label].startswith("2 on calls, 3 on batches")
    assert notes(page)["Calls"] == "2 live, 1 test"
    assert (figures(page)["Batch queries"], notes(page)["Batch queries"]) == (
        "3",
        "ended, of 1 batch; 0 test, 0 from the cache",
    )


@pytest.mark.task
async def test_first_steps_have_the_lines_to_copy(visitor):
    """Without calls there are three steps, with the variables, a call and a batch, and the lines of other programs."""
    page = html.fromstring((await (await visitor().sign_up()).get("")).body)
    assert [one.text_content() for one in page.cssselect(".steps h3")] == ["A key", "A call", "A batch"]
    lines = [one.text_content() for one in page.cssselect(".steps pre")]
    assert lines[0].startswith("export WEBDATA_KEY=YOUR_KEY")
    assert "/v1/search?q=" in lines[1]
    assert "/v1/batches" in lines[2]
    assert "Claude Code" in [one.text_content() for one in page.cssselect("summary")]


@pytest.mark.task
@pytest.mark.parametrize("days", PERIODS)
@pytest.mark.parametrize(
    ("by", "values"), [("outcome", ["ok"]), ("engine", ["google_web"]), ("key", ["mine", "key_2"])]
)
async def test_charts_have_their_numbers_as_a_table(visitor, stores, keys, days, by, values):
    """For each period and grouping there is a chart, a table of its numbers, and the totals."""
    from dataclasses import replace

    from webdata.accounts.access.api_keys import new_key

    await keys.add(replace(new_key("mine", test=False)[0], id="key_1"))
    await stores.calls.add([logged_call(), logged_call(), logged_call(key_id="key_2")])
    page = await (await visitor().sign_up()).get(f"?days={days}&by={by}")
    rows = table(page, 0)
    assert len(rows) == PERIODS[days].number
    assert [sum(int(row[place]) for row in rows) for place in range(1, len(rows[0]))] == (
        [2, 1] if by == "key" else [3]
    )
    assert [row[0] for row in table(page)] == values
    chart = html.fromstring(page.body).cssselect("svg.chart")[0]
    assert len(chart.cssselect("rect")) == len(values)


@pytest.mark.task
async def test_wrong_words_in_the_url_show_the_usual_page(visitor, stores):
    """A period or grouping that is none is the usual one."""
    await stores.calls.add([logged_call()])
    page = await (await visitor().sign_up()).get("?days=99999&by=<script>")
    assert page.status == 200
    assert len(table(page, 0)) == 7
    assert "<script>" not in page.body.decode().replace("<script src", "")


@pytest.mark.task
async def test_calls_of_other_accounts_are_not_counted(visitor, stores):
    """The figures are those of the account that is shown, for admins, too."""
    await stores.calls.add([logged_call(), logged_call(account_id="acc_other")])
    assert figures(await (await visitor().sign_up(role="admin")).get(""))["Calls"] == "1"


def test_the_end_of_the_credits_is_at_the_rate_of_the_week():
    """Credits end at the rate of the last week; of a younger account, at that of its time; else never."""
    old = NOW - 100 * DAY
    assert credits_end(700, 100, NOW, old) == NOW + 49 * DAY
    assert credits_end(100, 100, NOW, NOW - DAY) == NOW + DAY
    assert credits_end(100, 100, NOW, NOW) == NOW + DAY
    assert credits_end(0, 5, NOW, old) == NOW
    assert credits_end(10, 0, NOW, old) is None
    assert credits_end(10**15, 1, NOW, old) is None


@pytest.mark.parametrize(
    ("times", "share", "seconds"),
    [
        ({}, 0.5, None),
        ({0.2: 10}, 0.5, 0.15),
        ({0.2: 10, 1.0: 10}, 0.5, 0.2),
        ({0.001: 1, inf: 99}, 0.95, 25.0),
        ({0.5: 100}, 0.95, 0.4925),
    ],
)
def test_quantiles_are_within_their_bounds(times, share, seconds):
    """A quantile is interpolated within the bounds of its calls; beyond the last bound it is that."""
    assert quantile(times, share) == pytest.approx(seconds)


def test_refused_calls_are_no_failures():
    """The share of answers leaves out calls that were refused; what is not from the cache was fetched."""
    found = figures_of([CallTotal("ok", 3, 2, 1), CallTotal("refused", 6, 0, 0), CallTotal("blocked", 1, 0, 0)], [])
    assert (found.calls, found.credits, found.success, found.fetched) == (10, 2, 0.75, 2)
    assert figures_of([], []).success is None


def test_the_values_with_most_calls_have_colours():
    """The first values have a series each, the others one together; outcomes keep their own colours."""
    totals = [CallTotal(f"engine_{number}", 9 - number, 0, 0) for number in range(9)]
    shown = shown_values(totals, ())
    sums = [CallSum(NOW, "", 6), CallSum(NOW, "engine_0", 9)]
    series = series_of(sums, [NOW - DAY, NOW], shown, {"engine_0": "first"}, own_colours=False)
    assert [one.colour for one in series] == [*(f"series-{number}" for number in range(6)), "others"]
    assert (series[0].name, series[0].values, series[-1].values) == ("first", [0, 9], [0, 6])
    assert shown_values([CallTotal("blocked", 1, 0, 0)], ("ok", "blocked")) == ["blocked"]
    assert series_of([CallSum(NOW, "ok", 1)], [NOW], ["ok"], {}, own_colours=True)[0].colour == "ok"


@pytest.mark.parametrize(
    ("days", "first"), [("1", NOW.replace(minute=0) - 23 * HOUR), ("7", datetime(2026, 11, 16, tzinfo=UTC))]
)
def test_periods_end_now(days, first):
    """A period begins so many hours or days ago that the last one of them is running."""
    begins = PERIODS[days].begins(NOW)
    assert (begins[0], len(begins)) == (first, PERIODS[days].number)
    assert begins[-1] <= NOW
