"""Documents of invented texts in five languages, whose words are known, and the programs that print them as PDFs."""

import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import NamedTuple

SECONDS = 120
"""Within which a program prints a document."""


@dataclass(frozen=True)
class Language:
    """Words of a language and a font that has its letters."""

    code: str
    font: str
    vocabulary: str
    """Its words, between spaces."""
    space: str = " "
    end: str = ". "

    @property
    def words(self) -> list[str]:
        return self.vocabulary.split()

    @property
    def from_right(self) -> bool:
        return self.code in ("ar", "he")

    def sentence(self, dice: random.Random, least: int = 6, most: int = 18) -> str:
        """Some words with an end."""
        return self.space.join(dice.choices(self.words, k=dice.randint(least, most))).capitalize() + self.end

    def heading(self, dice: random.Random, number: int) -> str:
        """A few words, with a number that no other heading has."""
        return self.space.join(dice.choices(self.words, k=dice.randint(2, 5))).capitalize() + f" {number}"


LANGUAGES = (
    Language(
        "en",
        "Noto Serif",
        "water river people often small figure lamp affluent morning between market letter winter house office "
        "traffic measure the of and in to for with under village bridge paper sailing field reading light",
    ),
    Language(
        "de",
        "Noto Serif",
        "Wasser Straße möglich der die das und mit für Gemeinde Brücke lesen größer Verwaltung Entwicklung heute "
        "Auflage zwischen Überblick Jahreszeit häufig Markt Schiff Ergebnis wissenschaftlich schließlich",
    ),
    Language(
        "ru",
        "Noto Serif",
        "вода река город люди часто между утро письмо зима дом рынок мост бумага поле чтение известно свет и в на с "
        "для под деревня мера значение работа большой история",
    ),
    Language(
        "zh",
        "Noto Serif CJK SC",
        "水 河流 城市 人们 经常 之间 早晨 信件 冬天 房子 市场 桥 纸 田野 阅读 知道 光 和 在 的 为 下 村庄 措施 意义 "
        "工作 大 历史 研究 发展 技术 问题",
        "",
        "。",
    ),
    Language(
        "ar",
        "Noto Naskh Arabic",
        "ماء نهر مدينة ناس كثيرا بين صباح رسالة شتاء بيت سوق جسر ورق حقل قراءة معروف ضوء في من على مع تحت قرية قياس "
        "معنى عمل كبير تاريخ دراسة تطوير",
    ),
)
LAYOUTS = ("article", "journal", "ruled", "aligned")
"""One column with lists; two columns; tables with lines; tables without."""

STYLE = """
<style:style style:name="{name}" style:family="paragraph">
<style:paragraph-properties style:writing-mode="{{mode}}" fo:margin-bottom="2mm" fo:text-align="{align}"/>
<style:text-properties fo:font-size="{size}pt" style:font-size-asian="{size}pt" style:font-size-complex="{size}pt"
 fo:font-weight="{weight}" style:font-weight-asian="{weight}" style:font-weight-complex="{weight}"
 style:font-name="{{font}}" style:font-name-asian="{{font}}" style:font-name-complex="{{font}}"/></style:style>"""
STYLES = "".join(
    STYLE.format(name=name, size=size, weight=weight, align=align)
    for name, size, weight, align in (
        ("P", 11, "normal", "justify"),
        ("C", 10, "normal", "start"),
        ("H1", 20, "bold", "start"),
        ("H2", 14, "bold", "start"),
    )
)
FLAT_TEXT = f"""<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" office:version="1.3"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"
 xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"
 office:mimetype="application/vnd.oasis.opendocument.text">
<office:font-face-decls><style:font-face style:name="{{font}}" svg:font-family="&apos;{{font}}&apos;"/>
</office:font-face-decls><office:automatic-styles>{STYLES}
<style:style style:name="S" style:family="section"><style:section-properties>
<style:columns fo:column-count="{{columns}}" fo:column-gap="8mm"/></style:section-properties></style:style>
<style:style style:name="T" style:family="table-cell">
<style:table-cell-properties fo:border="{{border}}" fo:padding="1mm"/></style:style>
<style:style style:name="G" style:family="table">
<style:table-properties style:writing-mode="{{mode}}" table:align="margins"/></style:style></office:automatic-styles>
<office:body><office:text><text:section text:name="all" text:style-name="S">{{parts}}</text:section></office:text>
</office:body></office:document>"""


