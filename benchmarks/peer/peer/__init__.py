"""An ordinary Scrapy project for ScrapyRT."""
