"""Tools for language models (Model Context Protocol), over the calls that `/v1` answers."""
