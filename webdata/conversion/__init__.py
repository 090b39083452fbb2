"""Pages to Markdown, in processes that can be killed."""
