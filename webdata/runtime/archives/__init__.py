"""Archives of exchanges in WARC, the format of web archives (ISO 28500): written, read, and looked up by address."""
