"""Parts of Google News: the ids in its links, and the pages and the call that resolve them."""
