"""Tables with a first column that stands still."""

import pytest

NAMES = "<table><thead><tr><th></th></thead><tbody><tr><td>Oslo<tr><td>Bergen</table>"
ROWS = "<table><thead><tr><th>Won<th>Lost</thead><tbody><tr><td>45<td>17<tr><td>42<td>21</table>"


@pytest.mark.parametrize("beside", ["{}", "<div><i></i><div class=scroller>{}</div><i></i></div>"])
def test_a_column_that_stands_still_is_the_first_of_the_table_beside_it(after, beside):
    """The names of rows that are a table of their own stand in the rows."""
    lines = after(f"<div class=flex>{NAMES}{beside.format(ROWS)}</div>").splitlines()
    assert lines == ["|  | Won | Lost |", "| --- | --- | --- |", "| Oslo | 45 | 17 |", "| Bergen | 42 | 21 |"]


@pytest.mark.parametrize(
    "html",
    [
        f"{NAMES}In short: {ROWS}",
        f"{NAMES}<div>{ROWS}<p>Of last year.</p></div>",
        f"{NAMES}{ROWS.replace('<tr><td>42<td>21', '')}",
        f"{ROWS}{ROWS}",
    ],
)
def test_other_tables_stay_apart(after, html):
    """Tables with a text between them, with other numbers of rows, or with several columns are two."""
    assert "| 45 | 17 |" in [line for line in after(f"<div>{html}</div>").splitlines() if "45" in line]
