"""The journal of a job."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.crawling.jobs.journal import NAME, Journal, Lines
from webdata.domain.errors import ConfigError

JOB = {"spider": "google_web", "arguments": {"num": "5"}}


@pytest.fixture
def feed(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"x" * 100)
    return str(path)


@pytest.fixture
def folder(tmp_path, feed):
    """A folder with the journal of a job whose rows 3 and 1 have ended."""
    journal = Journal(tmp_path / "job", JOB)
    journal.begin([feed], [10])
    journal.commit(3, "ok", [20])
    journal.commit(1, "blocked", [20])
    journal.close()
    return tmp_path / "job"


def test_a_new_journal_has_not_begun(tmp_path):
    """A folder that does not exist yet has no job."""
    journal = Journal(tmp_path / "new" / "job", JOB)
    assert not journal.begun
    assert 1 not in journal.done
    journal.close()


def test_a_journal_is_read_again(folder, feed):
    """The next run reads the rows that are done, the outcomes and the lengths of the feeds."""
    journal = Journal(folder, JOB)
    assert journal.begun
    assert [line for line in range(5) if line in journal.done] == [1, 3]
    assert journal.ended == Counter(ok=1, blocked=1)
    assert (journal.paths, journal.lengths) == ([feed], [20])
    journal.close()


@pytest.mark.parametrize("torn", [1, 5, 15])
def test_a_torn_line_does_not_count(folder, torn):
    """The next run removes a partly written line and appends after the one before it."""
    path = folder / NAME
    path.write_bytes(path.read_bytes()[:-torn])
    journal = Journal(folder, JOB)
    assert [line for line in range(5) if line in journal.done] == [3]
    journal.commit(4, "ok", [30])
    journal.close()
    again = Journal(folder, JOB)
    assert [line for line in range(5) if line in again.done] == [3, 4]
    again.close()


def test_a_torn_first_line_is_no_journal(folder):
    """A run that was killed before its journal began has done nothing."""
    (folder / NAME).write_bytes(b'{"job": {')
    journal = Journal(folder, JOB)
    assert not journal.begun
    journal.close()
    assert (folder / NAME).read_bytes() == b""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"spider": "bing_web"}, "with other spider: 'google_web' then, 'bing_web' now"),
        ({"arguments": {}}, "with other arguments: "),
    ],
)
def test_another_job_is_refused(folder, change, message):
    """The message names the difference between the jobs."""
    with pytest.raises(ConfigError, match=message):
        Journal(folder, {**JOB, **change})


def test_a_job_runs_once_at_a_time(folder):
    """While a run has the journal open, another is refused."""
    first = Journal(folder, JOB)
    with pytest.raises(ConfigError, match="another run is at work"):
        Journal(folder, JOB)
    first.close()
    Journal(folder, JOB).close()


@pytest.mark.parametrize("line", [b"nonsense\n", b"[]\n", b"{}\n", b"3\n", b'["x", "ok"]\n'])
@pytest.mark.parametrize("keep", [0, 1])
def test_a_damaged_journal_is_refused(folder, line, keep):
    """Whole lines that are no entries are refused, the first as well as a later one."""
    path = folder / NAME
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:keep]) + line)
    with pytest.raises(ConfigError, match="damaged"):
        Journal(folder, JOB)


def test_a_feed_that_shrank_is_refused(folder, feed):
    """A feed that is shorter than what was written to it is not continued."""
    Path(feed).write_bytes(b"short")
    with pytest.raises(ConfigError, match=r"holds 5 bytes, but the job in .* has written 20"):
        Journal(folder, JOB)


@given(st.sets(st.integers(0, 20_000)))
def test_lines_are_a_set(numbers):
    """Lines contains the added numbers, and no others."""
    lines = Lines()
    for number in numbers:
        lines.add(number)
    assert {number for number in range(20_010) if number in lines} == numbers
