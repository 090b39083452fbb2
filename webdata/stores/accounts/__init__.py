"""Accounts, their keys, members and sessions."""
