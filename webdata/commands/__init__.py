"""What is ours of the `scrapy` command."""
