"""Commands of `scrapy` that webdata changes."""