class Part(NamedTuple):
    """A heading of a level, a paragraph, the items of a list, or the rows of a table."""

    kind: str
    texts: list[list[str]]
    level: int = 0

    @property
    def text(self) -> str:
        return self.texts[0][0]


@dataclass(frozen=True)
class Document:
    """A document to print, and what is to be found in it."""

    language: Language
    layout: str
    parts: list[Part]

    @property
    def name(self) -> str:
        return f"{self.layout}-{self.language.code}"

    @property
    def text(self) -> str:
        """Its words in reading order."""
        return "\n".join(text for part in self.parts for row in part.texts for text in row)

    @property
    def headings(self) -> list[str]:
        return [part.text for part in self.parts if part.kind == "heading"]


def documents(seed: int = 1) -> Iterator[Document]:
    """A document of each layout in each language."""
    for layout in LAYOUTS:
        for language in LANGUAGES:
            dice = random.Random(f"{seed} {layout} {language.code}")
            yield Document(language, layout, [*_parts(language, layout, dice)])


def _parts(language: Language, layout: str, dice: random.Random) -> Iterator[Part]:
    yield Part("heading", [[language.heading(dice, 0)]], 1)
    for number in range(1, 9):
        yield Part("heading", [[language.heading(dice, number)]], 2)
        for _ in range(dice.randint(1, 3)):
            yield Part("paragraph", [["".join(language.sentence(dice) for _ in range(dice.randint(3, 9))).strip()]])
        if layout in ("article", "journal") and number % 2:
            yield Part("list", [[language.sentence(dice, 3, 20).strip()] for _ in range(dice.randint(3, 6))])
        if layout in ("ruled", "aligned"):
            rows = [
                [language.heading(dice, dice.randint(10, 999)) for _ in range(3)] for _ in range(dice.randint(4, 9))
            ]
            yield Part("table", rows)
            yield Part("paragraph", [[language.sentence(dice).strip()]])


def printers() -> tuple[dict[str, Callable[[Document, Path], Path]], list[str]]:
    """The programs that are installed, by which documents are printed into a folder, and the names of the others."""
    known = {"chromium": _by_chromium, "soffice": _by_libreoffice, "xelatex": _by_latex}
    return {name: by for name, by in known.items() if shutil.which(name)}, [n for n in known if not shutil.which(n)]


def _by_chromium(document: Document, folder: Path) -> Path:
    language, path = document.language, folder / f"{document.name}.html"
    side = "rtl" if language.from_right else "ltr"
    line = "1px solid" if document.layout == "ruled" else "0"
    rules = (
        f"@page {{ size: A4; margin: 20mm }} body {{ font: 11px/1.4 '{language.font}'; hyphens: auto }} "
        f"p {{ text-align: justify }} td {{ border: {line}; padding: 2px 9px }} table {{ border-collapse: collapse }} "
        f"main {{ columns: {2 if document.layout == 'journal' else 1}; column-gap: 8mm }}"
    )
    body = "".join(map(_html, document.parts))
    head = f"<!doctype html><html lang={language.code} dir={side}><meta charset=utf-8><style>{rules}</style>"
    path.write_text(f"{head}<main>{body}</main>", encoding="utf-8")
    printed = path.with_suffix(".pdf")
    _run("chromium", "--headless", "--no-sandbox", "--no-pdf-header-footer", f"--print-to-pdf={printed}", path.as_uri())
    return printed


