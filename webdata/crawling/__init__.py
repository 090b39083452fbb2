"""Where the service meets Scrapy: warm crawlers for calls, saved pages without a network."""
