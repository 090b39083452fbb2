"""What belongs to an account: access to the service, and webhooks."""
