"""The watch over the engines: canaries, what their pages hold, and drift."""
