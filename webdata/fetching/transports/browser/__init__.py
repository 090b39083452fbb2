"""The browser transport: one browser a process, its contexts, and the visit of a page."""
