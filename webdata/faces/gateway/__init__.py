"""The gateway: `/ping`, requests that are passed on, webhooks."""
