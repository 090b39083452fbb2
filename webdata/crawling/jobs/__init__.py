"""Batches, independent of Scrapy: queries from arguments or a file, failures, the journal of a job."""
