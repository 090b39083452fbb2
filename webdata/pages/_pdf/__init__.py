"""A PDF as Markdown: words and rules of its pages, their reading order, tables, blocks.

https://www.iso.org/standard/75839.html (ISO 32000-2); https://pdfium.googlesource.com/pdfium/+/refs/heads/main/public/
"""
