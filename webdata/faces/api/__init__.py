"""The `/v1` service on Klein."""
