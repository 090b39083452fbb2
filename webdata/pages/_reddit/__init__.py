"""Parts of the page module `reddit`."""
