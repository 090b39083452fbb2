"""Parts of Google News: the ids in its links, the pages and the call that tell where they lead."""
