"""Webhooks: their URLs, signatures, notices and deliveries."""
