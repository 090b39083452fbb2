"""What an operator sets, by variables of the environment."""
