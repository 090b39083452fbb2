"""The types of the domain, without input or output: attempts, errors, outcomes, queries, records."""
