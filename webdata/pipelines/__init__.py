"""The item pipelines, one verb a file."""
