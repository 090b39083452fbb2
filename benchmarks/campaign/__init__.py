"""A whole installation under a mixed load while everything around it fails, and an audit of what is left."""
