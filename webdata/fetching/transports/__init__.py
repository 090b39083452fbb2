"""Transports: plain HTTP, HTTP with a browser's TLS, and a browser; directly or through a proxy."""
