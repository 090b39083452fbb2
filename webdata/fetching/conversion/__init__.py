"""Conversion of pages to Markdown in processes that can be killed."""
