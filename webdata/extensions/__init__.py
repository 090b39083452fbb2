"""Scrapy extensions and exporters of batches: feeds, failures, progress, log messages."""
