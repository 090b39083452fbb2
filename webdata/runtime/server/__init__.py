"""Sockets, TLS, certificates, HTTP connections, worker processes, the banner at the start."""
