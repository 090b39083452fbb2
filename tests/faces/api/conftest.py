"""What the endpoints of batches and webhooks are tried on."""

# ruff: noqa: F401  # fixtures of the rooms behind these endpoints
from tests.accounts.webhooks.conftest import make_urls
from tests.batches.conftest import ask, pages, resources, rows, stores, submissions
