"""The settings of an operator, read from the environment."""
