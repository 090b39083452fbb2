"""The parts of Bing's results page, one module each."""
