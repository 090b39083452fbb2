"""The `/v1` service."""
