"""Shared parts of the page modules of scholarly works."""
