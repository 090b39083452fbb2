"""What watches a batch: feeds, failures, progress."""
