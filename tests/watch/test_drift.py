"""Drift: what is noticed, what is not, and what is as before again."""

import random
from datetime import UTC, datetime, timedelta

from webdata.stores.watch.model import Drift, Loss, Measured, Round
from webdata.watch.drift import look

BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
CANARIES = ("a", "b", "c", "d")


def page(canary, outcome="ok", results=10, layout=(), **fields):
    named = {f"results[].{name}": (filled, 10) for name, filled in fields.items()}
    return Measured(canary, outcome, results, {"results": (1, 1), **named} if outcome == "ok" else {}, layout)


def rounds_of(number, first=0, good=True, **given):
    return [
        Round(BEGUN + timedelta(hours=first + hour), [page(canary, **given) for canary in CANARIES], good)
        for hour in range(number)
    ]


def lost(drift):
    return {loss.field for loss in drift.losses}


def test_a_field_that_is_empty_at_once_has_drifted():
    """A field that every page had and none of the last round has is a loss since that round, with its fill before."""
    drift = look([*rounds_of(12, text=10, title=10), *rounds_of(1, 12, text=0, title=10)], None)
    assert drift == Drift(BEGUN + timedelta(hours=12), (Loss("results[].text", 1.0, 0.0),))


def test_a_field_of_some_pages_has_drifted_once_chance_does_not_explain_it():
    """A field that half of the pages have is missed in a round by chance, and in three rounds not."""
    dice = random.Random(3)
    before = [
        Round(BEGUN + timedelta(hours=hour), [page(canary, text=dice.choice((0, 10))) for canary in "abcdef"])
        for hour in range(30)
    ]
    after = [
        Round(BEGUN + timedelta(hours=30 + hour), [page(canary, text=0) for canary in "abcdef"]) for hour in range(3)
    ]
    assert look([*before, *after[:1]], None) is None
    assert lost(look([*before, *after], None)) == {"results[].text"}


def test_pages_that_always_differ_have_not_drifted():
    """Fields, results and blocks that come and go by chance are taken for a drift in a few of many rounds at most."""
    dice, alarms, history = random.Random(1), 0, []
    for hour in range(200):
        pages = [
            page(canary, dice.choice(("ok",) * 9 + ("blocked",)), dice.randint(5, 12), a=dice.randint(0, 10), b=10)
            for canary in CANARIES
        ]
        history = [*history[-33:], Round(BEGUN + timedelta(hours=hour), pages)]
        alarms += look(history, None) is not None
    assert alarms <= 1


def test_results_that_halve_have_drifted():
    """Half as many results, or none of the pages fetched, is a drift."""
    before = rounds_of(12, text=10)
    assert lost(look([*before, *rounds_of(1, 12, results=5, text=10)], None)) == {"number of results"}
    assert lost(look([*before, *rounds_of(1, 12, outcome="upstream")], None)) == {"outcome"}


def test_a_fall_to_half_of_the_items_has_drifted():
    """A field that all items had and half of them have is a loss, though every page has some."""
    assert lost(look([*rounds_of(12, text=10), *rounds_of(1, 12, text=6)], None)) == {"results[].text"}


def test_a_field_that_few_items_have_is_missed_too():
    """A field that some pages have on all items and others on a few is missed where no page has it at all."""
    before = [
        Round(BEGUN + timedelta(hours=hour), [page(canary, text=(10, 2)[hour % 2]) for canary in CANARIES])
        for hour in range(12)
    ]
    assert lost(look([*before, *rounds_of(1, 12, text=0)], None)) == {"results[].text"}
    assert look([*before, *rounds_of(1, 12, text=2)], None) is None


def test_a_new_layout_needs_less_evidence():
    """What one round alone does not show beyond chance is a drift where the page has other names than ever."""
    before, now = rounds_of(3, text=10, layout=tuple(range(64))), BEGUN + timedelta(hours=3)
    usual = [page(canary, layout=tuple(range(64)), text=0) for canary in CANARIES[:3]]
    other = [page(canary, layout=tuple(range(100, 164)), text=0) for canary in CANARIES[:3]]
    assert look([*before, Round(now, usual)], None) is None
    drift = look([*before, Round(now, other)], None)
    assert drift
    assert drift.new_layout


def test_a_few_rounds_prove_nothing():
    """Without rounds before it nothing has drifted."""
    assert look(rounds_of(1, text=0), None) is None
    assert look(rounds_of(2, text=0), None) is None


def test_a_drift_stays_until_its_fields_are_there_again():
    """Rounds of a drift are in no baseline; the first one that is as before ends it."""
    before = [*rounds_of(12, text=10), *rounds_of(20, 12, good=False, text=0)]
    drift = Drift(BEGUN + timedelta(hours=12), (Loss("results[].text", 1.0, 0.0),), sample="google_web-1")
    assert look([*before, *rounds_of(1, 32, text=0)], drift) == drift
    assert look([*before, *rounds_of(1, 32, outcome="blocked")], drift).sample == "google_web-1"
    assert look([*before, *rounds_of(1, 32, text=10)], drift) is None


def test_what_is_lost_besides_is_told_too():
    """A further loss is added to a drift, whose beginning stays."""
    drift = Drift(BEGUN + timedelta(hours=12), (Loss("results[].text", 1.0, 0.0),))
    history = [*rounds_of(12, text=10, title=10), *rounds_of(2, 12, good=False, text=0, title=10)]
    further = look([*history, *rounds_of(1, 14, text=0, title=0)], drift)
    assert lost(further) == {"results[].text", "results[].title"}
    assert further.since == drift.since


def test_a_field_that_pages_name_only_where_they_have_it_is_missed():
    """A key that is nowhere any more counts as empty on each page that has its place."""
    before = rounds_of(12, text=10, kind=10)
    assert lost(look([*before, *rounds_of(1, 12, text=10)], None)) == {"results[].kind"}
