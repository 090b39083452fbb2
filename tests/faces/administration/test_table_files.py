"""Results as Parquet and XLSX."""

import zipfile

import orjson
import pytest
from lxml import etree
from pyarrow import parquet

from webdata.domain.errors import ConfigError
from webdata.faces.administration import table_files
from webdata.faces.administration.api_client import ApiError
from webdata.faces.administration.table_files import ParquetFile, form_of, table_file
from webdata.resources import all_resources
from webdata.resources.scholar_search import SCHOLAR_SEARCH
from webdata.resources.web_search import WEB_SEARCH

CELL = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}c"
FORMULA = '=HYPERLINK("https://evil.example/","click")'
FORMULAS = [FORMULA, "+1", "-1", "@SUM(1)", "{=1}", "https://a.example/", "007", "", "TRUE", "\t=1", "a\x00b\ud7ff"]


def row(number, **values):
    """A line of results in the format `rows`."""
    usual = {"title": "Tea", "link": "https://a.example/", "metadata": {"a": [1]}, "realPosition": 1}
    return {"row": number, "query": "tea", "position": 1, **usual, **values}


def written(path, form, rows, resource=WEB_SEARCH, piece=1 << 20):
    """Write rows as they come, in pieces of so many bytes; returns the path."""
    data = b"".join(orjson.dumps(one) + b"\n" for one in rows)
    with table_file(path, form, resource) as file:
        for first in range(0, len(data), piece):
            file.write(data[first : first + piece])
    return path


def sheet(path, number=1):
    """The cells of a sheet: of each its type and its text."""
    with zipfile.ZipFile(path) as book:
        root = etree.fromstring(book.read(f"xl/worksheets/sheet{number}.xml"))
    assert not [one for one in root.iter() if etree.QName(one).localname in ("f", "hyperlink")]
    return [[(cell.get("t"), "".join(cell.itertext())) for cell in line.iter(CELL)] for line in root.iter("{*}row")]


@pytest.mark.parametrize("piece", [7, 1 << 20])
def test_parquet_keeps_types(tmp_path, piece):
    """Numbers are numbers, what has parts is JSON, what is missing is null, however the bytes come."""
    rows = [row(1), row(2, realPosition=None, title=FORMULA)]
    found = parquet.read_table(written(tmp_path / "a.parquet", "parquet", rows, piece=piece))
    assert found.column_names == ["row", *WEB_SEARCH.columns]
    assert found.column("row").to_pylist() == [1, 2]
    assert found.column("realPosition").to_pylist() == [1, None]
    assert found.column("metadata").to_pylist() == ['{"a":[1]}'] * 2
    assert found.column("title").to_pylist() == ["Tea", FORMULA]
    types = {field.name: str(field.type) for field in found.schema}
    assert (types["row"], types["position"], types["title"]) == ("int64", "int64", "string")


def test_every_resource_is_a_table(tmp_path):
    """Its columns are those of CSV, and a table without rows has them."""
    for name, resource in all_resources().items():
        found = parquet.read_table(written(tmp_path / f"{name}.parquet", "parquet", [], resource))
        assert found.column_names == list(dict.fromkeys(("row", *resource.columns)))
        assert found.num_rows == 0


def test_few_rows_are_in_memory(tmp_path, monkeypatch):
    """A group of rows is written when it is full, by rows or by bytes."""
    monkeypatch.setattr(table_files, "GROUP_ROWS", 10)
    held = []
    add = ParquetFile.add

    def counted(self, values, size):
        add(self, values, size)
        held.append(len(self._rows))

    monkeypatch.setattr(ParquetFile, "add", counted)
    path = written(tmp_path / "a.parquet", "parquet", [row(number) for number in range(1, 96)])
    assert max(held) < 10
    assert parquet.ParquetFile(path).num_row_groups == 10
    monkeypatch.setattr(table_files, "GROUP_BYTES", 1000)
    held.clear()
    written(path, "parquet", [row(number, title="x" * 2000) for number in range(1, 6)])
    assert max(held) == 0


