"""The browser transport: one browser a process, what its contexts keep apart, and how a page is won in it."""
