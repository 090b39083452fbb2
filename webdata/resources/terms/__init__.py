"""What the words of a query mean: the domains and editions of a country, and the places of a search for jobs."""