def _html(part: Part) -> str:
    match part.kind:
        case "heading":
            return f"<h{part.level}>{escape(part.text)}</h{part.level}>"
        case "list":
            return f"<ul>{''.join(f'<li>{escape(row[0])}' for row in part.texts)}</ul>"
        case "table":
            rows = ("".join(f"<td>{escape(cell)}" for cell in row) for row in part.texts)
            return f"<table>{''.join(f'<tr>{row}' for row in rows)}</table>"
        case _:
            return f"<p>{escape(part.text)}</p>"


def _by_libreoffice(document: Document, folder: Path) -> Path:
    path = folder / f"{document.name}.fodt"
    path.write_text(_flat_text(document), encoding="utf-8")
    profile = (folder / "profile").as_uri()
    _run("soffice", f"-env:UserInstallation={profile}", "--convert-to", "pdf", "--outdir", str(folder), str(path))
    return path.with_suffix(".pdf")


def _flat_text(document: Document) -> str:
    """A document as one file: https://docs.oasis-open.org/office/OpenDocument/v1.3/os/part3-schema/ ."""
    return FLAT_TEXT.format(
        font=document.language.font,
        mode="rl-tb" if document.language.from_right else "lr-tb",
        columns=2 if document.layout == "journal" else 1,
        border="0.5pt solid #000000" if document.layout == "ruled" else "none",
        parts="".join(map(_flat_part, document.parts)),
    )


def _flat_part(part: Part) -> str:
    match part.kind:
        case "heading":
            name, level = f"H{part.level}", part.level
            return f'<text:h text:style-name="{name}" text:outline-level="{level}">{escape(part.text)}</text:h>'
        case "list":
            items = (f'<text:p text:style-name="P">• {escape(row[0])}</text:p>' for row in part.texts)
            return "".join(items)
        case "table":
            cells = (
                "".join(
                    f'<table:table-cell table:style-name="T"><text:p text:style-name="C">{escape(cell)}</text:p>'
                    "</table:table-cell>"
                    for cell in row
                )
                for row in part.texts
            )
            rows = "".join(f"<table:table-row>{row}</table:table-row>" for row in cells)
            columns = f'<table:table-column table:number-columns-repeated="{len(part.texts[0])}"/>'
            return f'<table:table table:style-name="G">{columns}{rows}</table:table>'
        case _:
            return f'<text:p text:style-name="P">{escape(part.text)}</text:p>'


def _by_latex(document: Document, folder: Path) -> Path:
    language, path = document.language, folder / f"{document.name}.tex"
    options = "twocolumn" if document.layout == "journal" else "onecolumn"
    locale = '\\XeTeXlinebreaklocale "zh"\\XeTeXlinebreakskip=0pt plus 1pt' if language.code == "zh" else ""
    from_right = "\\usepackage{bidi}\\setRTL" if language.from_right else ""
    script = "[Script=Arabic]" if language.from_right else ""
    ruled = document.layout == "ruled"
    path.write_text(
        f"\\documentclass[a4paper,{options}]{{article}}\\usepackage{{array,fontspec}}\\setmainfont{{{language.font}}}{script}"
        f"{from_right}{locale}\\sloppy\\begin{{document}}"
        + "\n\n".join(_latex(part, ruled) for part in document.parts)
        + "\\end{document}",
        encoding="utf-8",
    )
    _run("xelatex", "-interaction=batchmode", f"-output-directory={folder}", str(path))
    return path.with_suffix(".pdf")


def _latex(part: Part, ruled: bool) -> str:
    match part.kind:
        case "heading":
            return f"\\section*{{\\{'Huge' if part.level == 1 else 'Large'} {part.text}}}"
        case "list":
            return "\\begin{itemize}" + "".join(f"\\item {row[0]}" for row in part.texts) + "\\end{itemize}"
        case "table":
            line = "\\hline " if ruled else ""
            rows = "".join(" & ".join(row) + f"\\\\ {line}" for row in part.texts)
            edge, column = "|" if ruled else "", ">{\\raggedright\\arraybackslash}p{.27\\linewidth}"
            columns = edge.join(["", column, column, column, ""])
            return f"\\noindent\\begin{{tabular}}{{{columns}}}{line}{rows}\\end{{tabular}}"
        case _:
            return part.text


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)
