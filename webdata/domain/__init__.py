"""The words of the domain: errors, outcomes, queries, records. No input or output."""
