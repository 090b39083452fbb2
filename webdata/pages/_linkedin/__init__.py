"""The parts of LinkedIn's postings."""
