"""The gateway: `/ping` and requests that are passed on."""
