"""Pure functions from the bytes of one kind of page to a record."""
