"""Converters of other projects, run with nothing but their own packages: `converters.py NAME PACKAGE < files`."""

import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from measured import answer

TAG = re.compile(r"<[^<>]*+>")
URL = "https://site.example/"


def trafilatura() -> Callable[[bytes], str]:
    from trafilatura import extract

    return lambda body: extract(body, output_format="markdown", include_links=True) or ""


def readability() -> Callable[[bytes], str]:
    from readability import Document

    return lambda body: TAG.sub(" ", Document(body.decode("utf-8", "replace")).summary())


def resiliparse() -> Callable[[bytes], str]:
    from resiliparse.extract.html2text import extract_plain_text

    return lambda body: extract_plain_text(body.decode("utf-8", "replace"), main_content=True)


def markitdown() -> Callable[[bytes], str]:
    from markitdown import MarkItDown

    converter = MarkItDown()
    return lambda body: converter.convert_stream(BytesIO(body), file_extension=".html").text_content


def markitdown_pdf() -> Callable[[bytes], str]:
    from markitdown import MarkItDown

    converter = MarkItDown()
    return lambda body: converter.convert_stream(BytesIO(body), file_extension=".pdf").text_content


def crawl4ai_raw() -> Callable[[bytes], str]:
    from crawl4ai.markdown_generation_strategy import DefaultMarkdownGenerator

    made = DefaultMarkdownGenerator().generate_markdown
    return lambda body: made(body.decode("utf-8", "replace"), base_url=URL).raw_markdown


def crawl4ai_fit() -> Callable[[bytes], str]:
    from crawl4ai.content_filter_strategy import PruningContentFilterLXML
    from crawl4ai.markdown_generation_strategy import DefaultMarkdownGenerator

    made = DefaultMarkdownGenerator(content_filter=PruningContentFilterLXML()).generate_markdown
    return lambda body: made(body.decode("utf-8", "replace"), base_url=URL).fit_markdown


answer(globals(), Path.read_bytes)
