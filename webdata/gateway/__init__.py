"""The gateway: webhooks."""
