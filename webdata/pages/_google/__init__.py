"""The parts of a Google results page, one module each; `google_web` puts them together.

Each part is a function from a `Page` to its items, each with its order in the page.
"""
