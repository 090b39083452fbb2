"""One spider per engine."""
