"""The parts of a Google results page, one module each; `google_web` puts them together.

Every part is a function from a `Page` to what it found, each thing with its place in the page's order.
"""
