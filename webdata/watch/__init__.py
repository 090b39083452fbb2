"""What keeps an eye on the engines: samples of pages of unknown layout."""