def test_xlsx_calculates_nothing(tmp_path):
    """A text is a text, however it begins: no formula, no link and no number is made of it."""
    path = written(
        tmp_path / "a.xlsx", "xlsx", [row(number, title=text) for number, text in enumerate(FORMULAS[:-1], 1)]
    )
    head, *lines = sheet(path)
    title = [text for _, text in head].index("title")
    assert [line[title] for line in lines if line[title][1]] == [("inlineStr", text) for text in FORMULAS[:-1] if text]


def test_xlsx_keeps_types(tmp_path):
    """Numbers are numbers, and a whole number of too many digits is a text that has them all."""
    path = written(tmp_path / "a.xlsx", "xlsx", [row(1, position=3), row(2, position=2**60)])
    _, first, second = sheet(path)
    assert (first[0], first[2]) == ((None, "1"), (None, "3"))
    assert second[2] == ("inlineStr", str(2**60))


def test_a_text_without_room_is_told(tmp_path, capsys):
    """A cell holds 32,767 characters: how many texts were cut is said."""
    written(tmp_path / "a.xlsx", "xlsx", [row(1, title="x" * 40_000), row(2)])
    assert "1 texts were cut to the 32,767 characters" in capsys.readouterr().err


def test_a_full_sheet_is_followed_by_another(tmp_path, monkeypatch):
    """Each has the names of the columns, and no row is lost."""
    monkeypatch.setattr(table_files, "SHEET_ROWS", 3)
    path = written(tmp_path / "a.xlsx", "xlsx", [row(number) for number in range(1, 6)])
    sheets = [sheet(path, number) for number in (1, 2, 3)]
    assert [len(one) - 1 for one in sheets] == [2, 2, 1]
    assert sheets[0][0] == sheets[1][0] == sheets[2][0]


@pytest.mark.parametrize("form", ["parquet", "xlsx"])
def test_a_file_is_whole_or_as_before(tmp_path, form):
    """Where the results break off, the file that was there stays, and nothing is left beside it."""
    path = tmp_path / f"a.{form}"
    path.write_text("before", encoding="utf-8")

    def lose():
        with table_file(path, form, WEB_SEARCH) as file:
            file.write(orjson.dumps(row(1)) + b"\n")
            raise ApiError("lost")

    with pytest.raises(ApiError, match="lost"):
        lose()
    assert (path.read_text(encoding="utf-8"), list(tmp_path.iterdir())) == ("before", [path])


@pytest.mark.parametrize("form", ["parquet", "xlsx"])
def test_a_value_of_another_type_is_named(tmp_path, form):
    """No column is filled with something else."""
    rows = [row(3, position="first")]
    with pytest.raises(ApiError, match="position of row 3 is no integer: fetch the results with --format records"):
        written(tmp_path / f"a.{form}", form, rows)


def test_a_format_is_that_of_the_file():
    """The name of the file says it, unless a format is named; both have to agree."""
    assert [
        form_of(name and table_files.Path(name), None) for name in ("a.parquet", "a.XLSX", "a.csv", "a.txt", None)
    ] == [
        "parquet",
        "xlsx",
        "csv",
        "records",
        "records",
    ]
    assert form_of(table_files.Path("a.csv"), "records") == "records"
    with pytest.raises(ConfigError, match="format parquet, and --format is rows"):
        form_of(table_files.Path("a.parquet"), "rows")
    with pytest.raises(ConfigError, match=r"name it by -o, such as -o results\.xlsx"):
        form_of(None, "xlsx")


@pytest.mark.parametrize("form", ["parquet", "xlsx"])
def test_a_missing_library_is_told_with_its_line(monkeypatch, form):
    """Before anything is fetched."""

    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(table_files, "import_module", missing)
    with pytest.raises(ConfigError, match=rf"needs the extra {form}: pip install 'webdata\[{form}\]'"):
        form_of(table_files.Path(f"a.{form}"), None)


def test_a_folder_that_is_not_there_is_told(tmp_path):
    """By its name, as bad usage."""
    with pytest.raises(ConfigError, match=r"there is no folder .*missing"):
        written(tmp_path / "missing" / "a.xlsx", "xlsx", [])


def test_papers_have_their_types():
    """Columns have the types of the schema, also through references and beside null."""
    kinds = SCHOLAR_SEARCH.cell_types
    assert (kinds["query"], kinds["year"], kinds["title"], kinds["author"]) == ("string", "integer", "string", "json")
