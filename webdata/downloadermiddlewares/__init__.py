"""Scrapy's downloader middlewares, one class a file."""
