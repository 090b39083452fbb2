"""Archived answers, in an SQL database."""
