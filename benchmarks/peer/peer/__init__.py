"""A Scrapy project as one would write it for ScrapyRT."""
