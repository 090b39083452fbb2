"""The commands over accounts, keys and credits."""
