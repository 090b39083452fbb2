"""What a batch is, without Scrapy: the queries it runs, the failures it tells of, the journal it resumes from."""
