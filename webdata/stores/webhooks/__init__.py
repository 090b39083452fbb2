"""Webhooks, their events and their deliveries."""
