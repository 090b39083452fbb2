"""The pages of an account, for people in a browser."""
